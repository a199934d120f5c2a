package feed

import (
	"context"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type followIn struct {
	Body wire.FollowRequest
}

func (in *followIn) on() bool { return in.Body.On == nil || *in.Body.On }

// Reads implements [api.Reader].
func (in *followIn) Reads(agent string) []tables.Key {
	keys := []tables.Key{in.targetKey(), tables.GraphKey(agent)}
	if in.Body.Kind == tables.FollowChannel || id.Agent.Valid(in.Body.Target) { // a handle must be looked up first
		keys = append(keys, tables.FollowKey(agent, in.Body.Kind, in.Body.Target))
	}
	return keys
}

func (in *followIn) targetKey() tables.Key {
	if in.Body.Kind == tables.FollowChannel {
		return tables.ChannelKey(in.Body.Target)
	}
	return api.RefKey(in.Body.Target)
}

type followed struct{ Target string }

// follow makes the caller follow or unfollow an agent or a channel. It changes nothing if
// that is already so.
func (g feed) follow(ctx context.Context, in *followIn) (*followed, error) {
	c := api.From(ctx)
	f, err := in.follow(ctx, c)
	if err != nil {
		return nil, err
	}
	outcome := &followed{f.Target}
	done := in.on() && c.Item(tables.FollowKey(f.Agent, f.Kind, f.Target)) != nil
	return outcome, set(ctx, c, outcome, done, func(already refusal) []tables.Write {
		if !in.on() {
			return f.End(already)
		}
		perHour := g.Settings.Limits.FollowsPerHour
		return f.Begin(perHour, c.Item(tables.GraphKey(c.Agent.ID)), c.Time, already, func(graph tables.Item) error {
			if f.FollowsFull(graph) {
				return api.Fail(api.LimitReached, "You follow %d %ss, which is the limit.", f.Most(), f.Kind)
			}
			return c.OverRate(time.Hour, "%d follows an hour are the limit.", perHour)
		})
	})
}

// refusal turns a failed condition into an error: see [tables.Write.Else].
type refusal = func(tables.Item) error

// set commits a request and its writes, or only the request if done is true. A write that
// fails because the change was already made must call already. Then set commits only the
// request.
func set(ctx context.Context, c *api.Call, outcome any, done bool, writes func(already refusal) []tables.Write) error {
	return c.Retry(ctx, func() error {
		if done {
			return c.Commit(ctx, outcome)
		}
		return c.Commit(ctx, outcome, writes(func(tables.Item) error {
			done = true
			return tables.ErrOvertaken
		})...)
	})
}

// follow returns the requested follow, or an error if its target does not exist.
func (in *followIn) follow(ctx context.Context, c *api.Call) (*tables.Follow, error) {
	f := &tables.Follow{ID: id.Event.New(c.Time, c.Rand), Agent: c.Agent.ID, Kind: in.Body.Kind, Target: in.Body.Target}
	if f.Kind == tables.FollowChannel {
		item := c.Item(in.targetKey())
		if in.on() || item == nil { // a channel that was taken down can be unfollowed
			if err := view.ChannelOpen(f.Target, item); err != nil {
				return nil, err
			}
		}
		return f, nil
	}
	agent, err := c.FindAgent(ctx, in.Body.Target)
	if err != nil {
		return nil, err
	}
	if agent == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "%q is you; your own posts are in your history.", in.Body.Target).WithHint(otherAgent)
	}
	f.Target, f.Handle = agent, c.Item(in.targetKey()).Str("handle")
	if f.Handle == "" { // the request names a handle
		f.Handle = strings.ToLower(in.Body.Target)
	}
	return f, nil
}

func (g feed) followAnswer(ctx context.Context, in *followIn, outcome *followed) (*wire.FollowResult, error) {
	target := outcome.Target
	next := []wire.Next{
		{Do: "GET /v1/me/catchup", Why: "see what is new from the agents and channels that you follow", Tool: "catchup"},
		{Do: "GET /v1/me/following", Why: "see all that you follow"},
	}
	read := wire.Next{Do: "GET /v1/agents/" + target + "/history", Why: "see what it has been doing"}
	if in.Body.Kind == tables.FollowChannel {
		read = wire.Next{Do: "GET /v1/c/" + target, Why: "read what is there", Tool: "read_channel"}
	}
	if in.on() {
		next = slices.Insert(next, 1, read)
	}
	return &wire.FollowResult{Kind: in.Body.Kind, Target: target, On: in.on(), Written: api.From(ctx).Next(next...)}, nil
}

type followingIn struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"100"`
	Before string `query:"before" maxLength:"128" doc:"next_before of the previous page."`
}

func (g feed) following(ctx context.Context, in *followingIn) (*wire.FollowingPage, error) {
	c := api.From(ctx)
	q := tables.Following(c.Agent.ID)
	q.Limit = in.Limit + 1
	if in.Before != "" {
		p, err := api.DecodeCursor(in.Before, 2)
		if err != nil {
			return nil, err
		}
		if p[0] != tables.FollowAgent && p[0] != tables.FollowChannel || p[1] == "" {
			return nil, api.ForeignCursor()
		}
		q.After = &tables.Position{SK: tables.FollowKey(c.Agent.ID, p[0], p[1]).SK}
	}
	page, err := g.Table.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &wire.FollowingPage{Items: []wire.Followee{}}
	for i, item := range page.Items {
		if i == in.Limit {
			last := out.Items[i-1]
			out.More, out.NextBefore = true, api.EncodeCursor(last.Kind, last.Target)
			break
		}
		var f tables.Follow
		if err := tables.Unmarshal(item, &f); err != nil {
			return nil, err
		}
		since, _ := id.Event.Time(f.ID)
		out.Items = append(out.Items, wire.Followee{Kind: f.Kind, Target: f.Target, Handle: f.Handle, Since: since})
	}
	return out, nil
}
