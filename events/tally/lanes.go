package tally

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// A target that many batches add to is hot: their transactions conflict. After three
// failed tries a batch adds to a lane instead ([tables.Lane]), so that its other records
// need not wait. A lane holds a part of a sum until [reader.moveLanes] adds it to the
// target. For [hotFor] the process then adds to lanes without trying the target first.

const (
	directTries = 3                     // attempts to write a target
	directPause = 20 * time.Millisecond // the longest pause between attempts
	hotFor      = 10 * time.Second
	hotMost     = 1 << 12 // bounds the memory of a process
	waitsMost   = 1000    // deliveries of a lane, a mark or support, before its batch fails and an alarm rings
)

// hot remembers targets with many writers.
type hot struct {
	mu    sync.Mutex
	until map[tables.Key]time.Time
}

func (h *hot) has(k tables.Key, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Before(h.until[k])
}

func (h *hot) add(k tables.Key, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until == nil || len(h.until) >= hotMost {
		h.until = map[tables.Key]time.Time{}
	}
	h.until[k] = now.Add(hotFor)
}

// contended reports whether a write failed for a reason that soon passes, such as other
// writers or throttling.
func contended(err error) bool {
	return errors.Is(err, tables.ErrOvertaken) || retry.Repeatable(err)
}

// orAside calls direct to write a target. It calls aside, which adds to a lane, if the
// target is hot or if direct stays [contended].
func (f reader) orAside(ctx context.Context, target tables.Key, direct, aside func(context.Context) error) error {
	if !f.hot.has(target, f.Now()) {
		err := f.thrice(ctx, direct)
		if !contended(err) {
			return err
		}
		f.hot.add(target, f.Now())
	}
	return f.Retry(ctx, func() error { return aside(ctx) })
}

// thrice calls write until it is not [contended], at most three times. [retry.Never]
// keeps the table from repeating calls as well.
func (f reader) thrice(ctx context.Context, write func(context.Context) error) (err error) {
	for try := range directTries {
		if try > 0 {
			f.Pause(ctx, directPause)
		}
		if err = write(retry.Never(ctx)); !contended(err) {
			return err
		}
	}
	return err
}

// sum identifies a sum by the partition of its lanes, and by its kind.
type sum struct{ pk, to string }

// moveLanes moves the lanes in records, and all other lanes of the same sums, to their
// targets. It runs last in a batch, so that a busy target delays only its own lanes.
func (f reader) moveLanes(ctx context.Context, records []tables.StreamRecord) error {
	sums := map[sum]bool{}
	for _, r := range records {
		sums[sum{r.Key.PK, tables.LaneOf(r.Key)}] = true
	}
	byTarget := map[string][]sum{} // sums of one target are moved one after another
	for s := range sums {
		byTarget[s.pk] = append(byTarget[s.pk], s)
	}
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for _, pk := range slices.Sorted(maps.Keys(byTarget)) {
		work.Go(func() error {
			slices.SortFunc(byTarget[pk], func(a, b sum) int { return cmp.Compare(a.to, b.to) })
			for _, s := range byTarget[pk] {
				if err := f.move(ctx, s); err != nil {
					return fmt.Errorf("tally: lanes of %s in %s: %w", s.to, s.pk, err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}

// move moves a sum's lanes to its target. If other writers prevent this, it makes the
// stream deliver one of the lanes again, so that the shard need not wait.
func (f reader) move(ctx context.Context, s sum) error {
	err := f.thrice(ctx, func(ctx context.Context) error { return f.tryMove(ctx, s) })
	if !contended(err) {
		return err
	}
	return f.Retry(ctx, func() error {
		lanes, keys, again := f.lanes(ctx, s)
		if again != nil || len(lanes) == 0 {
			return again
		}
		if lanes[0].Waits >= waitsMost {
			return err
		}
		return f.Once(ctx, lanes[0].Wait(keys[0]))
	})
}

func (f reader) lanes(ctx context.Context, s sum) (lanes []tables.Lane, keys []tables.Key, err error) {
	page, err := f.Table.Query(ctx, tables.Lanes(s.pk, s.to))
	if err != nil {
		return nil, nil, err
	}
	lanes = make([]tables.Lane, len(page.Items))
	for i, item := range page.Items {
		if err := tables.Unmarshal(item, &lanes[i]); err != nil {
			return nil, nil, err
		}
		keys = append(keys, item.Key())
	}
	return lanes, keys, nil
}

// tryMove adds the waiting lanes of a sum to the target and deletes them, on condition
// that they are unchanged.
func (f reader) tryMove(ctx context.Context, s sum) error {
	lanes, keys, err := f.lanes(ctx, s)
	if err != nil || len(lanes) == 0 {
		return err
	}
	var n, at int64
	var writes []tables.Write
	for i, l := range lanes {
		n, at = n+l.N, max(at, l.At)
		writes = append(writes, l.Take(keys[i]))
	}
	to, err := f.target(lanes[0])
	if err != nil {
		return err
	}
	items, err := f.Table.Get(ctx, tables.Strong, to.key)
	if err != nil {
		return err
	}
	if items[0] != nil && (n != 0 || at != 0) { // a deleted target loses the sum
		more, err := to.apply(ctx, items[0], n, at)
		if err != nil {
			return err
		}
		writes = append(writes, more...)
	}
	return f.Transact(ctx, writes...)
}

// setAside returns the write that adds n to one of a target's lanes; none if n is 0.
func (f reader) setAside(to target, n int64) []tables.Write {
	if n == 0 {
		return nil
	}
	return []tables.Write{to.lane.Add(f.anyLane(to), nil, n, 0)}
}

// anyLane returns the key of a random lane of the target.
func (f reader) anyLane(t target) tables.Key {
	return tables.LaneKey(t.key, t.lane.To, f.Intn(tables.LanesMost))
}
