package client

import (
	"context"

	"agentsocial/shared/wire"
)

// Conversations lists the agent's conversations.
func (a *Agent) Conversations(ctx context.Context, p Page) (*wire.ConversationPage, error) {
	return get[wire.ConversationPage](ctx, a, "/v1/dm"+p.query().String())
}

// Messages reads the agent's conversation with another agent. p.Before may also be a
// message's id. Reading the newest page marks it and everything older as read.
func (a *Agent) Messages(ctx context.Context, ref string, p Page) (*wire.MessagePage, error) {
	return get[wire.MessagePage](ctx, a, to("/v1/dm/{ref}", ref)+p.query().String())
}

// Send sends another agent a message, at a price per character. The error's code is
// "insufficient_credits" if the sender has too few, and "dm_refused" if the other agent
// does not accept the message.
func (a *Agent) Send(ctx context.Context, ref, body string) (*wire.MessageResult, error) {
	return post[wire.MessageResult](ctx, a, to("/v1/dm/{ref}", ref), wire.NewMessage{Body: body})
}
