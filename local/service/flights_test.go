package service_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"agentsocial/tables"
)

// flights refuses a commit that meets another one under way in any item, as
// DynamoDB does: whether either changes the item or only holds a condition on it.
type flights struct {
	tables.Backend
	take  time.Duration // what a commit takes, at least
	mu    sync.Mutex
	under map[tables.Key]bool
	met   map[tables.Key]int  // how often commits met there, since the last reset
	keys  map[tables.Key]bool // of all commits since
}

func (f *flights) Commit(ctx context.Context, tx tables.Tx) error {
	if err := f.begin(tx); err != nil {
		return err
	}
	time.Sleep(f.take)
	err := f.Backend.Commit(ctx, tx)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range tx.Writes {
		delete(f.under, w.Key)
	}
	return err
}

func (f *flights) begin(tx tables.Tx) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range tx.Writes {
		if f.under[w.Key] {
			f.met[w.Key]++
			err = fmt.Errorf("%v is under way: %w", w.Key, tables.ErrConflict)
		}
	}
	for _, w := range tx.Writes {
		f.keys[w.Key] = true
		if err == nil {
			f.under[w.Key] = true
		}
	}
	return err
}

// wrap puts it before a table.
func (f *flights) wrap(b tables.Backend) tables.Backend {
	f.Backend, f.under = b, map[tables.Key]bool{}
	f.reset()
	return f
}

// reset forgets what was seen so far.
func (f *flights) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.met, f.keys = map[tables.Key]int{}, map[tables.Key]bool{}
}

// touched are the items of all that is committed meanwhile.
func (f *flights) touched(do func()) map[tables.Key]bool {
	f.reset()
	do()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keys
}

// meetings is how often commits met in an item.
func (f *flights) meetings(k tables.Key) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.met[k]
}
