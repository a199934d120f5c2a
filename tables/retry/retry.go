// Package retry repeats calls of a table that fail for a moment. While a request
// is served, no other code repeats them.
//
//   - A conflict is repeated for two seconds: the table works, and the other writer
//     ends soon.
//   - A throttled, lost or unsent call is repeated at most twice, and only while the
//     process has tokens ([bucket]), so a table that refuses everything soon gets each
//     call once. With [Patiently] it is repeated for ten seconds.
//   - With [Never], no call is repeated.
//   - A partition that stays throttled is remembered for a moment ([hot]). Calls of it
//     are then refused without an attempt.
package retry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"agentsocial/tables"
)

const (
	conflictFor = 2 * time.Second // how long conflicts are repeated

	attemptsMost = 3 // of a refused call that is not patient

	patience = 10 * time.Second // how long a patient caller repeats a refused call
	apart    = time.Second      // the mean of its pauses if no attempt was made or no token is left

	// Pauses are random ("full jitter"), so that callers refused together do not come back
	// together. Their upper bound begins with firstConflict or firstRefusal, and doubles up
	// to longest (apart for the refusals of a patient caller).
	firstConflict = 5 * time.Millisecond
	firstRefusal  = 50 * time.Millisecond
	longest       = 400 * time.Millisecond
)

// Table is a table whose calls are repeated. One Table serves a whole process. It is safe
// for concurrent use.
type Table struct {
	below  tables.Backend
	random func(n int64) int64 // in [0, n)
	bucket bucket
	hot    hot
}

var _ tables.Backend = (*Table)(nil)

// Over returns a Table over the backend below. random(n) is in [0, n).
func Over(below tables.Backend, random func(n int64) int64) *Table {
	return &Table{below: below, random: random, bucket: bucket{tokens: full}}
}

// New returns a Table for [Table.Do] alone.
func New(random func(n int64) int64) *Table { return Over(nil, random) }

// Do calls do as if it were a call of the table, and repeats it after the same errors.
func (t *Table) Do(ctx context.Context, do func() error) error {
	return t.run(ctx, nil, "", false, true, do)
}

// Get implements [tables.Backend]. Each attempt reads only the keys that no attempt has
// read yet.
func (t *Table) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	var items []tables.Item
	var left []int // indices of the keys still to read; nil until an attempt has read a part
	err := t.run(ctx, keys, "", false, true, func() error {
		part := keys
		if left != nil {
			part = make([]tables.Key, len(left))
			for i, at := range left {
				part[i] = keys[at]
			}
		}
		got, err := t.below.Get(ctx, c, part...)
		if err == nil && left == nil {
			items = got
			return nil
		}
		refused := refusedBy(err)
		if err != nil && (refused == nil || got == nil) {
			return err
		}
		if left == nil {
			items, left = make([]tables.Item, len(keys)), make([]int, len(keys))
			for i := range keys {
				left[i] = i
			}
		}
		var still []int
		for i, at := range left {
			if refused[part[i]] {
				still = append(still, at)
			} else {
				items[at] = got[i]
			}
		}
		if left = still; left == nil {
			return nil
		}
		return err
	})
	if err != nil && len(left) == len(keys) {
		items = nil
	}
	return items, err
}

// refusedBy returns the keys that an error names as throttled; nil if it names none.
func refusedBy(err error) map[tables.Key]bool {
	var t *tables.Throttled
	if !errors.As(err, &t) || t.Keys == nil {
		return nil
	}
	keys := make(map[tables.Key]bool, len(t.Keys))
	for _, k := range t.Keys {
		keys[k] = true
	}
	return keys
}

// Query implements [tables.Backend].
func (t *Table) Query(ctx context.Context, q tables.Query) (page tables.Page, err error) {
	err = t.run(ctx, []tables.Key{{PK: q.PK}}, q.Index, false, true, func() (err error) {
		page, err = t.below.Query(ctx, q)
		return err
	})
	return page, err
}

