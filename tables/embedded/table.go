// Package embedded implements the table in one file, or in memory, for the local service
// and most tests. It behaves as DynamoDB does, limits and refusals included, and can inject
// failures that DynamoDB allows ([Faults]).
//
// Its limits are those that DynamoDB documents ("Constraints" in the developer guide), except
// for two narrower ones of package tables:
//
//   - A write has a bounded number of conditions and updates. DynamoDB's limits, 300
//     operators and 4 KB of an expression, depend on how the expression is written.
//   - A sum must fit an int64. DynamoDB stores 38 digits, which the contract cannot return.
//
// Two differences from DynamoDB remain:
//
//   - An update of an absent item creates it even if it only removes attributes, as on
//     DynamoDB Local.
//   - Entries of an index with equal sort keys are in the order of the items' keys.
//     DynamoDB's order is not specified.
//
// Reads, writes and sweeps work on a few ordered trees (engine.go). bbolt stores them
// durably in a file; in memory they are B-trees.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"agentsocial/tables"
)

// Memory is the path of a table that is in memory only.
const Memory = ":memory:"

// Config configures a table.
type Config struct {
	Path   string           // created if it does not exist; "" or Memory: in memory only
	Now    func() time.Time // the clock of TTL, tokens and the feed; time.Now if nil
	Faults Faults           // see [Table.SetFaults]
}

// Table implements [tables.Backend], [tables.Feed], [tables.Checkpoints] and
// [tables.Scanner].
type Table struct {
	engine  engine
	now     func() time.Time
	faults  atomic.Pointer[Faults]
	past    past
	trims   atomic.Bool                                    // readers are declared
	wants   atomic.Pointer[func(tables.StreamRecord) bool] // the changes that enter the feed; nil: all
	later   chan struct{}                                  // has an entry for each commit that is answered but not made; nil in memory
	closing chan struct{}                                  // closed when Close begins
	close   sync.Once

	feedMu  sync.Mutex
	feedNew chan struct{} // closed when the feed has grown; nil until the next reader comes
}

var (
	_ tables.Backend = (*Table)(nil)
	_ tables.Feed    = (*Table)(nil)
)

// ErrClosed is the error of calls to a closed table.
var ErrClosed = errors.New("embedded: the table is closed")

// Open opens a table. The caller closes it.
func Open(c Config) (*Table, error) {
	t := &Table{now: c.Now, closing: make(chan struct{})}
	if t.now == nil {
		t.now = time.Now
	}
	t.SetFaults(c.Faults)
	if c.Path == "" || c.Path == Memory {
		t.engine = openMemory()
		return t, nil
	}
	f, err := openFile(c.Path)
	if err != nil {
		return nil, fmt.Errorf("embedded: opening %s: %w", c.Path, err)
	}
	t.engine, t.later = f, make(chan struct{}, laterMost)
	return t, nil
}

// Close waits for running reads and writes, then closes the table. Data in memory is lost.
func (t *Table) Close() error {
	var err error
	t.close.Do(func() {
		close(t.closing)
		t.past.forget()
		err = t.engine.close()
	})
	return err
}

// view reads the current snapshot, or the oldest past one if stale is set and there is one.
func (t *Table) view(stale bool, read func(*trees) error) error {
	if stale {
		if found, err := t.past.view(read); found {
			return err
		}
	}
	now, end, err := t.engine.read()
	if err != nil {
		return err
	}
	defer end()
	return read(now)
}

// run runs work on the current table, and wakes readers that wait for changes.
func (t *Table) run(ctx context.Context, work func(*state) error) error {
	var s state
	err := t.engine.write(ctx, func(now *trees) error {
		if t.faults.Load() != nil {
			if err := t.past.remember(t.engine); err != nil {
				return fmt.Errorf("embedded: %w", err)
			}
		}
		s = state{trees: now, at: t.now(), trims: t.trims.Load()}
		if wants := t.wants.Load(); wants != nil {
			s.wants = *wants
		}
		return work(&s)
	})
	if err == nil && s.fed {
		t.announce()
	}
	return err
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{tables.ErrInvalid}, args...)...)
}
