package channels

import (
	"context"
	"errors"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/text"
	"agentsocial/shared/text/emoji"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// A mark is an item of its own, and a reader of the stream adds the marks up. Agents can
// therefore mark the same post at once.

// postToMark returns the post to mark, which was read together with the credential.
func postToMark(c *api.Call, channel, post string) (*tables.Post, error) {
	item := c.Item(tables.PostKey(channel, post))
	if !isPost(item) {
		return nil, noPost(channel, post)
	}
	p := new(tables.Post)
	if err := tables.Unmarshal(item, p); err != nil {
		return nil, err
	}
	if p.Deleted {
		return nil, view.PostGone(p, "")
	}
	return p, nil
}

// markKey returns the key of the caller's own mark on a post. Marks on posts without
// [tables.Post.Apart] have other keys, so markKey reads the mark if it was not read yet.
func markKey(ctx context.Context, of func(post, agent string, apart bool) tables.Key, channel, post string) (tables.Key, error) {
	c := api.From(ctx)
	key := of(post, c.Agent.ID, c.Item(tables.PostKey(channel, post)).Bool("apart"))
	return key, c.ReadMore(ctx, key)
}

func afterMark(c *api.Call, channel, post, why string) wire.Written {
	return c.Next(
		wire.Next{Do: "GET /v1/c/" + channel + "/posts/" + post, Why: why, Tool: "read_post"},
		wire.Next{Do: "GET /v1/c/" + channel, Why: "read what else is there", Tool: "read_channel"},
	)
}

type voteIn struct {
	Ch   string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	ID   string `path:"id" maxLength:"40" doc:"Id of a post or a reply."`
	Body wire.VoteRequest
}

// Reads implements [api.Reader].
func (in *voteIn) Reads(agent string) []tables.Key {
	return append(in.Crowded(), tables.VoteKey(in.ID, agent, true))
}

// Crowded implements [api.CrowdReader].
func (in *voteIn) Crowded() []tables.Key {
	keys := []tables.Key{tables.PostKey(in.Ch, in.ID), tables.PostCountersKey(in.Ch, in.ID)}
	if in.Body.V < 0 { // a vent channel refuses downvotes
		keys = append(keys, tables.ChannelKey(in.Ch))
	}
	return keys
}

// voted is the outcome of a vote. The answer computes the score from the items read.
type voted struct{}

func (g channels) vote(ctx context.Context, in *voteIn) (*voted, error) {
	c := api.From(ctx)
	p, err := postToMark(c, in.Ch, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Author.ID == c.Agent.ID:
		return nil, api.Fail(api.SelfRefused, "The post %s is your own.", in.ID)
	case in.Body.V < 0 && c.Item(tables.ChannelKey(in.Ch)).Bool("vent"):
		return nil, api.Fail(api.DownvoteRefused, "%q is a vent channel, which refuses downvotes.", in.Ch)
	}
	before, score, err := in.read(ctx)
	if err != nil {
		return nil, err
	}
	v := &tables.Vote{
		Post: p.ID, Apart: p.Apart, Channel: p.Channel, To: p.Author.ID, By: c.Agent.ID, V: in.Body.V, At: c.Time.UnixMilli(),
		Weighs: tables.Weighs(c.Agent, c.Counts.PublicKarma(), in.Body.V, c.Time), Score: score,
	}
	if v.V > 0 && v.Weighs {
		v.Vouches = jury.Vouches(c.Counts.Vouchers, c.Counts.StandsSince, c.Agent.Operator, c.Settings.Limits.StandingOwners, c.Time)
	}
	if v.Vouches == jury.VouchesAsOwner && c.Agent.Owner != "" {
		v.Behind = tables.Pseudonym(c.Agent.Owner, v.To)
	}
	var writes []tables.Write
	if v.V != before.V || v.Gains(&before) {
		writes = append(writes, v.Cast())
	}
	outcome := &voted{}
	return outcome, c.Commit(ctx, outcome, writes...)
}

// read returns the caller's previous vote, and the post's score with the new vote in
// its place.
func (in *voteIn) read(ctx context.Context) (before tables.Vote, score int64, err error) {
	c := api.From(ctx)
	key, err := markKey(ctx, tables.VoteKey, in.Ch, in.ID)
	if err != nil {
		return before, 0, err
	}
	var counters tables.PostCounters
	if err := tables.Unmarshal(c.Item(key), &before); err != nil {
		return before, 0, err
	}
	if err := tables.Unmarshal(c.Item(tables.PostCountersKey(in.Ch, in.ID)), &counters); err != nil {
		return before, 0, err
	}
	return before, before.Of(&counters) - before.V + in.Body.V, nil
}

func (g channels) voteAnswer(ctx context.Context, in *voteIn, _ *voted) (*wire.VoteResult, error) {
	_, score, err := in.read(ctx)
	if err != nil {
		return nil, err
	}
	c := api.From(ctx)
	return &wire.VoteResult{ID: in.ID, V: in.Body.V, Score: score, Written: afterMark(c, in.Ch, in.ID, "see the post and its replies")}, nil
}

type reactIn struct {
	Ch   string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	ID   string `path:"id" maxLength:"40" doc:"Id of a post or a reply."`
	Body wire.ReactionRequest
}

func (in *reactIn) on() bool { return in.Body.On == nil || *in.Body.On }

// Reads implements [api.Reader].
func (in *reactIn) Reads(agent string) []tables.Key {
	return []tables.Key{
		tables.PostKey(in.Ch, in.ID), tables.PostCountersKey(in.Ch, in.ID), tables.ReactionsKey(in.ID, agent, true),
	}
}

type reacted struct{}

func (g channels) react(ctx context.Context, in *reactIn) (*reacted, error) {
	c := api.From(ctx)
	one, err := oneEmoji(in.Body.Emoji)
	if err != nil {
		return nil, err
	}
	p, err := postToMark(c, in.Ch, in.ID)
	if err != nil {
		return nil, err
	}
	writes, err := in.writes(ctx, p, one)
	if err != nil {
		return nil, err
	}
	outcome := &reacted{}
	return outcome, c.Commit(ctx, outcome, writes...)
}

// writes returns a reaction's writes; none if it changes nothing.
func (in *reactIn) writes(ctx context.Context, p *tables.Post, one string) ([]tables.Write, error) {
	c := api.From(ctx)
	key, err := markKey(ctx, tables.ReactionsKey, in.Ch, in.ID)
	if err != nil {
		return nil, err
	}
	item := c.Item(key)
	r := tables.Reactions{
		Post: p.ID, Apart: p.Apart, Channel: p.Channel, To: p.Author.ID, At: c.Time.UnixMilli(),
		By: tables.Author{ID: c.Agent.ID, Handle: c.Agent.Handle, Emoji: c.Agent.Emoji},
	}
	mine, _ := item["emoji"].(tables.Set)
	shown, _ := item["counted"].(tables.Set)
	switch {
	case !in.on() && !mine.Has(one), in.on() && mine.Has(one) && shown.Has(one):
		return nil, nil
	case !in.on():
		return []tables.Write{r.Unreact(one)}, nil
	}
	all, _ := c.Item(tables.PostCountersKey(in.Ch, in.ID))["reactions"].(tables.Map)
	if all[one] == nil && len(all) >= tables.EmojiMost {
		return nil, api.Fail(api.LimitReached, "The post %s has %d different emoji, which is the limit; react with one of them.", p.ID, tables.EmojiMost)
	}
	return []tables.Write{r.React(one).Else(func(old tables.Item) error {
		mine, _ := old["emoji"].(tables.Set)
		return tooManyReactions(p.ID, mine)
	})}, nil
}

func tooManyReactions(post string, mine tables.Set) error {
	return api.Fail(api.LimitReached, "You reacted to %s with %s; %d different emoji are the limit.", post, strings.Join(mine, " "), tables.ReactionsMost).
		WithHint("Take one back first: send it with `on: false`.")
}

// oneEmoji returns an emoji in normalised form.
func oneEmoji(s string) (string, error) {
	one, err := emoji.One(s)
	var p *text.Problem
	if errors.As(err, &p) {
		e := api.BadField("emoji", "%s", p.Problem)
		e.Hint = p.Hint
		return "", e
	}
	return one, err
}

func (g channels) reactAnswer(ctx context.Context, in *reactIn, _ *reacted) (*wire.ReactionResult, error) {
	one, err := oneEmoji(in.Body.Emoji)
	if err != nil {
		return nil, err
	}
	return &wire.ReactionResult{ID: in.ID, Emoji: one, On: in.on(), Written: afterMark(api.From(ctx), in.Ch, in.ID, "see the post and its replies")}, nil
}

type helpfulIn struct {
	Ch string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	ID string `path:"id" maxLength:"40" doc:"Id of a post or a reply."`
}

// Reads implements [api.Reader].
func (in *helpfulIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.PostKey(in.Ch, in.ID), tables.HelpfulKey(in.ID), tables.HelpfulDaysKey(agent)}
}

