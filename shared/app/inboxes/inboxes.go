// Package inboxes reads an agent's inbox, and gives numbers to the events that wait there.
//
// The stream's reader puts events without numbers. If it numbered them, the events that
// different agents cause would all write one item, the inbox's head. Instead, events get
// their numbers when the agent reads. If two requests read an inbox at the same time, only
// one advances the head. The other reads again, and finds the numbers.
//
// Within a transaction, events are numbered in the order of their arrival. An event's
// happened_at is the time of its cause. Its at is the time of its arrival, or the previous
// event's at if that is later. So at never decreases as numbers rise; catchup relies on it.
package inboxes

import (
	"cmp"
	"context"
	"slices"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

const (
	numberMost = 33 // events of one transaction: three writes for each, and one for the head
	passes     = 4  // transactions of one request
)

// Page holds the events of an inbox that follow a given event.
type Page struct {
	Events []tables.InboxEvent // oldest first; may include expired events
	Head   tables.InboxHead    // as last read or advanced
	Waits  bool                // events may still wait for their numbers

	app      *app.App
	agent    string
	most     int
	last     int64           // seq of the newest event read
	numbered map[string]bool // sources that have a marker
}

// Read reads the events of an agent's inbox whose seq is greater than after, until it has
// at least most+1. To get that many, it also numbers waiting events, in at most four
// transactions. head is the seq of the newest event that the caller knows of. If other
// requests numbered events first at every attempt, the error is [tables.ErrConflict].
func Read(ctx context.Context, a *app.App, agent string, after, head int64, most int) (*Page, error) {
	p := &Page{
		Head: tables.InboxHead{Seq: head}, app: a, agent: agent, most: most, last: after, numbered: map[string]bool{},
	}
	for range passes {
		if err := a.Retry(ctx, func() error { return p.read(ctx) }); err != nil {
			return nil, err
		}
		if !p.Waits || len(p.Events) > most {
			break
		}
	}
	return p, nil
}

// More reports whether there may be events after the first p.most of the page.
func (p *Page) More() bool { return p.Waits || len(p.Events) > p.most }

// read reads the events after p.last, and numbers waiting ones. If another request does so
// meanwhile, read fails with [tables.ErrOvertaken], and p keeps the events that it has
// read.
func (p *Page) read(ctx context.Context) error {
	const head = 1
	page, err := p.app.Table.Query(ctx, tables.News(p.agent, p.last, p.most+1-len(p.Events)+head))
	if err != nil {
		return err
	}
	var waiting []*tables.WaitingEvent
	for _, item := range page.Items {
		switch item.Str(tables.AttrType) {
		case tables.TypeInboxEvent:
			var e tables.InboxEvent
			if err := tables.Unmarshal(item, &e); err != nil {
				return err
			}
			p.take(e)
		case tables.TypeInboxHead:
			p.Head = tables.InboxHead{}
			if err := tables.Unmarshal(item, &p.Head); err != nil {
				return err
			}
		case tables.TypeInboxWaiting:
			w, err := tables.ReadWaiting(item)
			if err != nil {
				return err
			}
			waiting = append(waiting, w)
		}
	}
	p.Waits = len(waiting) > 0 && len(p.Events) <= p.most && !p.Head.Closed
	if !p.Waits {
		return nil
	}
	if err := p.number(ctx, waiting[:min(numberMost, len(waiting))]); err != nil {
		return err
	}
	p.Waits = page.Next != nil || len(waiting) > numberMost
	return nil
}

func (p *Page) take(e tables.InboxEvent) {
	if e.Seq > p.last {
		p.Events, p.last = append(p.Events, e), e.Seq
	}
}

// number gives numbers to waiting events, and deletes those that have expired or must not
// get a number. Every numbered event leaves a marker of its source. If a source has a
// marker already, the transaction fails. number then adds the source to p.numbered, and the
// next try deletes the event.
func (p *Page) number(ctx context.Context, waiting []*tables.WaitingEvent) error {
	slices.SortStableFunc(waiting, func(a, b *tables.WaitingEvent) int { return cmp.Compare(a.Arrived, b.Arrived) })
	head, now := p.Head, p.app.Now().Unix()
	here := map[string]bool{}
	var events []tables.InboxEvent
	var writes []tables.Write
	for _, w := range waiting {
		if w.TTL <= now || p.numbered[w.Source] || here[w.Source] {
			writes = append(writes, tables.Delete(w.Key))
			continue
		}
		here[w.Source] = true
		e, moves := w.Number(p.agent, &head, func(tables.Item) error {
			p.numbered[w.Source] = true
			return nil
		})
		events, writes = append(events, e), append(writes, moves...)
	}
	if len(events) > 0 {
		writes = append(writes, p.Head.Advance(p.agent, head.Seq, head.At))
	}
	if err := p.app.Transact(ctx, writes...); err != nil {
		return err
	}
	p.Head = head
	for _, e := range events {
		p.take(e)
	}
	return nil
}
