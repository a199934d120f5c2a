package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

// put stores deliveries as waiting events. Each is one write, and no two events have the
// same key, so writes do not conflict. A delivery from a blocked agent leaves only a
// marker, so unblocking brings nothing back.
//
// An event that gets its number leaves a marker in place of the waiting item. If the
// change is delivered again, put adds a copy of the event, and check deletes the copy. If
// the agent reads its inbox in between, the marker keeps the copy from getting a number.
func (f inbox) put(ctx context.Context, agent string, deliveries []delivery) error {
	blocked, err := f.blocked(ctx, agent, deliveries)
	if err != nil {
		return err
	}
	now := f.Now() // all arrive at the same time, in the order of the stream
	work := app.Together(ctx)
	work.SetLimit(putsAtOnce)
	var taken []delivery
	for place, d := range deliveries {
		if blocked[d.event.From.ID] {
			work.Go(func() error { return f.refuse(ctx, d) })
			continue
		}
		taken = append(taken, d)
		work.Go(func() error {
			err := f.Once(ctx, d.event.Wait(agent, d.source, now, place))
			if errors.Is(err, tables.ErrOvertaken) { // the event waits already
				return nil
			}
			return err
		})
	}
	return errors.Join(work.Wait(), f.check(ctx, agent, taken))
}

// refuse puts the marker of a delivery from a blocked agent. An event that arrived before
// the block stays.
func (f inbox) refuse(ctx context.Context, d delivery) error {
	waiting, err := f.Table.Get(ctx, tables.Strong, d.waiting())
	if err != nil || waiting[0] != nil {
		return err
	}
	err = f.Once(ctx, tables.InboxMarker(d.to, d.source, 0, f.Now()))
	if errors.Is(err, tables.ErrOvertaken) { // the event already has its number, or was refused
		return nil
	}
	return err
}

// check deletes waiting events whose source has a marker, or all if the agent was erased.
// It reads after the events were put. If a marker or the closed head is written at the
// same time, check sees it, or its writer sees the event.
func (f inbox) check(ctx context.Context, agent string, deliveries []delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	keys := []tables.Key{tables.InboxHeadKey(agent)}
	for _, d := range deliveries {
		keys = append(keys, tables.InboxMarkerKey(agent, d.source))
	}
	items, err := f.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return err
	}
	closed := items[0].Bool("closed")
	for i, d := range deliveries {
		if closed || items[i+1] != nil {
			err = errors.Join(err, f.Once(ctx, tables.Delete(d.waiting())))
		}
	}
	return err
}

func (f inbox) blocked(ctx context.Context, agent string, deliveries []delivery) (map[string]bool, error) {
	senders := sendersOf(deliveries)
	if len(senders) == 0 {
		return nil, nil
	}
	keys := make([]tables.Key, len(senders))
	for i, by := range senders {
		keys[i] = tables.BlockKey(agent, by)
	}
	items, err := f.Table.Get(ctx, tables.Strong, keys...)
	blocked := map[string]bool{}
	for i, item := range items {
		blocked[senders[i]] = item != nil
	}
	return blocked, err
}

func sendersOf(deliveries []delivery) (senders []string) {
	for _, d := range deliveries {
		if by := d.event.From.ID; by != "" && !slices.Contains(senders, by) {
			senders = append(senders, by)
		}
	}
	return senders
}

// deletions selects the changes that may remove texts from inboxes.
var deletions = []stream.Filter{
	{Type: tables.TypePost, Events: []string{"MODIFY"}},
	{Type: tables.TypeMessage, Events: []string{"MODIFY"}},
	{Type: tables.TypeIdea, Events: []string{"MODIFY"}},
}

// redact removes the texts of deleted posts, messages and ideas from inboxes, and the
// names of erased authors. The events stay, because seq has no gaps.
func (f inbox) redact(ctx context.Context, records []tables.StreamRecord) error {
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for _, r := range records {
		if !slices.ContainsFunc(deletions, func(d stream.Filter) bool { return d.Match(r) }) {
			continue
		}
		fresh := func(mark string) bool { return r.New.Bool(mark) && !r.Old.Bool(mark) }
		if !fresh("deleted") && !fresh("erased") {
			continue
		}
		deliveries, err := f.toldOf(ctx, r.Old)
		if err != nil {
			return err
		}
		for _, d := range deliveries {
			work.Go(func() error { return f.takeBack(ctx, d, fresh("erased")) })
		}
	}
	return work.Wait()
}

// toldOf returns the deliveries that had an item's text. old is the item before it was
// deleted or erased.
func (f inbox) toldOf(ctx context.Context, old tables.Item) ([]delivery, error) {
	switch old.Str(tables.AttrType) {
	case tables.TypeMessage:
		var m tables.Message
		err := tables.Unmarshal(old, &m)
		return ofMessage(&m), err
	case tables.TypeIdea:
		var i tables.Idea
		if err := tables.Unmarshal(old, &i); err != nil {
			return nil, err
		}
		items, err := f.Table.Get(ctx, tables.Strong, tables.IdeaCountersKey(i.ID))
		if err != nil {
			return nil, err
		}
		var numbers []int64
		var keys []tables.Key
		for n := int64(1); n <= items[0].Int("told"); n *= 10 {
			numbers, keys = append(numbers, n), append(keys, tables.IdeaReachedKey(i.ID, n))
		}
		if len(keys) == 0 {
			return nil, nil
		}
		if items, err = f.Table.Get(ctx, tables.Strong, keys...); err != nil {
			return nil, err
		}
		out := make([]delivery, len(items))
		for at, n := range numbers {
			reached := tables.IdeaReached{Idea: i.ID, To: i.By.ID, Support: n, At: items[at].Int("at")}
			out[at] = ofReached(&reached, "")
		}
		return out, nil
	}
	// An agent that claimed a mentioned handle after the post was made has no event, and
	// gets only a marker.
	return f.ofPost(ctx, old, f.pushedNoMore, everyone)
}

// takeBack removes the text of a delivery's event, and an erased sender's name. If the
// event has not arrived, takeBack puts a marker that keeps the event out. It retries if
// the event gets its number meanwhile.
func (f inbox) takeBack(ctx context.Context, d delivery, erased bool) error {
	err := f.Retry(ctx, func() error {
		items, err := f.Table.Get(ctx, tables.Strong, tables.InboxMarkerKey(d.to, d.source), d.waiting())
		if err != nil {
			return err
		}
		marker, waiting := items[0], items[1]
		seq := marker.Int("seq")
		switch {
		case seq > 0:
			err = f.Once(ctx, f.emptied(tables.InboxEventKey(d.to, seq), d, erased))
			if errors.Is(err, tables.ErrOvertaken) { // the event has expired
				return nil
			}
			return err
		case marker == nil && waiting != nil:
			if waiting.Bool("deleted") && !erased { // delivered again
				return nil
			}
			return f.Once(ctx, f.emptied(d.waiting(), d, erased))
		case marker == nil:
			if err := f.Once(ctx, tables.InboxMarker(d.to, d.source, 0, f.Now())); err != nil {
				return err
			}
		}
		return f.Once(ctx, tables.Delete(d.waiting())) // the event may have arrived before the marker was put
	})
	if err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	return nil
}

func (f inbox) emptied(event tables.Key, d delivery, erased bool) tables.Write {
	w := tables.RedactEvent(event)
	if from := d.event.From.ID; erased && from != "" {
		w.Updates = append(w.Updates, tables.Nameless("from", from))
	}
	return w
}
