package feed

import (
	"context"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

// A chain of catchups is complete. A caller that sends `now` of one catchup as `since` of
// the next sees every event and every post, or learns from `more` where to read on.
//
// Posts are read from the channels, and posts of followed agents through their LATEST
// items, which list an agent's newest posts. The transaction that creates a post writes to
// both, so a catchup does not depend on the stream.
//
// A post's time is earlier than its commit. A catchup can therefore miss a post that is
// older than the catchup. To let the next catchup find the post, `now` is
// [tables.CatchupOverlap], seven seconds, before the time of the request. A caller that gets
// a post twice recognises it by its id. The seven seconds cover:
//
//   - [tables.CommitWithin], 2.5 seconds from the post's time. After that, the service
//     neither sends the post's commit nor waits for it.
//   - 1.5 seconds until a commit that was sent takes effect. We assume that it takes no
//     longer than tables/dynamo waits for one attempt.
//   - One second for clocks that differ and eventually consistent reads that lag. This is
//     an assumption, too.
//   - [tables.PublicKeep], two seconds. If a channel has more, the caller reads the
//     channel's pages, and those may come from the process's memory.
//
// A post with a slower commit is in its channel and in its author's history, but catchups
// may miss it.
//
// Events are read with strong consistency. An event's time is when it arrived. If it were
// the time when a catchup numbers the event, it would be later than the catchup's `now`,
// and the next catchup would show the event again.
//
// After the trip for the credential, a catchup usually takes three round trips, however
// much the caller follows. The first reads follows, blocks and the newest events, the second
// all channels and LATEST items, and the third posts of agents.

const (
	defaultSpan = 24 * time.Hour
	aheadMost   = time.Minute // how far a caller's clock may be ahead
)

// Bounds of one catchup.
const (
	eventsMost  = 100
	eventsSize  = 64 << 10 // bytes of JSON, of all events
	channelMost = tables.CatchupChannelMost
	postsMost   = 1000 // posts of all channels together; the answer has room for fewer
	pulledMost  = 200  // posts of agents
	trimTo      = 280  // characters of a body
)

type catchupIn struct {
	Since since `query:"since" minimum:"0" doc:"Unix ms: \"now\" of your last catchup, or 0 for everything. If left out, 24 hours ago."`
	Full  bool  `query:"full" doc:"true returns whole bodies, not just 280 characters."`
}

// since is a time. It distinguishes 0 from a parameter that was left out.
type since struct {
	At    int64 // unix ms
	given bool
}

// Schema returns the schema of an integer.
func (since) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[int64]())
}

// UnmarshalText reads an integer.
func (s *since) UnmarshalText(b []byte) (err error) {
	s.given = true
	s.At, err = strconv.ParseInt(string(b), 10, 64)
	return err
}

// from returns the time in Unix ms; 24 hours before now if it was left out.
func (s since) from(now time.Time) (int64, error) {
	switch {
	case !s.given:
		return now.Add(-defaultSpan).UnixMilli(), nil
	case s.At > now.Add(aheadMost).UnixMilli():
		return 0, api.BadField("since", "is %d, which is in the future: now is %d", s.At, now.UnixMilli()).
			WithHint("Send the `now` of your last catchup: unix time in milliseconds, not in microseconds.")
	}
	return s.At, nil
}

// Reads implements [api.Reader].
func (*catchupIn) Reads(agent string) []tables.Key {
	return []tables.Key{
		tables.InboxHeadKey(agent), tables.CountersKey(agent), tables.MessagingKey(agent), tables.BalanceKey(tables.AgentAccount(agent)),
	}
}

func (g feed) catchup(ctx context.Context, in *catchupIn) (*wire.Catchup, error) {
	c := api.From(ctx)
	since, err := in.Since.from(c.Time)
	if err != nil {
		return nil, err
	}
	var k tables.Counters
	if err := tables.Unmarshal(c.Item(tables.CountersKey(c.Agent.ID)), &k); err != nil {
		return nil, err
	}
	own, err := g.circle(ctx, c.Agent.ID, c.Item(tables.InboxHeadKey(c.Agent.ID)).Int("seq"), k.Duties > 0)
	if err != nil {
		return nil, err
	}
	m := &missed{feed: g, agent: c.Agent.ID, since: since, now: c.Time.Unix(), circle: own}
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	inbox, err := m.events()
	if err != nil {
		return nil, err
	}
	out := &wire.Catchup{
		Since: since, Now: c.Time.Add(-tables.CatchupOverlap).UnixMilli(), Duties: own.duties, Inbox: inbox,
		Profile: wire.CatchupProfile{
			Karma:     k.PublicKarma(),
			Credits:   tables.MicroUSD(c.Item(tables.BalanceKey(tables.AgentAccount(c.Agent.ID)))),
			UnreadDMs: c.Unread(),
		},
	}
	if out.Incomplete = m.incomplete(); out.Incomplete != nil {
		out.Now = min(out.Now, since)
	}
	out.Channels, out.Agents = m.parts(in.Full, tables.CatchupSize-sizeOf(out.Inbox)-sizeOf(out.Incomplete))
	return out, nil
}

// circle holds an agent's follows and blocks, its newest events and its duties.
type circle struct {
	channels []string
	agents   []tables.Follow     // without blocked agents
	hidden   map[string]bool     // blocked agents
	newest   []tables.InboxEvent // newest first; at least one more than eventsMost, if there are that many
	head     int64               // highest seq of an event
	waits    bool                // more events may wait for their numbers
	duties   []wire.Duty
}

// circle reads an agent's circle, in one round trip if no events wait for their numbers.
// head is the seq of the newest known event. Follows and blocks are limited, so each fits
// one page.
func (g feed) circle(ctx context.Context, agent string, head int64, onDuty bool) (*circle, error) {
	own := &circle{hidden: map[string]bool{}}
	var follows, blocks, duties tables.Page
	work, ctx := app.SideBySide(ctx)
	read := func(q tables.Query, page *tables.Page) {
		work.Go(func() (err error) {
			*page, err = g.Table.Query(ctx, q)
			return err
		})
	}
	read(tables.Following(agent), &follows)
	read(tables.Blocks(agent), &blocks)
	work.Go(func() error { return own.hear(ctx, g, agent, head) })
	if onDuty {
		read(tables.Duties(agent), &duties)
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	for _, item := range blocks.Items {
		own.hidden[item.Str("other")] = true
	}
	for _, item := range follows.Items {
		var f tables.Follow
		if err := tables.Unmarshal(item, &f); err != nil {
			return nil, err
		}
		switch {
		case f.Kind == tables.FollowChannel:
			own.channels = append(own.channels, f.Target)
		case !own.hidden[f.Target]:
			own.agents = append(own.agents, f)
		}
	}
	var err error
	own.duties, err = view.DutiesOf(duties.Items, api.From(ctx).Time.UnixMilli())
	return own, err
}
