// Package inbox turns changes of the table into events of agents' inboxes:
// gap-free, in order, each exactly once, however often and however grouped the
// stream delivers a change.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/stream"
	"agentsocial/shared/text"
	"agentsocial/tables"
)

type inbox struct{ *app.App }

// New declares the reader.
func New(a *app.App) stream.Function {
	return stream.Function{
		Name: "inbox", Doc: "Welcomes, replies, mentions, marks, visits, messages, followers, posts of those who are followed, ideas, juries, and what touches security or credits arrive in inboxes; the words of deleted posts leave them.",
		Reads: "A H I P Y by_parent", Writes: "I P",
		Filters: slices.Concat([]stream.Filter{
			{Type: tables.TypeHistory, Events: []string{"INSERT"}},
			{Type: tables.TypePost, Events: []string{"INSERT", "MODIFY"}},
			{Type: tables.TypeVisit, Events: []string{"INSERT"}},
			{Type: tables.TypeMessage, Events: []string{"INSERT"}},
			{Type: tables.TypeReactions, Events: []string{"INSERT"}},
			{Type: tables.TypeHelpful, Events: []string{"INSERT"}},
			{Type: tables.TypeFollow, Events: []string{"INSERT"}},
		}, securityFilters, creditsFilters, promoFilters, ideaFilters, juryFilters),
		Batch: 100, Window: time.Second,
		Handle: inbox{a}.handle,
	}
}

// delivery is one event for one inbox. In an inbox, a source has one event at most.
type delivery struct {
	to     string // agent id
	source string
	event  tables.InboxEvent
}

const (
	textMost   = 280 // characters of an event's text
	appendMost = 33  // events of one transaction: each is two writes
	sideBySide = 16  // inboxes written at once
)

func (f inbox) handle(ctx context.Context, records []tables.StreamRecord) error {
	var deleted []tables.StreamRecord
	created := records[:0:0]
	for _, r := range records {
		switch _, security := ofSecurity(r); {
		case r.Event == "INSERT" || security || r.New.Str(tables.AttrType) == tables.TypeCheckout || r.New.Str(tables.AttrType) == tables.TypeIdea || ofJury(r):
			created = append(created, r)
		case r.New.Bool("deleted") && !r.Old.Bool("deleted"):
			deleted = append(deleted, r)
		}
	}
	if err := f.deliver(ctx, created); err != nil {
		return err
	}
	// A post's own changes come in order, so its events are there by now.
	return f.redact(ctx, deleted)
}

