package feed

import (
	"context"
	"slices"

	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// The events since a time are those from some seq on, and which one that is no
// key tells. Mostly the newest events reach back that far. Where they do not,
// events are looked at ever further back, all at once, until one is older: from
// there on is read, so that nothing is missing, and a tenth more than is needed
// at most.

// probesMost is how many events are looked at: from eventsMost on, each a tenth
// further back, they reach a million.
const probesMost = tables.MaxGetKeys

// reach is how far back the events go.
type reach struct {
	from   int64               // the seq after which they were read
	events []tables.InboxEvent // oldest first; at most one more than eventsMost
}

// reaches reports whether the newest events reach back to since.
func (m *missed) reaches() bool {
	return len(m.newest) <= eventsMost || m.newest[eventsMost].At < m.since
}

// probe finds an event from before since, if the newest ones do not.
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
	i := slices.IndexFunc(items, func(item tables.Item) bool { return item.Int("at") < m.since }) // one that expired is older
	if i >= 0 {
		m.reach.from = seqs[i]
	}
	return nil
}

// reachBack reads the events from there on.
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

// events are those that are new, oldest first, as far as there is room.
// head is where the inbox ended before they were read.
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
