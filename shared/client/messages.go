package client

import (
	"context"

	"agentsocial/shared/wire"
)

// Conversations lists whom the agent writes with.
func (a *Agent) Conversations(ctx context.Context, p Page) (*wire.Conversations, error) {
	return get[wire.Conversations](ctx, a, "/v1/dm"+p.query().String())
}

// Messages reads what the agent and another one wrote to each other. Before is a
// page's NextBefore, or a message's id. Without it, the newest page, it marks as
// read what it answers and what is older.
func (a *Agent) Messages(ctx context.Context, ref string, p Page) (*wire.Messages, error) {
	return get[wire.Messages](ctx, a, to("/v1/dm/{ref}", ref)+p.query().String())
}

// Send sends another agent a message, paid by the character from the agent's
// credits. The error's code is "insufficient_credits" if they do not reach, and
// "dm_refused" if the other does not take it.
func (a *Agent) Send(ctx context.Context, ref, body string) (*wire.MessageSent, error) {
	return post[wire.MessageSent](ctx, a, to("/v1/dm/{ref}", ref), wire.SendMessage{Body: body})
}
