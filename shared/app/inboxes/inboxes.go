// Package inboxes reads an agent's inbox, and gives numbers to the events that wait there.
//
// The stream's reader puts events without numbers, so that those who cause them never
// write the same item. They get their numbers here, when the agent reads: one transaction
// moves some of them behind the inbox's last event, together with its head. Two readers
// of an inbox race for the head. The one that loses reads again, and finds the winner's
// numbers.
//
// What waits is read in the order of the causes' times. What one transaction numbers gets
// its numbers in the order of arrival. An event that arrives late gets the next number all
// the same; its happened_at tells when its cause was.
package inboxes

import (
	"cmp"
	"context"
	"slices"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

const (
	numberMost = 33 // events of one transaction: each is three writes, and the head one
	passes     = 4  // transactions of one request
)

// Page holds the events of an inbox after one.
type Page struct {
	Events []tables.InboxEvent // oldest first, without a gap; some may have expired
	Head   tables.InboxHead    // as of the last read
	Waits  bool                // events may still wait for their numbers

	app      *app.App
	agent    string
	most     int
	last     int64           // the seq up to which events were read
	numbered map[string]bool // sources of waiting events that have a number already
}

// Read reads the events of an agent's inbox after one, up to most and one more, which
// tells that there are more. It gives numbers to those that wait until it has so many, but
// in no more than four transactions. head is the seq of the newest event that is known.
// Besides the errors of the table it returns one that is [tables.ErrConflict] if other
// readers of the inbox were always faster.
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

// More reports whether there are later events than the most that were wanted.
func (p *Page) More() bool { return p.Waits || len(p.Events) > p.most }

// read reads on, and gives numbers to what waits. If another reader does so meanwhile, it
// fails with [tables.ErrOvertaken], and what it has read stays.
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

// take adds an event that was not read yet.
func (p *Page) take(e tables.InboxEvent) {
	if e.Seq > p.last {
		p.Events, p.last = append(p.Events, e), e.Seq
	}
}

// number gives numbers to events. It deletes those that have expired, and those whose
// source has a number: because two causes of one source wait, or, as the last try noted,
// because a cause was delivered again.
func (p *Page) number(ctx context.Context, waiting []*tables.WaitingEvent) error {
	slices.SortStableFunc(waiting, func(a, b *tables.WaitingEvent) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.HappenedAt, b.HappenedAt))
	})
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
