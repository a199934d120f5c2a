package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// TestSerializable moves money between accounts under faults. The sum never changes.
func TestSerializable(t *testing.T) { onBoth(t, testSerializable) }

func testSerializable(t *testing.T, path string) {
	const accounts, workers, moves = 5, 12, 60
	table := open(t, embedded.Config{Path: path})
	var keys []key
	for a := range accounts {
		keys = append(keys, at(fmt.Sprint("L#", a), "BALANCE"))
		commit(t, table, tables.Change(keys[a], tables.Add("n", 10)))
	}
	table.SetFaults(embedded.Random(1, embedded.Probabilities{Conflict: 0.1, Throttled: 0.1, LostRequest: 0.1, LostAnswer: 0.1}))
	var moved, refused atomic.Int64
	count := func() {
		items, err := table.Get(t.Context(), tables.Strong, keys...)
		if errors.Is(err, tables.ErrThrottled) {
			return
		}
		sum := int64(0)
		for _, i := range items {
			sum += i.Int("n")
			if i.Int("n") < 0 {
				t.Errorf("got balance %d, want none below 0", i.Int("n"))
			}
		}
		if err != nil || sum != accounts*10 {
			t.Errorf("got sum %d, %v; want %d", sum, err, accounts*10)
		}
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 0))
			for m := range moves {
				p := rng.Perm(accounts)
				n := 1 + rng.Int64N(8)
				tx := tables.Tx{Token: fmt.Sprint(w, "-", m), Writes: []tables.Write{
					tables.Change(keys[p[0]], tables.Add("n", -n)).When(tables.AtLeast("n", n)),
					tables.Change(keys[p[1]], tables.Add("n", n)),
					tables.Change(at("COUNT", "N"), tables.Add("n", 1)),
				}}
				switch err := settle(t.Context(), table, tx); {
				case err == nil:
					moved.Add(1)
				case errors.As(err, new(*tables.Cancelled)):
					refused.Add(1)
				default:
					t.Error(err)
				}
				count()
			}
		})
	}
	wg.Wait()
	table.SetFaults(nil)
	if n := get(t, table, at("COUNT", "N")).Int("n"); n != moved.Load() || n+refused.Load() != workers*moves {
		t.Fatalf("got %d moves counted, %d made, %d refused; want as many counted as made, and %d made or refused", n, moved.Load(), refused.Load(), workers*moves)
	}
	replay(t, table)
}

func settle(ctx context.Context, table tables.Backend, tx tables.Tx) error {
	for {
		err := table.Commit(ctx, tx)
		if !errors.Is(err, tables.ErrConflict) && !errors.Is(err, tables.ErrThrottled) && !errors.Is(err, tables.ErrUnknownOutcome) {
			return err
		}
	}
}

func TestCompareAndSet(t *testing.T) { onBoth(t, testCompareAndSet) }

func testCompareAndSet(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	k := at("P", "S")
	commit(t, table, tables.Put(item{"pk": "P", "sk": "S", "n": int64(0)}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for made := 0; made < 50; {
				items, err := table.Get(t.Context(), tables.Strong, k)
				if err != nil {
					t.Error(err)
					return
				}
				n := items[0].Int("n")
				err = table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{
					tables.Put(item{"pk": "P", "sk": "S", "n": n + 1}, tables.Equal("n", n)),
				}})
				var c *tables.Cancelled
				switch {
				case err == nil:
					made++
				case !errors.As(err, &c) || c.Reasons[0].Old.Int("n") <= n:
					t.Errorf("a put after reading %d: got %v, want it made, or cancelled with a higher old number", n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := get(t, table, k).Int("n"); n != 8*50 {
		t.Fatalf("got the number %d, want %d", n, 8*50)
	}
}

func TestChangesWait(t *testing.T) {
	onBoth(t, func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) { testChangesWait(t, path) })
	})
}

func testChangesWait(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	time.AfterFunc(30*time.Millisecond, func() { commit(t, table, tables.Put(item{"pk": "P", "sk": "S"})) })
	shards, err := table.Shards(t.Context())
	if err != nil || len(shards) != 1 || shards[0].Parent != "" {
		t.Fatalf("Shards: got %v, %v; want one without a parent", shards, err)
	}
	start := time.Now()
	records, _, err := table.Changes(t.Context(), shards[0].ID, "", 10, time.Second)
	if err != nil || len(records) != 1 || time.Since(start) != 30*time.Millisecond {
		t.Fatalf("Changes: got %v, %v after %v; want one record after 30 ms", records, err, time.Since(start))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := table.Changes(ctx, "shard-0", records[0].Seq, 10, time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Changes with a context that ends: got %v, want %v", err, context.DeadlineExceeded)
	}
	start = time.Now()
	if records, _, err := table.Changes(t.Context(), "shard-0", records[0].Seq, 10, 40*time.Millisecond); err != nil || len(records) != 0 || time.Since(start) != 40*time.Millisecond {
		t.Fatalf("Changes without a commit: got %v, %v after %v; want no records after 40 ms", records, err, time.Since(start))
	}
	time.AfterFunc(10*time.Millisecond, func() { table.Close() })
	if _, _, err := table.Changes(t.Context(), "shard-0", records[0].Seq, 10, time.Second); !errors.Is(err, embedded.ErrClosed) {
		t.Fatalf("Changes while the table is closed: got %v, want %v", err, embedded.ErrClosed)
	}
}

// A commit that has begun when its context ends is finished and acknowledged.
func TestCancelledContext(t *testing.T) { onBoth(t, testCancelledContext) }

func testCancelledContext(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	var made atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), rand.N(2*time.Millisecond))
			defer cancel()
			err := table.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.Change(at("P", "S"), tables.Add("n", 1))}})
			if err == nil {
				made.Add(1)
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := get(t, table, at("P", "S")).Int("n"); n != made.Load() {
		t.Fatalf("%d commits were made, want the %d that were acknowledged", n, made.Load())
	}
}

// The commit and the end of the wait come at the same time.
func TestChanges_WaitIsOver(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		table := open(t, embedded.Config{})
		const rounds = 20
		for n := range rounds {
			after := fmt.Sprint(n)
			var committed atomic.Bool
			go func() {
				time.Sleep(time.Second)
				commit(t, table, tables.Put(item{"pk": "P", "sk": after}))
				committed.Store(true)
			}()
			got, _, err := table.Changes(t.Context(), "shard-0", after, 10, time.Second)
			if err != nil || len(got) == 0 && committed.Load() {
				t.Fatalf("round %d, committed %t: got %v, %v; want no error, and the change if committed", n, committed.Load(), got, err)
			}
			synctest.Wait()
		}
	})
}
