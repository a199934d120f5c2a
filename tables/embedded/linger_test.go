package embedded

import (
	"context"
	"errors"
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

// Unhurried writes wait for the next hurried write, and share its transaction.
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
	if n := transactions(t, table) - before; n > 3*rounds/2 { // on a busy machine an unhurried write may come late
		t.Errorf("%d writes, a third of them hurried: got %d transactions, want at most %d", 3*rounds, n, 3*rounds/2)
	}
	begun := time.Now()
	if err := put(Unhurried(t.Context()), table, "alone"); err != nil || time.Since(begun) < linger {
		t.Errorf("an unhurried write alone: got %v after %v, want no error after at least %v", err, time.Since(begun), linger)
	}
	done := make(chan error)
	go func() { done <- put(Unhurried(t.Context()), table, "last") }()
	time.Sleep(linger / 3)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil && err != ErrClosed {
		t.Errorf("an unhurried write while the table closes: got %v, want no error or %v", err, ErrClosed)
	}
}

// A commit that may be lost is answered before it is made, except in memory and while
// laterMost others wait.
func TestLosable(t *testing.T) {
	table := openAt(t, filepath.Join(t.TempDir(), "table"))
	count := func(table *Table, most int64) error {
		return table.Commit(tables.Losable(t.Context()), tables.Tx{Writes: []tables.Write{
			tables.Change(tables.Key{PK: "P", SK: "count"}, tables.Add("n", 1)).When(tables.AbsentOrBefore("n", most)),
		}})
	}
	counted := func(table *Table) int64 {
		items, err := table.Get(t.Context(), tables.Strong, tables.Key{PK: "P", SK: "count"})
		if err != nil {
			t.Fatal(err)
		}
		return items[0].Int("n")
	}
	settled := func() {
		for len(table.later) > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	before := transactions(t, table)
	for range 100 {
		if err := count(table, 80); err != nil && !errors.As(err, new(*tables.Cancelled)) {
			t.Fatal(err)
		}
	}
	settled()
	if n := transactions(t, table) - before; n > 50 { // on a busy machine answers are slow
		t.Errorf("100 commits that may be lost: got %d transactions, want at most 50", n)
	}
	if n := counted(table); n != 80 {
		t.Errorf("100 commits: got %d made, want the 80 whose condition holds", n)
	}
	if err := count(table, 80); !errors.As(err, new(*tables.Cancelled)) {
		t.Errorf("a commit whose condition fails: got %v, want a refusal", err)
	}
	for range laterMost {
		table.later <- struct{}{}
	}
	if err := count(table, 100); err != nil || counted(table) != 81 {
		t.Errorf("while too many commits wait: got error %v and %d commits made, want none and 81", err, counted(table))
	}

	memory := openAt(t, Memory)
	if err := count(memory, 80); err != nil || counted(memory) != 1 {
		t.Errorf("in memory: got error %v and %d commits made, want none and 1", err, counted(memory))
	}
}
