package app_test

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var counter = tables.Key{PK: "P", SK: "S"}

// faulty returns an App whose table injects f's faults by the number of the commit,
// from 1.
func faulty(t *testing.T, f func(n int64) embedded.Fault) (*app.App, *embedded.Table, *atomic.Int64) {
	t.Helper()
	commits := new(atomic.Int64)
	table, err := embedded.Open(embedded.Config{Faults: func(kind string, _ []tables.Key) embedded.Fault {
		if kind != embedded.KindCommit {
			return embedded.None
		}
		return f(commits.Add(1))
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return &app.App{Table: table, Now: time.Now, Rand: rand.Reader}, table, commits
}

func count(t *testing.T, table *embedded.Table) int64 {
	t.Helper()
	items, err := table.Get(t.Context(), tables.Strong, counter)
	if err != nil {
		t.Fatal(err)
	}
	return items[0].Int("n")
}

func add() tables.Write { return tables.Change(counter, tables.Add("n", 1)) }

// Retries are one transaction: it counts once, whether the answer or the request was
// lost.
func TestTriesAreOneTransaction(t *testing.T) {
	for name, fault := range map[string]embedded.Fault{
		"lost answer": embedded.LostAnswer, "lost request": embedded.LostRequest,
		"conflict": embedded.Conflict, "throttled": embedded.Throttled,
	} {
		a, table, commits := faulty(t, func(n int64) embedded.Fault {
			if n <= 2 {
				return fault
			}
			return embedded.None
		})
		for i := range int64(2) { // equal writes in two transactions both count
			if err := a.Transact(t.Context(), add()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if n := count(t, table); n != i+1 {
				t.Errorf("%s: count after %d transactions = %d, want %d", name, i+1, n, i+1)
			}
		}
		if n := commits.Load(); n != 4 {
			t.Errorf("%s: got %d commits, want 3 and 1", name, n)
		}
	}
}

// After about two seconds of waiting, Transact gives up on conflicts. A busy
// machine does not prolong the wait here.
func TestConflictsAreGivenUp(t *testing.T) { synctest.Test(t, testConflictsAreGivenUp) }

func testConflictsAreGivenUp(t *testing.T) {
	a, table, commits := faulty(t, func(int64) embedded.Fault { return embedded.Conflict })
	began := time.Now()
	if err := a.Transact(t.Context(), add()); !errors.Is(err, tables.ErrConflict) {
		t.Errorf("Transact = %v, want a conflict", err)
	}
	if d := time.Since(began); d < time.Second || d > 4*time.Second {
		t.Errorf("gave up after %s, want 1 s to 4 s", d)
	}
	if n := commits.Load(); n < 5 || n > 1000 {
		t.Errorf("got %d tries, want 5 to 1000", n)
	}
	if n := count(t, table); n != 0 {
		t.Errorf("count = %d, want 0", n)
	}
}

// slowly commits after a number of conflicts, each a second later.
type slowly struct {
	tables.Backend
	conflicts int
}

func (s *slowly) Commit(context.Context, tables.Tx) error {
	time.Sleep(time.Second)
	if s.conflicts--; s.conflicts >= 0 {
		return tables.ErrConflict
	}
	return nil
}

// A busy machine does not give up sooner.
func TestBusyMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for conflicts, want := range map[int]error{7: nil, 8: tables.ErrConflict} {
			a := &app.App{Rand: rand.Reader, Table: &slowly{conflicts: conflicts}}
			if err := a.Transact(t.Context(), add()); !errors.Is(err, want) {
				t.Errorf("Transact after %d conflicts = %v, want %v", conflicts, err, want)
			}
		}
	})
}

// Permanent errors are not retried.
func TestPermanentErrorsAreNotRetried(t *testing.T) {
	a, table, commits := faulty(t, func(int64) embedded.Fault { return embedded.None })
	var cancelled *tables.Cancelled
	if err := a.Transact(t.Context(), add().When(tables.ItemExists())); !errors.As(err, &cancelled) || !cancelled.Reasons[0].Failed {
		t.Errorf("Transact = %v, want the failed condition", err)
	}
	if n := commits.Load(); n != 1 || count(t, table) != 0 {
		t.Errorf("got %d tries and a count of %d, want 1 and 0", n, count(t, table))
	}
	if err := a.Transact(t.Context(), add(), add()); !errors.Is(err, tables.ErrInvalid) || commits.Load() > 2 {
		t.Errorf("Transact = %v after %d tries, want ErrInvalid after at most 1", err, commits.Load()-1)
	}
}

// Waiting ends with the caller's context.
func TestRetriesEndWithContext(t *testing.T) { synctest.Test(t, testRetriesEndWithContext) }

func testRetriesEndWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a, _, commits := faulty(t, func(n int64) embedded.Fault {
		if n == 2 {
			cancel()
		}
		return embedded.Conflict
	})
	began := time.Now()
	if err := a.Transact(ctx, add()); !errors.Is(err, tables.ErrConflict) || commits.Load() != 2 {
		t.Errorf("Transact = %v after %d commits, want a conflict after 2", err, commits.Load())
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("Transact took %s, want at most 1 s", d)
	}
}
