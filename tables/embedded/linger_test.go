package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
)

// transactions returns the number of the file's newest transaction.
func transactions(t *testing.T, table *Table) (n int) {
	t.Helper()
	if err := table.engine.(*file).db.View(func(tx *bbolt.Tx) error { n = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func put(ctx context.Context, table *Table, sk string) error {
	return table.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.Put(tables.Item{"pk": "P", "sk": sk})}})
}

// Unhurried writes are made durable together with the next hurried one, which does not
// wait, or after a while.
func TestUnhurried(t *testing.T) {
	table := openAt(t, filepath.Join(t.TempDir(), "table"))
	const rounds = 20
	before := transactions(t, table)
	for n := range rounds {
		var wg sync.WaitGroup
		for reader := range 2 {
			wg.Go(func() {
				if err := put(Unhurried(t.Context()), table, fmt.Sprint("unhurried", n, reader)); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		if err := put(t.Context(), table, fmt.Sprint("hurried", n)); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	}
	if n := transactions(t, table) - before; n > 3*rounds/2 { // on a busy machine a reader may come late
		t.Errorf("%d writes of a request and two readers took %d transactions, want little more than %d", 3*rounds, n, rounds)
	}
	begun := time.Now()
	if err := put(Unhurried(t.Context()), table, "alone"); err != nil || time.Since(begun) < linger {
		t.Errorf("an unhurried write alone: got %v after %v, want it to wait %v", err, time.Since(begun), linger)
	}
	done := make(chan error)
	go func() { done <- put(Unhurried(t.Context()), table, "last") }()
	time.Sleep(linger / 3)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil && err != ErrClosed {
		t.Errorf("an unhurried write at the end: %v", err)
	}
}
