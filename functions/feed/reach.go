package feed

import (
	"context"
	"slices"

	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// Events are keyed by seq, not by time, so the first event since a time must be
// searched for. Usually the newest page of events contains it. Otherwise single
// events further and further back are read at once, and the events after the
// newest one that is older than the time are read. No event is missed, and at most
// a tenth more than needed are read.

// probesMost bounds the single events that are read. Beginning at eventsMost, each
// a tenth further back, they span a million events.
const probesMost = tables.MaxGetKeys

// reach holds the events that were read if the newest page does not reach since.
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

// events returns the new events, oldest first, while there is room. head is the
// inbox's newest seq, read before the events.
func (m *missed) events(head int64) (wire.CatchupInbox, error) {
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
	part, size := wire.CatchupInbox{Items: []wire.Event{}, After: head}, 0
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