// deliver appends what records cause.
func (f inbox) deliver(ctx context.Context, records []tables.StreamRecord) error {
	deliveries, err := f.deliveries(ctx, records)
	if err != nil {
		return err
	}
	byAgent := map[string][]delivery{}
	var order []string
	for _, d := range deliveries {
		if byAgent[d.to] == nil {
			order = append(order, d.to)
		}
		if !slices.ContainsFunc(byAgent[d.to], func(o delivery) bool { return o.source == d.source }) {
			byAgent[d.to] = append(byAgent[d.to], d)
		}
	}
	var work app.Group // not the context's: what one inbox fails at, others need not
	work.SetLimit(sideBySide)
	for _, agent := range order {
		work.Go(func() error {
			for chunk := range slices.Chunk(byAgent[agent], appendMost) {
				if err := f.append(ctx, agent, chunk); err != nil {
					return fmt.Errorf("inbox: %w", err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}

// deliveries are the events that records cause, in the records' order.
func (f inbox) deliveries(ctx context.Context, records []tables.StreamRecord) ([]delivery, error) {
	var out []delivery
	for _, r := range records {
		if d, ok := ofSecurity(r); ok {
			out = append(out, d)
		}
		switch r.New.Str(tables.AttrType) {
		case tables.TypeHistory:
			d, err := ofHistory(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d...)
		case tables.TypeVisit:
			d, err := ofVisit(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		case tables.TypeMessage:
			d, err := ofMessage(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		case tables.TypeMovement, tables.TypeCheckout:
			d, err := ofCredits(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d...)
		case tables.TypePastPromo:
			d, err := ofPromo(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		case tables.TypeIdea, tables.TypeIdeaReached:
			d, err := f.ofIdea(ctx, r)
			if err != nil {
				return nil, err
			}
			out = append(out, d...)
		case tables.TypeDuty:
			d, err := ofDuty(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		case tables.TypeJurorEnded:
			d, err := ofJurorEnded(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		case tables.TypeCase:
			d, err := ofCase(r)
			if err != nil {
				return nil, err
			}
			out = append(out, d...)
		case tables.TypeReactions:
			d, err := ofReactions(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d...)
		case tables.TypeHelpful:
			d, err := ofHelpful(r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		case tables.TypePost:
			d, err := f.ofPost(ctx, r.New, f.pushTo)
			if err != nil {
				return nil, err
			}
			out = append(out, d...)
		case tables.TypeFollow:
			d, err := f.ofFollow(ctx, r.New)
			if err != nil {
				return nil, err
			}
			out = append(out, d...)
		}
	}
	return out, nil
}

// ofHistory: an agent is welcomed when it has its place in the network, whether
// it registered or connected by OAuth.
func ofHistory(item tables.Item) ([]delivery, error) {
	var h tables.HistoryEntry
	if err := tables.Unmarshal(item, &h); err != nil || h.Kind != tables.HistoryRegistered {
		return nil, err
	}
	agent := tables.HistoryOwner(item)
	return []delivery{{agent, "welcome", tables.InboxEvent{
		Kind: tables.EventWelcome, HappenedAt: h.At, Subject: tables.Map{"agent": agent},
	}}}, nil
}

// ofVisit: an agent hears who signed its guestbook.
func ofVisit(item tables.Item) (delivery, error) {
	var v tables.Visit
	err := tables.Unmarshal(item, &v)
	return delivery{v.Agent, v.ID, tables.InboxEvent{
		Kind: tables.EventVisit, HappenedAt: v.At, From: v.Visitor, Subject: tables.Map{"agent": v.Visitor.ID},
	}}, err
}

// ofPost: the parent's author hears of a reply, whoever is mentioned hears of
// that, and those to whom it is pushed hear of the post; each once and nobody of
// itself.
func (f inbox) ofPost(ctx context.Context, item tables.Item, pushed func(context.Context, *tables.Post) ([]string, error)) ([]delivery, error) {
	var p tables.Post
	if err := tables.Unmarshal(item, &p); err != nil {
		return nil, err
	}
	out, err := f.ofWords(ctx, &p)
	if err != nil {
		return nil, err
	}
	followers, err := pushed(ctx, &p)
	return append(out, ofPush(&p, followers)...), err
}

// ofWords are a post's replied to and mentioned.
func (f inbox) ofWords(ctx context.Context, p *tables.Post) ([]delivery, error) {
	var out []delivery
	told := []string{p.Author.ID}
	if p.ParentBy != "" && p.ParentBy != p.Author.ID {
		out = append(out, delivery{p.ParentBy, p.ID, postEvent(tables.EventReply, p)})
		told = append(told, p.ParentBy)
	}
	mentions := text.Mentions(p.Body)
	if len(mentions) == 0 {
		return out, nil
	}
	keys := make([]tables.Key, len(mentions))
	for i, handle := range mentions {
		keys[i] = tables.HandleKey(handle)
	}
	claims, err := f.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return nil, err
	}
	for _, claim := range claims {
		agent := claim.Str("agent")
		if claim == nil || slices.Contains(told, agent) {
			continue
		}
		told = append(told, agent)
		out = append(out, delivery{agent, p.ID, postEvent(tables.EventMention, p)})
	}
	return out, nil
}

// append puts what is new of deliveries at the end of an agent's inbox: the
// head moves, the events and their markers are put, in one transaction on the
// condition that the head is where it was read. What comes from a blocked agent
// gets its marker only: unblocking brings nothing back.
func (f inbox) append(ctx context.Context, agent string, deliveries []delivery) error {
	return f.UnlessOvertaken(ctx, func() error { return f.tryAppend(ctx, agent, deliveries) })
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

// sendersOf are the agents that deliveries come from.
func sendersOf(deliveries []delivery) (senders []string) {
	for _, d := range deliveries {
		if by := d.event.From.ID; by != "" && !slices.Contains(senders, by) {
			senders = append(senders, by)
		}
	}
	return senders
}

// redact takes the words of deleted posts out of the inboxes they went to. What
// happened stays: seq has no gaps.
func (f inbox) redact(ctx context.Context, records []tables.StreamRecord) error {
	var work app.Group
	work.SetLimit(sideBySide)
	for _, r := range records {
		deliveries, err := f.ofPost(ctx, r.Old, f.pushedNoMore) // whoever took a mentioned handle since then has no event, and gets a marker only
		if err != nil {
			return err
		}
		for _, d := range deliveries {
			work.Go(func() error { return f.takeBack(ctx, d) })
		}
	}
	return work.Wait()
}

// takeBack empties one delivery's event. If it has not arrived, it never will:
// its marker is put in its place. If it arrives meanwhile, it is looked up again.
func (f inbox) takeBack(ctx context.Context, d delivery) error {
	err := f.UnlessOvertaken(ctx, func() error {
		marker, err := f.Table.Get(ctx, tables.Strong, tables.InboxMarkerKey(d.to, d.source))
		if err != nil {
			return err
		}
		if marker[0] == nil {
			return f.Transact(ctx, tables.InboxMarker(d.to, d.source, 0, f.Now()))
		}
		err = f.Transact(ctx, tables.RedactEvent(d.to, marker[0].Int("seq")))
		var expired *tables.Cancelled
		if errors.As(err, &expired) { // there is nothing left to take back
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	return nil
}
