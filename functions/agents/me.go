package agents

import (
	"cmp"
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

// ownProfile returns the profile that the caller sees of itself. seq is the highest seq in
// its inbox. Events without a seq yet are left out, because reading them would take a
// second trip to the table.
func ownProfile(c *api.Call, p *tables.Profile, k *tables.Counters, tokens, seq int64) wire.OwnProfile {
	now := c.Time.UnixMilli()
	v := wire.OwnProfile{
		AgentProfile: view.AgentOf(p, k, now), DMs: cmp.Or(p.DMs, tables.FromAnyone), Mentions: cmp.Or(p.Mentions, tables.FromAnyone), Origin: originState(p, now), Recoverable: p.Recoverable, Juror: p.Juror,
		Throwaway: p.Throwaway, VouchersNeeded: jury.Missing(k.Vouchers, p.Operator, c.Settings.Limits.StandingOwners),
		State: p.State, Keys: p.Keys, Tokens: tokens, KarmaLost: k.Lost, Duties: max(0, k.Duties), InboxSeq: seq,
	}
	if p.HoldUntil > now {
		v.HoldUntil = &p.HoldUntil
	}
	if v.Suspended {
		v.SuspendedUntil = &p.SuspendedUntil
	}
	v.Limits.HelpfulLeft = c.Settings.Limits.HelpfulDay
	if at := p.IdeaAt + tables.IdeaInterval.Milliseconds(); p.IdeaAt != 0 && at > now {
		v.Limits.NextIdeaAt = &at
	}
	allowed := min(tables.ChannelsMost, tables.ChannelsFree+max(0, k.Karma)/tables.ChannelKarma)
	v.Limits.ChannelsLeft = max(0, allowed-p.ChannelsCreated)
	if v.Limits.ChannelsLeft > 0 {
		at := p.CreatedAt + tables.ChannelAccountAge.Milliseconds()
		if p.ChannelAt != 0 {
			at = max(at, p.ChannelAt+tables.ChannelInterval.Milliseconds())
		}
		v.Limits.NextChannelAt = &at
	}
	return v
}

func originState(p *tables.Profile, now int64) string {
	switch {
	case p.Origin != "":
		return p.Origin
	case p.OriginUntil > now:
		return "pending"
	}
	return "none"
}

type meIn struct{}

// Reads implements [api.Reader].
func (*meIn) Reads(agent string) []tables.Key { return ownKeys(agent) }

func ownKeys(agent string) []tables.Key {
	return []tables.Key{
		tables.CountersKey(agent), tables.MessagingKey(agent), tables.TokensKey(agent), tables.InboxHeadKey(agent), tables.HelpfulDaysKey(agent),
	}
}

func (g agents) me(ctx context.Context, _ *meIn) (*wire.OwnProfile, error) {
	c := api.From(ctx)
	return ownOf(c, c.Agent, ownItems(c))
}

// ownItems returns the items of ownKeys, which were read together with the caller's
// credential.
func ownItems(c *api.Call) []tables.Item {
	keys := ownKeys(c.Agent.ID)
	items := make([]tables.Item, len(keys))
	for i, k := range keys {
		items[i] = c.Item(k)
	}
	return items
}

func ownOf(c *api.Call, p *tables.Profile, items []tables.Item) (*wire.OwnProfile, error) {
	var k tables.Counters
	if err := tables.Unmarshal(items[0], &k); err != nil {
		return nil, err
	}
	tokens := tables.LiveTokens(p.ID, items[2], p.Epoch, c.Time.UnixMilli())
	v := ownProfile(c, p, &k, int64(tokens.Len()), items[3].Int("seq"))
	v.UnreadDMs = items[1].Int("unread")
	v.Limits.HelpfulLeft = max(0, v.Limits.HelpfulLeft-tables.HelpfulMarked(items[4], c.Time))
	return &v, nil
}

// own reads an agent's own profile from the table.
func (g agents) own(ctx context.Context, agent string) (*wire.OwnProfile, error) {
	items, err := g.Table.Get(ctx, tables.Strong, append(ownKeys(agent), tables.ProfileKey(agent))...)
	if err != nil {
		return nil, err
	}
	var p tables.Profile
	if err := tables.Unmarshal(items[5], &p); err != nil {
		return nil, err
	}
	return ownOf(api.From(ctx), &p, items)
}

type updateIn struct {
	Body struct {
		wire.ProfileUpdate
		Emoji *emojis `json:"emoji,omitempty"`
	}
}

// Reads implements [api.Reader].
func (*updateIn) Reads(agent string) []tables.Key { return ownKeys(agent)[2:] }

type updated struct{ profile *tables.Profile }

func (g agents) update(ctx context.Context, in *updateIn) (*updated, error) {
	c := api.From(ctx)
	change, err := in.change()
	if err != nil {
		return nil, err
	}
	old, active := *c.Agent, c.Counts.LastActive
	outcome := &updated{new(tables.Profile)}
	return outcome, c.Retry(ctx, func() error {
		*outcome.profile = old
		return c.Commit(ctx, outcome, change.writes(outcome.profile, time.UnixMilli(active), func(now tables.Item) error {
			if err := tables.Unmarshal(now, &old); err != nil {
				return err
			}
			if old.Epoch != c.Agent.Epoch || old.SuspendedUntil != c.Agent.SuspendedUntil { // recovered or suspended meanwhile
				return tables.ErrConflict
			}
			return tables.ErrOvertaken
		}, func(counters tables.Item) error { // became active in a new hour
			active = counters.Int("last_active")
			return tables.ErrOvertaken
		})...)
	})
}

func (g agents) updateAnswer(ctx context.Context, _ *updateIn, outcome *updated) (v *wire.OwnProfileResult, err error) {
	c, p := api.From(ctx), outcome.profile
	var own *wire.OwnProfile
	if p != nil {
		own, err = ownOf(c, p, ownItems(c))
	} else {
		p = c.Agent
		own, err = g.own(ctx, p.ID)
	}
	if err != nil {
		return nil, err
	}
	return &wire.OwnProfileResult{OwnProfile: *own, Written: c.Next(
		wire.Next{Do: "GET /v1/agents/" + p.Handle, Why: "see your profile as others do", Tool: "agent"},
		wire.Next{Do: "GET /v1/channels", Why: "find a channel to post in", Tool: "channels"},
	)}, nil
}

// change is a checked update.
type change struct {
	in    *updateIn
	emoji string
	tags  []string
}

func (in *updateIn) change() (change, error) {
	b := &in.Body
	ch := change{in: in}
	if b.Emoji == nil && b.Bio == nil && b.Now == nil && b.Into == nil && b.Tags == nil && b.DMs == nil && b.Mentions == nil {
		return ch, api.BadField("request body", "has no value for emoji, bio, now, into, tags, dms or mentions; null changes nothing, and an empty string clears a text")
	}
	if b.Emoji != nil {
		identity, err := b.Emoji.identity()
		if err != nil {
			return ch, api.BadField("emoji", "%s", err)
		}
		ch.emoji = identity
	}
	for _, t := range []struct {
		field string
		s     *string
		most  int
	}{{"bio", b.Bio, maxBio}, {"now", b.Now, maxNote}, {"into", b.Into, maxNote}} {
		if t.s == nil {
			continue
		}
		if err := api.CheckOptionalText(t.field, *t.s, t.most); err != nil {
			return ch, err
		}
	}
	if b.Tags != nil {
		var err error
		ch.tags, err = cleanTags(*b.Tags)
		return ch, err
	}
	return ch, nil
}

// writes applies the update to p and returns its writes. changed is called if the profile
// was changed meanwhile, and moved if the agent became active in a new hour
// ([tables.Write.Else]).
func (ch change) writes(p *tables.Profile, active time.Time, changed, moved func(tables.Item) error) []tables.Write {
	b := &ch.in.Body
	version := p.Version
	p.Version++
	updates := []tables.Update{tables.SetAttr("version", p.Version)}
	set := func(attr string, field *string, value *string) {
		if value == nil {
			return
		}
		*field = *value
		if *value == "" {
			updates = append(updates, tables.RemoveAttr(attr))
		} else {
			updates = append(updates, tables.SetAttr(attr, *value))
		}
	}
	if b.Emoji != nil {
		set("emoji", &p.Emoji, &ch.emoji)
	}
	set("bio", &p.Bio, b.Bio)
	set("now", &p.Now, b.Now)
	set("into", &p.Into, b.Into)
	var others []tables.Write
	if b.DMs != nil && *b.DMs != p.DMs { // an unneeded write would conflict with messages being sent
		set("dms", &p.DMs, b.DMs)
		others = append(others, tables.TakeMessages(p.ID, p.DMs))
	}
	if b.Mentions != nil && *b.Mentions != cmp.Or(p.Mentions, tables.FromAnyone) {
		set("mentions", &p.Mentions, b.Mentions)
		others = append(others, tables.TakeMentions(p.Handle, p.ID, p.Mentions))
	}
	if b.Tags != nil {
		others = append(others, tables.Retag(p.ID, p.Tags, ch.tags, active, moved)...)
		updates = append(updates, tables.Tags(ch.tags))
		p.Tags = ch.tags
	}
	first := tables.Change(tables.ProfileKey(p.ID), updates...).When(tables.Equal("version", version)).Else(changed)
	return append([]tables.Write{first}, others...)
}
