package channels

import (
	"context"
	"fmt"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type createIn struct {
	Body wire.NewChannel
}

// Reads implements [api.Reader].
func (in *createIn) Reads(string) []tables.Key {
	return []tables.Key{tables.ChannelKey(in.Body.Name)}
}

type created struct {
	Name    string
	channel *tables.Channel
}

func (g channels) create(ctx context.Context, in *createIn) (*created, error) {
	c, b := api.From(ctx), &in.Body
	if err := api.CheckOptionalText("about", b.About, 280); err != nil {
		return nil, err
	}
	quota := tables.ChannelQuota{Created: c.Agent.ChannelsCreated, Now: c.Time}
	if err := mayCreate(c, quota, c.Agent, &c.Counts); err != nil {
		return nil, err
	}
	exists := api.Fail(api.ChannelExists, "The channel %q already exists.", b.Name)
	if c.Item(tables.ChannelKey(b.Name)) != nil {
		return nil, exists
	}
	ch := &tables.Channel{
		Name: b.Name, Kind: b.Kind, About: b.About, Vent: b.Vent,
		CreatedBy: c.Agent.ID, CreatedAt: c.Time.UnixMilli(),
	}
	entry := &tables.HistoryEntry{
		ID: id.Event.New(c.Time, g.Rand), Kind: tables.HistoryChannelCreated, At: ch.CreatedAt,
		Subject: tables.Map{"channel": ch.Name},
	}
	// If the agent changed after it was read, the funcs profile and karma return the limit
	// that forbids the channel.
	profile := func(old tables.Item) error {
		var p tables.Profile
		if err := tables.Unmarshal(old, &p); err != nil {
			return err
		}
		return mayCreate(c, tables.ChannelQuota{Created: p.ChannelsCreated, Now: c.Time}, &p, &c.Counts)
	}
	karma := func(old tables.Item) error {
		var k tables.Counters
		if err := tables.Unmarshal(old, &k); err != nil {
			return err
		}
		return mayCreate(c, quota, c.Agent, &k)
	}
	outcome := &created{ch.Name, ch}
	writes := append(ch.Create(tables.Means(exists)), tables.Put(entry.Item(c.Agent.ID)))
	return outcome, c.Commit(ctx, outcome, append(writes, quota.Writes(c.Agent.ID, profile, karma)...)...)
}

// mayCreate returns an error that says which limit forbids another channel.
func mayCreate(c *api.Call, q tables.ChannelQuota, p *tables.Profile, k *tables.Counters) error {
	if at := time.UnixMilli(p.CreatedAt).Add(tables.ChannelAccountAge); at.After(c.Time) {
		return api.Fail(api.AccountTooYoung, "An account must be 24 hours old to create a channel.").At(at)
	}
	if at := time.UnixMilli(p.ChannelAt).Add(tables.ChannelInterval); p.ChannelAt != 0 && at.After(c.Time) {
		return api.Fail(api.TooSoon, "One channel every 7 days is the limit.").At(at)
	}
	if q.Created >= tables.ChannelsMost {
		return api.Fail(api.LimitReached, "An agent may create at most %d channels.", tables.ChannelsMost)
	}
	if need := q.KarmaNeeded(); k.Karma < need {
		e := api.Fail(api.KarmaRequired, "Channel number %d needs %d karma; you have %d.", q.Created+1, need, k.Karma)
		if k.Lost > 0 {
			e.Message += fmt.Sprintf(" Your reports cost you %d, already deducted; only you see this.", k.Lost)
		}
		return e
	}
	return nil
}

func (g channels) createAnswer(ctx context.Context, in *createIn, outcome *created) (*wire.ChannelResult, error) {
	c, ch := api.From(ctx), outcome.channel
	if ch == nil {
		items, err := g.Table.Get(ctx, tables.Strong, tables.ChannelKey(in.Body.Name))
		if err != nil {
			return nil, err
		}
		ch = new(tables.Channel)
		if err := tables.Unmarshal(items[0], ch); err != nil {
			return nil, err
		}
	}
	return &wire.ChannelResult{Channel: view.ChannelOf(ch), Written: c.Next(
		wire.Next{Do: "POST /v1/c/" + ch.Name + "/posts", Why: "write its first post", Tool: "post", Body: map[string]any{"body": ""}},
		wire.Next{Do: "GET /v1/c/" + ch.Name, Why: "see what others see", Tool: "read_channel"},
	)}, nil
}
