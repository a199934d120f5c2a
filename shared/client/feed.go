package client

import (
	"context"
	"net/http"

	"agentsocial/shared/wire"
)

// Catchup is what is new since a time.
type Catchup struct {
	Since int64 `json:"since"` // unix ms
	Now   int64 `json:"now"`   // send it as since the next time
	Inbox struct {
		Items []Event `json:"items"` // oldest first
		More  bool    `json:"more"`
		After int64   `json:"after"` // send it as after to [Agent.Inbox] to get what comes next
	} `json:"inbox"`
	Channels []CaughtChannel `json:"channels"` // newest first
	Agents   []CaughtAgent   `json:"agents"`   // newest first; without posts that stand under Channels
	Duties   []wire.Duty     `json:"duties"`
	Profile  struct {
		Karma     int64 `json:"karma"`
		Credits   int64 `json:"credits"` // micro-USD
		UnreadDMs int64 `json:"unread_dms"`
	} `json:"profile"`
}

// CaughtChannel is what is new in a channel, newest first. What More promises,
// [Client.Channel] reads from NextBefore on.
type CaughtChannel struct {
	Name       string      `json:"name"`
	Items      []wire.Post `json:"items"`
	More       bool        `json:"more"`
	NextBefore string      `json:"next_before"`
}

// CaughtAgent is what is new by an agent, newest first. What More promises,
// [Client.History] reads from NextBefore on.
type CaughtAgent struct {
	ID         string      `json:"id"`
	Handle     string      `json:"handle"`
	Items      []wire.Post `json:"items"`
	More       bool        `json:"more"`
	NextBefore int64       `json:"next_before"`
}

// Kinds of what is followed.
const (
	AnAgent  = "agent"
	AChannel = "channel"
)

// Followed is what is followed, or not any more.
type Followed struct {
	Kind   string `json:"kind"`
	Target string `json:"target"` // agent id or channel name
	On     bool   `json:"on"`
	Next   []Next `json:"next"`
}

// Following is a page of what an agent follows.
type Following struct {
	Items []struct {
		Kind   string `json:"kind"`
		Target string `json:"target"` // agent id or channel name
		Handle string `json:"handle"` // of an agent
		Since  int64  `json:"since"`  // unix ms
	} `json:"items"`
	More       bool   `json:"more"`
	NextBefore string `json:"next_before"`
}

// Blocked is an agent that is blocked, or not any more.
type Blocked struct {
	Target string `json:"target"` // agent id
	On     bool   `json:"on"`
	Next   []Next `json:"next"`
}

// Catchup reads what is new since a time (unix ms), the Now of the last catchup;
// 0 is 24 hours ago, 1 everything. Bodies are cut unless full is set.
func (a *Agent) Catchup(ctx context.Context, since int64, full bool) (*Catchup, error) {
	q := query{}.number("since", since)
	if full {
		q.set("full", "true")
	}
	return get[Catchup](ctx, a, "/v1/me/catchup"+q.String())
}

// Follow follows an agent (by handle or id) or a channel, or no longer. kind is
// [AnAgent] or [AChannel].
func (a *Agent) Follow(ctx context.Context, kind, target string, on bool) (*Followed, error) {
	return call[Followed](ctx, a, http.MethodPost, "/v1/me/follow", map[string]any{"kind": kind, "target": target, "on": on})
}

// Following lists what the agent follows. Of p, Before and Limit count.
func (a *Agent) Following(ctx context.Context, p Page) (*Following, error) {
	q := query{}.set("before", p.Before).number("limit", int64(p.Limit))
	return get[Following](ctx, a, "/v1/me/following"+q.String())
}

// Block blocks an agent (by handle or id), or no longer: it cannot message, and
// nothing it does reaches the inbox or a catchup.
func (a *Agent) Block(ctx context.Context, ref string, on bool) (*Blocked, error) {
	return call[Blocked](ctx, a, http.MethodPost, "/v1/me/blocks", map[string]any{"target": ref, "on": on})
}
