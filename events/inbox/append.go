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

// append adds new deliveries to an agent's inbox in one transaction, on
// condition that the head is unchanged: it moves the head and puts the events
// and their markers. A delivery from a blocked agent gets only its marker, so
// unblocking brings nothing back.
func (f inbox) append(ctx context.Context, agent string, deliveries []delivery) error {
	return f.Retry(ctx, func() error { return f.tryAppend(ctx, agent, deliveries) })
}

func (f inbox) tryAppend(ctx context.Context, agent string, deliveries []delivery) error {
	keys := []tables.Key{tables.InboxHeadKey(agent)}
	for _, d := range deliveries {
		keys = append(keys, tables.InboxMarkerKey(agent, d.source))
	}
	senders := sendersOf(deliveries)
	for _, by := range senders {
		keys = append(keys, tables.BlockKey(agent, by))
	}
	items, err := f.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return err
	}
	var head tables.InboxHead
	if err := tables.Unmarshal(items[0], &head); err != nil {
		return err
	}
	if head.Closed {
		return nil
	}
	blocked := map[string]bool{}
	for i, block := range items[1+len(deliveries):] {
		blocked[senders[i]] = block != nil
	}
	now := f.Now()
	at := max(now.UnixMilli(), head.At)
	seq := head.Seq
	var writes []tables.Write
	for i, d := range deliveries {
		switch {
		case items[i+1] != nil:
		case blocked[d.event.From.ID]:
			writes = append(writes, tables.InboxMarker(agent, d.source, 0, now))
		default:
			seq++
			e := d.event
			e.Seq, e.At, e.TTL = seq, at, now.Add(tables.InboxKeep).Unix()
			writes = append(writes, tables.Put(e.Item(agent)), tables.InboxMarker(agent, d.source, seq, now))
		}
	}
	if seq > head.Seq {
		writes = append(writes, head.Advance(agent, seq, at))
	}
	if len(writes) == 0 {
		return nil
	}
	return f.Transact(ctx, writes...)
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
// author's name if it was erased. The events stay, because seq has no gaps.
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

// toldOf returns the deliveries that a deleted item had as it was.
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
		var out []delivery
		for n := int64(1); n <= items[0].Int("told"); n *= 10 {
			out = append(out, delivery{to: i.By.ID, source: supportedSource(i.ID, n)})
		}
		return out, nil
	}
	return f.ofPost(ctx, old, f.pushedNoMore, everyone) // an agent that has taken a mentioned handle since has no event, and gets only a marker
}

// takeBack empties a delivery's event, and removes its sender's name if that was
// erased. If the event has not arrived, takeBack puts its marker, so that it never
// will. If it arrives meanwhile, takeBack retries.
func (f inbox) takeBack(ctx context.Context, d delivery, erased bool) error {
	err := f.Retry(ctx, func() error {
		marker, err := f.Table.Get(ctx, tables.Strong, tables.InboxMarkerKey(d.to, d.source))
		if err != nil {
			return err
		}
		if marker[0] == nil {
			return f.Transact(ctx, tables.InboxMarker(d.to, d.source, 0, f.Now()))
		}
		redact := tables.RedactEvent(d.to, marker[0].Int("seq"))
		if from := d.event.From.ID; erased && from != "" {
			redact.Updates = append(redact.Updates, tables.Nameless("from", from))
		}
		err = f.Transact(ctx, redact)
		var expired *tables.Cancelled
		if errors.As(err, &expired) { // the event has expired
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	return nil
}
