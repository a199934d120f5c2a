package service_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"agentsocial/tables"
)

// overlaps refuses a commit if a running commit writes or checks one of the same items, as
// DynamoDB does.
type overlaps struct {
	tables.Backend
	take  time.Duration // the least duration of a commit
	mu    sync.Mutex
	under map[tables.Key]bool
	met   map[tables.Key]int  // conflicts since the last reset
	keys  map[tables.Key]bool // of all commits since the last reset
}

func (f *overlaps) Commit(ctx context.Context, tx tables.Tx) error {
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

func (f *overlaps) begin(tx tables.Tx) (err error) {
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

func (f *overlaps) wrap(b tables.Backend) tables.Backend {
	f.Backend, f.under = b, map[tables.Key]bool{}
	f.reset()
	return f
}

func (f *overlaps) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.met, f.keys = map[tables.Key]int{}, map[tables.Key]bool{}
}

// touched runs do and returns the keys of all commits meanwhile.
func (f *overlaps) touched(do func()) map[tables.Key]bool {
	f.reset()
	do()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keys
}

func (f *overlaps) conflicts(k tables.Key) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.met[k]
}