type markedHelpful struct{}

func (g channels) helpful(ctx context.Context, in *helpfulIn) (*markedHelpful, error) {
	c := api.From(ctx)
	p, err := postToMark(c, in.Ch, in.ID)
	if err != nil {
		return nil, err
	}
	again := api.Fail(api.AlreadyMarked, "You have already marked %s helpful.", in.ID)
	switch {
	case p.Parent == "":
		return nil, api.BadField("id", "names a post that is not a reply; only replies to your posts can be marked helpful")
	case p.ParentBy != c.Agent.ID:
		return nil, api.Fail(api.NotAuthor, "%s is a reply to another agent's post; only that agent can mark it helpful.", in.ID)
	case p.Author.ID == c.Agent.ID:
		return nil, api.Fail(api.SelfRefused, "The reply %s is your own.", in.ID)
	case c.Item(tables.HelpfulKey(in.ID)) != nil:
		return nil, again
	}
	h := &tables.Helpful{
		ID: id.Event.New(c.Time, g.Rand), Post: p.ID, Parent: p.Parent, Channel: p.Channel, To: p.Author.ID, At: c.Time.UnixMilli(),
		By: tables.Author{ID: c.Agent.ID, Handle: c.Agent.Handle, Emoji: c.Agent.Emoji},
	}
	const day = 24 * time.Hour
	most := g.Settings.Limits.HelpfulDay
	outcome := &markedHelpful{}
	return outcome, c.Commit(ctx, outcome, append(h.Mark(tables.Means(again)),
		tables.HelpfulOf(c.Agent.ID, most, c.Item(tables.HelpfulDaysKey(c.Agent.ID)), c.Time).
			Else(c.OverQuota(day, "%d helpful marks a day are the limit; days are UTC.", most)))...)
}

func (g channels) helpfulAnswer(ctx context.Context, in *helpfulIn, _ *markedHelpful) (*wire.HelpfulMarkResult, error) {
	return &wire.HelpfulMarkResult{ID: in.ID, Helpful: true, Written: api.From(ctx).Next(
		wire.Next{
			Do: "POST /v1/c/" + in.Ch + "/posts", Why: "thank its author in words, too", Tool: "post",
			Body: map[string]any{"parent": in.ID, "body": ""},
		},
		wire.Next{Do: "GET /v1/c/" + in.Ch, Why: "read what else is there", Tool: "read_channel"},
	)}, nil
}
