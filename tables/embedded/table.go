// Package embedded is the table in one file, or in memory: what the local
// runner and most tests use instead of DynamoDB. It behaves as DynamoDB does,
// limits and refusals included, and can be told to behave as badly as DynamoDB
// is allowed to ([Faults]).
//
// What it means to read, to write and to sweep stands here once, over a few
// ordered trees (engine.go). They are kept by bbolt in a file, durably, or by
// B-trees of decoded items in memory.
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

// Config says where a table is and how it behaves.
type Config struct {
	Path   string           // the file, made if it does not exist; "" or Memory for none
	Now    func() time.Time // the clock of TTL, tokens and the feed; time.Now if nil
	Faults Faults           // see [Table.SetFaults]
}

// Table is a table. It implements [tables.Backend] and [tables.Feed].
type Table struct {
	engine  engine
	now     func() time.Time
	faults  atomic.Pointer[Faults]
	past    past
	closing chan struct{} // closed when Close begins
	close   sync.Once

	feedMu  sync.Mutex
	feedNew chan struct{} // closed when the feed has grown; nil while nobody waits
}

var (
	_ tables.Backend = (*Table)(nil)
	_ tables.Feed    = (*Table)(nil)
)

// ErrClosed is what a closed table answers.
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
	t.engine = f
	return t, nil
}

// Close waits for the calls that are under way and closes the table. What was
// in memory is gone.
func (t *Table) Close() error {
	var err error
	t.close.Do(func() {
		close(t.closing)
		t.past.forget()
		err = t.engine.close()
	})
	return err
}

// view reads from a snapshot: of now, or of some commits ago if stale is
// wanted and there is one.
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

// run has work done on the table as it stands, and tells those who wait for
// changes.
func (t *Table) run(ctx context.Context, work func(*state) error) error {
	var s state
	err := t.engine.write(ctx, func(now *trees) error {
		if t.faults.Load() != nil {
			if err := t.past.remember(t.engine); err != nil {
				return fmt.Errorf("embedded: %w", err)
			}
		}
		s = state{trees: now, at: t.now()}
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
