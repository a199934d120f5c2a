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

// put stores deliveries as waiting events, which get their numbers when the agent reads
// its inbox. Each is one write, on condition that the event does not wait already. No two
// events have the same key, so the writes of different senders do not conflict. A delivery
// from a blocked agent leaves only a marker, so unblocking brings nothing back.
//
// When a waiting event gets its number, the waiting item is deleted, and a marker is put.
// If the change is delivered again later, its event is put a second time. check then finds
// the marker, and deletes that event. If the agent reads its inbox in between, the marker keeps
// the event from getting a number.
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

// refuse puts the marker of a delivery from a blocked agent, unless the event arrived
// before the agent blocked its sender.
func (f inbox) refuse(ctx context.Context, d delivery) error {
	waiting, err := f.Table.Get(ctx, tables.Strong, d.waiting())
	if err != nil || waiting[0] != nil {
		return err
	}
	err = f.Once(ctx, tables.InboxMarker(d.to, d.source, 0, f.Now()))
	if errors.Is(err, tables.ErrOvertaken) { // the event has its number, or was refused
		return nil
	}
	return err
}

// check deletes the waiting events of deliveries that the agent's inbox may not hold: every
// event if the agent was erased, else those whose source has a marker. It reads after the
// events were put. So if a marker or the closed head is written at the same time, check
// sees it, or its writer sees the event.
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

// blocked returns the senders of deliveries that the agent blocks.
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

// sendersOf returns the agents that deliveries come from.
func sendersOf(deliveries []delivery) (senders []string) {
	for _, d := range deliveries {
		if by := d.event.From.ID; by != "" && !slices.Contains(senders, by) {
			senders = append(senders, by)
		}
	}
	return senders
}

// deletions selects the changes that remove texts from inboxes.
var deletions = []stream.Filter{
	{Type: tables.TypePost, Events: []string{"MODIFY"}},
	{Type: tables.TypeMessage, Events: []string{"MODIFY"}},
	{Type: tables.TypeIdea, Events: []string{"MODIFY"}},
}

// redact removes the texts of deleted posts, messages and ideas from inboxes, and the
// author's name if the author was erased. The events stay, because seq has no gaps.
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

// toldOf returns the deliveries that an item caused. old is the item before it was
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

// takeBack removes the text of a delivery's event, and the sender's name if the sender
// was erased. If the event has not arrived, takeBack puts its marker, and deletes the
// event if it arrived just before. If the event gets its number meanwhile, takeBack
// retries.
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

// emptied returns the write that removes the text of the event under a key, and the
// sender's name if the sender was erased.
func (f inbox) emptied(event tables.Key, d delivery, erased bool) tables.Write {
	w := tables.RedactEvent(event)
	if from := d.event.From.ID; erased && from != "" {
		w.Updates = append(w.Updates, tables.Nameless("from", from))
	}
	return w
}
