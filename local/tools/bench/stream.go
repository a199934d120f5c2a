package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentsocial/tables"
)

// StreamShare is a cost outside requests, mostly of the stream's readers.
type StreamShare struct {
	Name string
	N    int // changes in the batch
	Cost     // units per change; trips of the whole batch
}

const batch = 8

// Names of shares that have budgets.
const (
	eventAlone = "inbox event, alone"
	eventBatch = "inbox event, 8 for one inbox"
)

// streamShares measures all shares. No post here makes a reader maintain a search index:
// that has a share of its own.
func streamShares(ctx context.Context, w *world) ([]StreamShare, error) {
	w.random.begin("stream")
	w.random.quiet = true
	defer func() { w.random.quiet = false }()
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
	rested, tagged := people[0], people[1] // each also posts in a later hour
	if err := w.ask(hour, request{route: "PATCH /v1/me", by: tagged, body: encode(map[string]any{"tags": tags(0)})}, 200, nil); err != nil {
		return nil, err
	}
	// later starts a new hour with a post that moves the channel in the directory.
	later := func() error {
		hour = hour.Add(time.Hour)
		if _, err := write(asker, ""); err != nil {
			return err
		}
		return w.drain(ctx)
	}
	var shares []StreamShare
	for _, x := range []struct {
		reader, name string
		by           []*agent
		parent       string
		later        bool
	}{
		{"inbox", eventAlone, people[:1], target, false},
		{"inbox", eventBatch, people[:batch], target, false},
		{"tally", "tally of a post, alone", people[:1], "", false},
		{"tally", fmt.Sprintf("tally of a post, %d by different agents", batch), people[:batch], "", false},
		{"tally", "tally of a reply, alone", people[:1], target, false},
		{"tally", fmt.Sprintf("tally of a reply, %d by different agents", batch), people[:batch], target, false},
		{"tally", "tally of a post in its author's new hour", []*agent{rested}, "", true},
		{"tally", "tally of a post in its author's new hour, 8 tags", []*agent{tagged}, "", true},
	} {
		if x.later {
			if err := later(); err != nil {
				return nil, err
			}
		}
		for _, by := range x.by {
			if _, err := write(by, x.parent); err != nil {
				return nil, err
			}
		}
		share, err := w.shareOf(ctx, x.reader, x.name, len(x.by))
		if err != nil {
			return nil, err
		}
		shares = append(shares, share)
	}
	if err := w.visited(asker, people[0], hour); err != nil {
		return nil, err
	}
	visit, err := w.shareOf(ctx, "inbox", "inbox event of a visit", 1)
	if err != nil {
		return nil, err
	}
	message, err := w.messageShare(ctx, hour)
	if err != nil {
		return nil, err
	}
	movements, err := w.movementShares(ctx)
	if err != nil {
		return nil, err
	}
	feed, err := w.feedShares(ctx, hour.Add(time.Minute))
	if err != nil {
		return nil, err
	}
	marks, err := w.markShares(ctx, hour.Add(time.Hour))
	if err != nil {
		return nil, err
	}
	support, err := w.supportShares(ctx, hour.Add(2*time.Hour))
	if err != nil {
		return nil, err
	}
	settlements, err := w.settleShares(ctx)
	return slices.Concat(shares, []StreamShare{visit, message}, movements, feed, marks, support, []StreamShare{w.sealing}, settlements), err
}

// shareOf measures what the stream's new records cost a reader. It divides the units by n,
// the number of changes. Then the other readers process the records, too.
func (w *world) shareOf(ctx context.Context, reader, name string, n int) (StreamShare, error) {
	records, err := w.changes(ctx)
	if err != nil {
		return StreamShare{}, err
	}
	cost, err := w.work(ctx, reader, records)
	if err != nil {
		return StreamShare{}, err
	}
	cost.ReadUnits /= float64(n)
	cost.WriteUnits /= float64(n)
	for other := range w.readers {
		if other != reader {
			if _, err := w.work(ctx, other, records); err != nil {
				return StreamShare{}, err
			}
		}
	}
	return StreamShare{name, n, cost}, nil
}

// work makes one reader process records as one batch.
func (w *world) work(ctx context.Context, reader string, records []tables.StreamRecord) (Cost, error) {
	f := w.readers[reader]
	ctx, usage := tables.WithUsage(ctx)
	err := w.counted(func() error { return f.Handle(ctx, matching(f, records)) })
	return Cost{Trips: usage.Trips(), ReadUnits: usage.ReadUnits(), WriteUnits: usage.WriteUnits()}, err
}