// Commit implements [tables.Backend]. After a lost answer, it repeats a transaction that
// has a Tx.Token or may be made twice. It gives a transaction of several writes a Tx.Token,
// which costs nothing.
func (t *Table) Commit(ctx context.Context, tx tables.Tx) error {
	if tx.Token == "" && len(tx.Writes) > 1 {
		tx.Token = fmt.Sprintf("%016x%016x", t.random(math.MaxInt64), t.random(math.MaxInt64))
	}
	keys := make([]tables.Key, len(tx.Writes))
	for i, w := range tx.Writes {
		keys[i] = w.Key
	}
	return t.run(ctx, keys, "", true, tx.Token != "" || tx.Twice, func() error { return t.below.Commit(ctx, tx) })
}

// run makes a call of some keys until it succeeds, fails for good, or may not be repeated.
// twice says whether it may be made again after a lost answer. After a lost answer, a
// refusal or a conflict leaves the outcome open.
func (t *Table) run(ctx context.Context, keys []tables.Key, index tables.Index, write, twice bool, do func() error) error {
	places := func() []place {
		at := make([]place, len(keys))
		for i, k := range keys {
			at[i] = place{index, k.PK, write}
		}
		return at
	}
	began, lost := time.Now(), false // real time, not the App's: the waits are real
	for tries := 1; ; tries++ {
		var err error
		if t.hot.any() {
			err = t.hot.refuse(places(), keys)
		}
		remembered := err != nil
		if !remembered {
			err = do()
		}
		lost = lost || errors.Is(err, tables.ErrUnknownOutcome)
		pause, again := t.again(ctx, err, tries, time.Since(began), remembered, twice)
		if again && wait(ctx, pause) {
			continue
		}
		if !remembered && errors.Is(err, tables.ErrThrottled) {
			t.remember(places(), err)
		}
		if lost && !errors.Is(err, tables.ErrUnknownOutcome) && Repeatable(err) {
			err = fmt.Errorf("%w, and then: %v", tables.ErrUnknownOutcome, err)
		}
		return err
	}
}

// Repeatable reports whether a call that failed with err may succeed if it is repeated.
func Repeatable(err error) bool {
	return errors.Is(err, tables.ErrConflict) || refused(err)
}

// refused reports whether a call was throttled, unsent or lost.
func refused(err error) bool {
	return errors.Is(err, tables.ErrThrottled) || errors.Is(err, tables.ErrUnreachable) || errors.Is(err, tables.ErrUnknownOutcome)
}

// again decides whether a call is repeated after an error, and how long it waits first.
// remembered says that the partition was remembered as throttled, so no attempt was made.
func (t *Table) again(ctx context.Context, err error, tries int, took time.Duration, remembered, twice bool) (time.Duration, bool) {
	how := mannerOf(ctx)
	switch {
	case err == nil || !Repeatable(err):
		t.bucket.put()
		return 0, false
	case how == never || ctx.Err() != nil || errors.Is(err, tables.ErrUnknownOutcome) && !twice:
		return 0, false
	case errors.Is(err, tables.ErrConflict):
		return t.jitter(firstConflict, tries, longest), took < conflictFor
	case how == patient:
		if took >= patience {
			return 0, false
		}
		if remembered || !t.bucket.take() {
			return apart/2 + t.upTo(apart), true
		}
		return t.jitter(firstRefusal, tries, apart), true
	}
	return t.jitter(firstRefusal, tries, longest), !remembered && tries < attemptsMost && t.bucket.take()
}

func (t *Table) jitter(first time.Duration, tries int, most time.Duration) time.Duration {
	return t.upTo(min(first<<min(tries-1, 10), most))
}

func (t *Table) upTo(d time.Duration) time.Duration { return time.Duration(t.random(int64(d))) }

// wait returns false if ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// remember notes the places that an error names as throttled. If it names none, and the
// call has only one place, remember notes that place.
func (t *Table) remember(at []place, err error) {
	named := map[string]bool{} // by partition
	for k := range refusedBy(err) {
		named[k.PK] = true
	}
	only := len(slices.Compact(slices.Clone(at))) == 1
	until := time.Now().Add(HotFor/2 + t.upTo(HotFor/2))
	for _, p := range at {
		if named[p.pk] || len(named) == 0 && only {
			t.hot.add(p, until)
		}
	}
}
