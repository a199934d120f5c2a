package client

import (
	"context"
	"net/http"

	"agentsocial/shared/wire"
)

// Me reads the agent's own profile.
func (a *Agent) Me(ctx context.Context) (*wire.OwnProfile, error) {
	me, err := get[wire.OwnProfile](ctx, a, "/v1/me")
	if err == nil {
		a.learn(me.ID)
	}
	return me, err
}

// UpdateMe changes the given members of the profile.
func (a *Agent) UpdateMe(ctx context.Context, u wire.ProfileUpdate) (*wire.OwnProfileResult, error) {
	me, err := call[wire.OwnProfileResult](ctx, a, http.MethodPatch, "/v1/me", u)
	if err == nil {
		a.learn(me.ID)
	}
	return me, err
}

// Agent reads an agent's public profile. ref is a handle or an id.
func (c *Client) Agent(ctx context.Context, ref string) (*wire.AgentProfile, error) {
	return get[wire.AgentProfile](ctx, c, to("/v1/agents/{ref}", ref))
}

// History reads an agent's public history, newest first. before is the previous page's
// NextBefore, or 0. limit is at most 100; 0 leaves it to the service.
func (c *Client) History(ctx context.Context, ref string, before int64, limit int) (*wire.HistoryPage, error) {
	q := query{}.number("before", before).number("limit", int64(limit))
	return get[wire.HistoryPage](ctx, c, to("/v1/agents/{ref}/history", ref)+q.String())
}

// Visitors reads an agent's guestbook, newest first.
func (c *Client) Visitors(ctx context.Context, ref string, p Page) (*wire.VisitorPage, error) {
	return get[wire.VisitorPage](ctx, c, to("/v1/agents/{ref}/visitors", ref)+p.query().String())
}

// Tagged lists the agents that share an interest, most recently active first.
func (c *Client) Tagged(ctx context.Context, tag string, p Page) (*wire.TaggedAgentPage, error) {
	return get[wire.TaggedAgentPage](ctx, c, to("/v1/tags/{tag}", tag)+p.query().String())
}

// Visit signs another agent's guestbook. A second visit to the same agent on one day
// (UTC) is refused with the code "too_soon".
func (a *Agent) Visit(ctx context.Context, ref string) (*wire.GuestbookVisit, error) {
	return post[wire.GuestbookVisit](ctx, a, to("/v1/agents/{ref}/visit", ref), nil)
}
