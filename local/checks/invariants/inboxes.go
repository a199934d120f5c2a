package invariants

import (
	"slices"
	"strings"

	"agentsocial/tables"
)

// inboxes checks that an inbox's events have no gap up to its head, are in order of time
// and have one source each.
func inboxes(w *world) error {
	pks := map[string]bool{}
	events := map[string][]*tables.InboxEvent{}
	for _, item := range w.types[tables.TypeInboxEvent] {
		e := new(tables.InboxEvent)
		if err := tables.Unmarshal(item, e); err != nil {
			return err
		}
		pk := item.Key().PK
		if pks[pk] = true; item.Key().SK != tables.InboxEventSK(e.Seq) {
			w.problem(pk, "event %d has the wrong key %s", e.Seq, item.Key().SK)
		}
		events[pk] = append(events[pk], e)
	}
	if err := w.waiting(); err != nil {
		return err
	}
	sources := map[string]map[int64]int{}
	for _, item := range w.types[tables.TypeMarker] {
		pk, seq := item.Key().PK, item.Int("seq")
		if !strings.HasPrefix(pk, tables.InboxPK("")) || seq == 0 {
			continue
		}
		pks[pk] = true
		if sources[pk] == nil {
			sources[pk] = map[int64]int{}
		}
		sources[pk][seq]++
	}
	for pk := range pks {
		agent := strings.TrimPrefix(pk, tables.InboxPK(""))
		head, there, err := one[tables.InboxHead](w, tables.InboxHeadKey(agent))
		if err != nil {
			return err
		}
		if !there {
			w.problem(pk, "it has no head")
			continue
		}
		if head.Closed {
			if len(events[pk]) > 0 && !w.erasing(agent) {
				w.problem(pk, "it is closed, and has %d events", len(events[pk]))
			}
			continue
		}
		w.inbox(pk, head, events[pk], sources[pk])
	}
	return nil
}

// waiting checks the events that wait for their numbers. At most one event of a source
// waits, and only while no event of the source has a number.
func (w *world) waiting() error {
	seen := map[tables.Key]bool{}
	for _, item := range w.types[tables.TypeInboxWaiting] {
		e, err := tables.ReadWaiting(item)
		if err != nil {
			return err
		}
		agent := strings.TrimPrefix(e.Key.PK, tables.InboxPK(""))
		marker := tables.InboxMarkerKey(agent, e.Source)
		head, _, err := one[tables.InboxHead](w, tables.InboxHeadKey(agent))
		switch {
		case err != nil:
			return err
		case e.WaitingKey(agent, e.Source) != e.Key:
			w.problem(e.Key.PK, "an event of %s waits at %s", e.Source, e.Key.SK)
		case seen[marker]:
			w.problem(e.Key.PK, "two events of %s wait", e.Source)
		case w.items[marker] != nil && !w.erasing(agent):
			w.problem(e.Key.PK, "an event of %s waits, but the source has the marker %d", e.Source, w.items[marker].Int("seq"))
		case head.Closed && !w.erasing(agent):
			w.problem(e.Key.PK, "it is closed, and an event of %s waits", e.Source)
		}
		seen[marker] = true
	}
	return nil
}

// inbox checks one inbox. Its oldest events may have expired.
func (w *world) inbox(pk string, head *tables.InboxHead, events []*tables.InboxEvent, sources map[int64]int) {
	slices.SortFunc(events, func(a, b *tables.InboxEvent) int { return int(a.Seq - b.Seq) })
	next, at := head.Seq, head.At
	for _, e := range slices.Backward(events) {
		switch {
		case e.Seq != next:
			w.problem(pk, "got event %d, want event %d", e.Seq, next)
		case e.At > at:
			w.problem(pk, "event %d is later than the next event, or than the head", e.Seq)
		}
		if n := sources[e.Seq]; n != 1 {
			w.problem(pk, "event %d has %d sources", e.Seq, n)
		}
		next, at = e.Seq-1, e.At
	}
	if next > 0 && w.now.UnixMilli()-at < tables.InboxKeep.Milliseconds() {
		w.problem(pk, "event %d is missing", next)
	}
	for seq := range sources {
		if seq > head.Seq {
			w.problem(pk, "a source names event %d, but the last is %d", seq, head.Seq)
		}
	}
}
