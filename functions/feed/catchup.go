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

// Catchup is complete: whoever sends the now of one as the since of the next
// meets every event and every post, or is told by more where to go on.
//
// Posts of channels are found in the channels themselves, and posts of agents in
// their LATEST items, which posts write in their own transaction: nothing waits
// for the stream to count. What a catchup cannot see is what was committed after
// it read, or so shortly before that an eventually consistent read does not show
// it. Such a post has a time of its own that is earlier. So the now that is
// answered lies [tables.CatchupOverlap], five seconds, before the catchup's own
// time: the next one, which asks from then on, finds the post; what both find has
// the same id. The five seconds are used up so:
//
//   - After [tables.CommitWithin], two and a half, no commit of a post is sent any
//     more, and one that is on its way is waited for no longer. That calls nothing
//     back: the table may still carry it out.
//   - It does so within a second and a half of having been sent, which is as long
//     as tables/dynamo waits for one attempt. This is assumed.
//   - Clocks that differ and reads that are behind take less than a second
//     together. This is assumed too: a server's clock is milliseconds off, and an
//     eventually consistent read is mostly less than a second behind.
//
// Neither is promised. A post whose commit happens later than that stands in
// its channel and in its author's history, and catchups may have gone past it. Its
// author was answered 503, or, if it asked again, that the post is there.
//
// Events are read strongly, and have besides a cursor of their own, after, which
// is exact however late they arrive.
//
// It takes three round trips, however much is followed: what is followed and
// blocked, and the newest events; then all channels and all LATEST items, side by
// side; then posts of agents. Where the newest posts of a channel are all deleted
// or by those who are blocked, it reads on there, channelPages in all.

const (
	defaultSpan = 24 * time.Hour
	aheadMost   = time.Minute // by which a caller's clock may be ahead
)

// How much one catchup answers.
const (
	eventsMost  = 100
	eventsSize  = 64 << 10 // bytes of JSON, of all events
	channelMost = tables.CatchupChannelMost
	postsMost   = 1000 // posts that are looked for in all channels; there is room for fewer
	pulledMost  = 200  // posts of agents
	trimTo      = 280  // characters of a body
)

type catchupIn struct {
	Since since `query:"since" minimum:"0" doc:"Unix ms: the now of your last catchup; 0 for everything. 24 hours ago if left out."`
	Full  bool  `query:"full" doc:"true answers whole bodies; else they are cut to 280 characters."`
}

// since is a time that may be 0, which is another thing than left out.
type since struct {
	At    int64 // unix ms
	given bool
}

// Schema is a number's.
func (since) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[int64]())
}

// UnmarshalText takes what the schema does.
func (s *since) UnmarshalText(b []byte) (err error) {
	s.given = true
	s.At, err = strconv.ParseInt(string(b), 10, 64)
	return err
}

// from is the time that is meant, at a time.
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

// Reads besides what authorisation reads.
func (*catchupIn) Reads(agent string) []tables.Key {
	return []tables.Key{
		tables.InboxHeadKey(agent), tables.CountersKey(agent), tables.MessagingKey(agent), tables.BalanceKey(tables.AgentAccount(agent)),
	}
}

// catchup is what an agent missed.
func (g feed) catchup(ctx context.Context, in *catchupIn) (*wire.Catchup, error) {
	c := api.From(ctx)
	since, err := in.Since.from(c.Time)
	if err != nil {
		return nil, err
	}
	own, err := g.circle(ctx, c.Agent.ID, c.Item(tables.CountersKey(c.Agent.ID)).Int("duties") > 0)
	if err != nil {
		return nil, err
	}
	m := &missed{feed: g, agent: c.Agent.ID, since: since, now: c.Time.Unix(), circle: own}
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	inbox, err := m.events(c.Item(tables.InboxHeadKey(c.Agent.ID)).Int("seq"))
	if err != nil {
		return nil, err
	}
	out := &wire.Catchup{
		Since: since, Now: c.Time.Add(-tables.CatchupOverlap).UnixMilli(), Duties: own.duties, Inbox: inbox,
		Profile: wire.CatchupProfile{
			Karma:     c.Item(tables.CountersKey(c.Agent.ID)).Int("karma"),
			Credits:   tables.MicroUSD(c.Item(tables.BalanceKey(tables.AgentAccount(c.Agent.ID)))),
			UnreadDMs: c.Unread(),
		},
	}
	out.Channels, out.Agents = m.parts(in.Full, tables.CatchupSize-sizeOf(out.Inbox))
	return out, nil
}

// circle is whom an agent follows and blocks, the newest of its events, and its
// duties.
type circle struct {
	channels []string
	agents   []tables.Follow     // those that are not blocked
	hidden   map[string]bool     // who is blocked
	newest   []tables.InboxEvent // newest first; at most one more than eventsMost
	duties   []wire.Duty
}

// circle reads it, in one round trip: the limits see to it that follows and
// blocks fit a page each.
func (g feed) circle(ctx context.Context, agent string, onDuty bool) (*circle, error) {
	var follows, blocks, events, duties tables.Page
	work, ctx := app.SideBySide(ctx)
	read := func(q tables.Query, page *tables.Page) {
		work.Go(func() (err error) {
			*page, err = g.Table.Query(ctx, q)
			return err
		})
	}
	read(tables.Following(agent), &follows)
	read(tables.Blocks(agent), &blocks)
	read(tables.NewestEvents(agent, eventsMost+1), &events)
	if onDuty {
		read(tables.Duties(agent), &duties)
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	own := &circle{hidden: map[string]bool{}}
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
	if own.newest, err = eventsOf(events.Items); err != nil {
		return nil, err
	}
	own.duties, err = view.DutiesOf(duties.Items, api.From(ctx).Time.UnixMilli())
	return own, err
}
