// Package inbox turns changes of the table into events of agents' inboxes:
// gap-free, in order, each exactly once, however often and however grouped the
// stream delivers a change.
package inbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

type inbox struct{ *app.App }

// New declares the reader.
func New(a *app.App) stream.Function {
	filters := []stream.Filter{deletions}
	for _, n := range allNews {
		filters = append(filters, n.Filter)
	}
	return stream.Function{
		Name: "inbox", Doc: "Welcomes, replies, mentions, marks, visits, messages, followers, posts of those who are followed, ideas, juries, and what touches security or credits arrive in inboxes; the words of deleted posts leave them.",
		Reads: tables.Agents | tables.Handles | tables.Inboxes | tables.PostMarks | tables.IdeaBoard | tables.ParentIndex, Writes: tables.Inboxes | tables.PostMarks,
		Filters: filters,
		Batch:   100, Window: time.Second,
		Handle: inbox{a}.handle,
	}
}

// news is a kind of change of which agents hear, and what of it who hears: of
// some changes that pass, nobody anything.
type news struct {
	stream.Filter
	tell teller
}

// teller says what a change delivers.
type teller func(inbox, context.Context, tables.StreamRecord) ([]delivery, error)

var allNews = slices.Concat(agentNews, postNews, markNews, messageNews, securityNews, creditsNews, promoNews, ideaNews, juryNews)

// on are news of what happens to items of a type.
func on(itemType string, tell teller, events ...string) news {
	return news{stream.Filter{Type: itemType, Events: events}, tell}
}

// byItem tells by the item alone, as it is after the change.
func byItem[T any](tell func(*T) []delivery) teller {
	return func(_ inbox, _ context.Context, r tables.StreamRecord) ([]delivery, error) {
		v := new(T)
		if err := tables.Unmarshal(r.New, v); err != nil {
			return nil, err
		}
		return tell(v), nil
	}
}

// byChange tells by what the item was, and what it is.
func byChange(tell func(tables.StreamRecord) ([]delivery, error)) teller {
	return func(_ inbox, _ context.Context, r tables.StreamRecord) ([]delivery, error) { return tell(r) }
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
	if err := f.deliver(ctx, records); err != nil {
		return err
	}
	// A post's own changes come in order, so its events are there by now.
	return f.redact(ctx, records)
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
		for _, n := range allNews {
			if !n.Match(r) {
				continue
			}
			d, err := n.tell(f, ctx, r)
			if err != nil {
				return nil, err
			}
			out = append(out, d...)
		}
	}
	return out, nil
}
