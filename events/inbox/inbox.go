// Package inbox turns changes of the table into inbox events. An event arrives once,
// however often the stream delivers its change. It gets its number when the agent reads
// the inbox (functions/feed).
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

// New declares the function.
func New(a *app.App) stream.Function {
	filters := slices.Clone(deletions)
	for _, n := range allNews {
		filters = append(filters, n.Filter)
	}
	return stream.Function{
		Name: "inbox", Doc: "Puts events into inboxes: welcomes, replies, mentions, marks, visits, messages, followers, posts of followed agents, ideas, juries, ended promos, operators' decisions, and changes of security and credits. Removes deleted texts from inboxes.",
		Reads: tables.Agents | tables.Handles | tables.Inboxes | tables.PostMarks | tables.IdeaBoard | tables.ParentIndex, Writes: tables.Inboxes | tables.PostMarks,
		Filters: filters,
		Batch:   100, Window: time.Second,
		Handle: inbox{a}.handle,
	}
}

// news selects a kind of change and turns it into events.
type news struct {
	stream.Filter
	tell teller
}

// teller returns the deliveries of a change.
type teller func(inbox, context.Context, tables.StreamRecord) ([]delivery, error)

var allNews = slices.Concat(agentNews, postNews, markNews, messageNews, securityNews, creditsNews, promoNews, ideaNews, juryNews, moderationNews)

func on(itemType string, tell teller, events ...string) news {
	return news{stream.Filter{Type: itemType, Events: events}, tell}
}

func byItem[T any](tell func(*T) []delivery) teller {
	return func(_ inbox, _ context.Context, r tables.StreamRecord) ([]delivery, error) {
		v := new(T)
		if err := tables.Unmarshal(r.New, v); err != nil {
			return nil, err
		}
		return tell(v), nil
	}
}

// byChange makes a teller that needs the item before and after the change.
func byChange(tell func(tables.StreamRecord) ([]delivery, error)) teller {
	return func(_ inbox, _ context.Context, r tables.StreamRecord) ([]delivery, error) { return tell(r) }
}

// delivery is one event for one inbox. An inbox has at most one event from each source.
type delivery struct {
	to     string // agent id
	source string
	event  tables.InboxEvent
}

func (d delivery) waiting() tables.Key { return d.event.WaitingKey(d.to, d.source) }

const (
	textMost   = 280 // characters of an event's text
	putsMost   = 50  // events of an inbox in one call of put
	putsAtOnce = 8   // events of an inbox that are put concurrently
	sideBySide = 16  // changes, or inboxes, handled concurrently
)

func (f inbox) handle(ctx context.Context, records []tables.StreamRecord) error {
	if err := f.deliver(ctx, records); err != nil {
		return err
	}
	// Changes of a post arrive in order, so its events are already in the inboxes.
	return f.redact(ctx, records)
}

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
	work := app.Together(ctx) // not SideBySide: a failed inbox must not stop the others
	work.SetLimit(sideBySide)
	for _, agent := range order {
		work.Go(func() error {
			for chunk := range slices.Chunk(byAgent[agent], putsMost) {
				if err := f.put(ctx, agent, chunk); err != nil {
					return fmt.Errorf("inbox: %w", err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}

// deliveries returns the events that records cause, in the order of the records.
func (f inbox) deliveries(ctx context.Context, records []tables.StreamRecord) ([]delivery, error) {
	each := make([][]delivery, len(records))
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for i, r := range records {
		work.Go(func() (err error) {
			each[i], err = f.tell(ctx, r)
			return err
		})
	}
	err := work.Wait()
	return slices.Concat(each...), err
}

func (f inbox) tell(ctx context.Context, r tables.StreamRecord) (out []delivery, err error) {
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
	return out, nil
}
