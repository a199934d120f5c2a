package feed

import (
	"context"
	"slices"

	"agentsocial/shared/app/inboxes"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// Events are keyed by seq, not by time, so the first event since a time must be searched
// for. Usually the newest page has it. Otherwise one batched read gets single events,
// each a tenth further back. Events are then read from the newest of these that is older
// than the time.

// hear reads the newest events, and gives numbers to events that wait for them. Its first
// query returns the waiting and the newest events together, so hear takes one trip if no
// event waits.
func (own *circle) hear(ctx context.Context, g feed, agent string, head int64) error {
	const heads = 1 // the query also returns the inbox's head
	page, err := g.Table.Query(ctx, tables.NewestNews(agent, eventsMost+1+heads))
	if err != nil {
		return err
	}
	waits := slices.ContainsFunc(page.Items, func(item tables.Item) bool { return item.Str(tables.AttrType) == tables.TypeInboxWaiting })
	events := slices.DeleteFunc(page.Items, func(item tables.Item) bool { return item.Str(tables.AttrType) != tables.TypeInboxEvent })
	if own.newest, err = eventsOf(events); err != nil {
		return err
	}
	own.head = head
	if !waits {
		return nil
	}
	late, err := inboxes.Read(ctx, g.App, agent, head, head, eventsMost)
	if err != nil {
		return err
	}
	own.head, own.waits = late.Head.Seq, late.Waits
	if len(late.Events) <= eventsMost && page.Next != nil { // the waiting events took the room of older ones
		if page, err = g.Table.Query(ctx, tables.NewestEvents(agent, eventsMost+1)); err != nil {
			return err
		}
		own.newest, err = eventsOf(page.Items)
		return err
	}
	own.newest = slices.DeleteFunc(own.newest, func(e tables.InboxEvent) bool { return e.Seq > head }) // those are in late, too
	slices.Reverse(late.Events)
	own.newest = append(late.Events, own.newest...)
	return nil
}

// probesMost bounds the single events that are read. A hundred of them reach back a
// million events.
const probesMost = tables.MaxGetKeys

// reach holds the events that were read if the newest page does not reach back to since.
type reach struct {
	from   int64               // events after this seq were read
	events []tables.InboxEvent // oldest first; at most one more than eventsMost
}

// reaches reports whether the newest events reach back to since.
func (m *missed) reaches() bool {
	return len(m.newest) <= eventsMost || m.newest[eventsMost].At < m.since
}

// probe finds an event older than since, unless the newest page has one.
func (m *missed) probe(ctx context.Context) error {
	if m.reaches() {
		return nil
	}
	var keys []tables.Key
	var seqs []int64
	oldest := m.newest[eventsMost].Seq
	for back := float64(eventsMost); len(keys) < probesMost && int64(back) < oldest; back *= 1.1 {
		seqs = append(seqs, oldest-int64(back))
		keys = append(keys, tables.InboxEventKey(m.agent, oldest-int64(back)))
	}
	items, err := m.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(items, func(item tables.Item) bool { return item.Int("at") < m.since }) // an event that expired counts as older
	if i >= 0 {
		m.reach.from = seqs[i]
	}
	return nil
}

// reachBack reads the events after the one that probe found.
func (m *missed) reachBack(ctx context.Context) error {
	if m.reaches() {
		return nil
	}
	page, err := m.Table.Query(ctx, tables.EventsAfter(m.agent, m.reach.from, eventsMost+1))
	if err != nil {
		return err
	}
	m.reach.events, err = eventsOf(page.Items)
	return err
}

func eventsOf(items []tables.Item) ([]tables.InboxEvent, error) {
	events := make([]tables.InboxEvent, len(items))
	for i, item := range items {
		if err := tables.Unmarshal(item, &events[i]); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// events returns the new events, oldest first, while there is room.
func (m *missed) events() (wire.CatchupInbox, error) {
	events := m.reach.events
	if m.reaches() {
		events = slices.Clone(m.newest)
		slices.Reverse(events)
		i := slices.IndexFunc(events, func(e tables.InboxEvent) bool { return e.At >= m.since })
		if i < 0 {
			i = len(events)
		}
		events = events[i:]
	}
	part, size := wire.CatchupInbox{Items: []wire.Event{}, After: m.head, More: m.waits}, 0
	for i := range events {
		e := &events[i]
		answer, err := eventOf(e)
		if err != nil {
			return part, err
		}
		if size += sizeOf(answer); i == eventsMost || size > eventsSize {
			part.More = true
			break
		}
		part.After = e.Seq
		if e.At >= m.since && e.TTL > m.now && !m.hidden[e.From.ID] {
			part.Items = append(part.Items, answer)
		}
	}
	return part, nil
}
