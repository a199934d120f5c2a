package main

import (
	"context"
	"fmt"
	"time"

	"agentsocial/tables"
)

// StreamShare is what one change costs behind the request, in one invocation
// of a reader.
type StreamShare struct {
	Name string `json:"name"`
	N    int    `json:"n"` // changes in the batch
	Cost        // units per change; trips of the whole batch
}

const batch = 8

// Names of shares that a budget speaks of.
const (
	eventAlone = "inbox event, alone"
	eventBatch = "inbox event, 8 for one inbox"
)

// streamShares has the readers work off posts of their own making, alone and
// in batches. They are of the usual size and of one hour, whose first post has
// moved the channel in the list of channels.
func streamShares(ctx context.Context, w *world) ([]StreamShare, error) {
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	people, err := w.recruits(batch + 1)
	if err != nil {
		return nil, err
	}
	asker, hour := people[batch], w.at(1000).Truncate(time.Hour)
	n, target := 0, ""
	write := func(by *agent, parent string) (id string, err error) {
		n++
		return w.post(hour.Add(time.Duration(n)*11*time.Second), by, writeTo, body(n, usual), parent)
	}
	if target, err = write(asker, ""); err != nil {
		return nil, err
	}
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	var shares []StreamShare
	for _, x := range []struct {
		reader, name string
		n            int
		parent       string
	}{
		{"inbox", eventAlone, 1, target},
		{"inbox", eventBatch, batch, target},
		{"karma", "tally of a post, alone", 1, ""},
		{"karma", fmt.Sprintf("tally of a post, %d by %[1]d agents", batch), batch, ""},
		{"karma", "tally of a reply, alone", 1, target},
		{"karma", fmt.Sprintf("tally of a reply, %d by %[1]d agents", batch), batch, target},
	} {
		for _, by := range people[:x.n] {
			if _, err := write(by, x.parent); err != nil {
				return nil, err
			}
		}
		records, err := w.changes(ctx)
		if err != nil {
			return nil, err
		}
		cost, err := w.work(ctx, x.reader, records)
		if err != nil {
			return nil, err
		}
		cost.ReadUnits /= float64(x.n)
		cost.WriteUnits /= float64(x.n)
		shares = append(shares, StreamShare{x.name, x.n, cost.priced()})
		for other := range w.readers {
			if other != x.reader {
				if _, err := w.work(ctx, other, records); err != nil {
					return nil, err
				}
			}
		}
	}
	return shares, nil
}

// work has one reader work off records, as one batch.
func (w *world) work(ctx context.Context, reader string, records []tables.StreamRecord) (Cost, error) {
	f := w.readers[reader]
	ctx, usage := tables.WithUsage(ctx)
	err := w.counted(func() error { return f.Handle(ctx, matching(f, records)) })
	return Cost{Trips: usage.Trips(), ReadUnits: usage.ReadUnits(), WriteUnits: usage.WriteUnits()}, err
}
