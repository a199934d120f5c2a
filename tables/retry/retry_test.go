package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

var counter = tables.Key{PK: "P", SK: "S"}

func add(k tables.Key) tables.Write { return tables.Change(k, tables.Add("n", 1)) }

func tokened(token string, w ...tables.Write) tables.Tx { return tables.Tx{Token: token, Writes: w} }

// faulty returns a table whose nth commit has the fault f(n), from 1 on. It also returns
// the table below, and a count of the commits.
func faulty(t *testing.T, f func(n int64) embedded.Fault) (*retry.Table, *embedded.Table, *atomic.Int64) {
	t.Helper()
	commits := new(atomic.Int64)
	below, err := embedded.Open(embedded.Config{Faults: func(kind string, _ []tables.Key) embedded.Fault {
		if kind != embedded.KindCommit {
			return embedded.None
		}
		return f(commits.Add(1))
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { below.Close() })
	return retry.Over(below, rand.Int64N), below, commits
}

func count(t *testing.T, table tables.Backend, k tables.Key) int64 {
	t.Helper()
	items, err := table.Get(t.Context(), tables.Strong, k)
	if err != nil {
		t.Fatal(err)
	}
	return items[0].Int("n")
}

func TestAttemptsAreOneTransaction(t *testing.T) {
	for name, fault := range map[string]embedded.Fault{
		"lost answer": embedded.LostAnswer, "lost request": embedded.LostRequest,
		"conflict": embedded.Conflict, "throttled": embedded.Throttled,
	} {
		table, below, commits := faulty(t, func(n int64) embedded.Fault {
			if n <= 2 {
				return fault
			}
			return embedded.None
		})
		for i, token := range []string{"a", "b"} { // equal writes, but two transactions
			if err := table.Commit(t.Context(), tokened(token, add(counter))); err != nil {
				t.Fatalf("%s: got %v, want no error", name, err)
			}
			if n := count(t, below, counter); n != int64(i+1) {
				t.Errorf("%s: after %d transactions: got count %d, want %d", name, i+1, n, i+1)
			}
		}
		if n := commits.Load(); n != 4 {
			t.Errorf("%s: got %d commits, want 3 of the first transaction and 1 of the second", name, n)
		}
	}
}

func TestLostAnswers(t *testing.T) {
	for _, c := range []struct {
		tx       tables.Tx
		want     error
		attempts int64
	}{
		{tables.Tx{Writes: []tables.Write{add(counter)}}, tables.ErrUnknownOutcome, 1},
		{tables.Tx{Writes: []tables.Write{add(counter)}, Twice: true}, nil, 2},
		{tokened("a", add(counter)), nil, 2},
		{tables.Tx{Writes: []tables.Write{add(counter), add(tables.Key{PK: "P", SK: "T"})}}, nil, 2},
	} {
		table, _, commits := faulty(t, func(n int64) embedded.Fault {
			if n == 1 {
				return embedded.LostRequest
			}
			return embedded.None
		})
		if err := table.Commit(t.Context(), c.tx); !errors.Is(err, c.want) || commits.Load() != c.attempts {
			t.Errorf("%+v: got %v after %d attempts, want %v after %d", c.tx, err, commits.Load(), c.want, c.attempts)
		}
	}
}

func TestLostThenRefused(t *testing.T) {
	for name, then := range map[string]embedded.Fault{"throttled": embedded.Throttled, "conflict": embedded.Conflict} {
		synctest.Test(t, func(t *testing.T) {
			table, _, _ := faulty(t, func(n int64) embedded.Fault {
				if n == 1 {
					return embedded.LostAnswer
				}
				return then
			})
			err := table.Commit(t.Context(), tokened("a", add(counter)))
			if !errors.Is(err, tables.ErrUnknownOutcome) || errors.Is(err, tables.ErrThrottled) || errors.Is(err, tables.ErrConflict) {
				t.Errorf("%s: got %v, want an unknown outcome only", name, err)
			}
		})
	}
}

// Conflicts take no tokens.
func TestConflictsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, below, commits := faulty(t, func(int64) embedded.Fault { return embedded.Conflict })
		for range 3 {
			commits.Store(0)
			began := time.Now()
			if err := table.Commit(t.Context(), tokened("a", add(counter))); !errors.Is(err, tables.ErrConflict) {
				t.Errorf("Commit = %v, want a conflict", err)
			}
			if d := time.Since(began); d < 2*time.Second || d > 2400*time.Millisecond {
				t.Errorf("Commit gave up after %s, want 2 s to 2.4 s", d)
			}
			if n := commits.Load(); n < 8 || n > 100 {
				t.Errorf("got %d tries, want 8 to 100", n)
			}
		}
		if n := count(t, below, counter); n != 0 {
			t.Errorf("count = %d, want 0", n)
		}
	})
}

func TestPermanentErrors(t *testing.T) {
	table, below, commits := faulty(t, func(int64) embedded.Fault { return embedded.None })
	var cancelled *tables.Cancelled
	if err := table.Commit(t.Context(), tokened("a", add(counter).When(tables.ItemExists()))); !errors.As(err, &cancelled) {
		t.Errorf("Commit = %v, want the failed condition", err)
	}
	if n := commits.Load(); n != 1 || count(t, below, counter) != 0 {
		t.Errorf("got %d tries and a count of %d, want 1 and 0", n, count(t, below, counter))
	}
	if err := table.Commit(t.Context(), tokened("a", add(counter), add(counter))); !errors.Is(err, tables.ErrInvalid) || commits.Load() > 2 {
		t.Errorf("Commit = %v after %d tries, want ErrInvalid after at most 1", err, commits.Load()-1)
	}
}

func TestRepeatingEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		table, _, commits := faulty(t, func(n int64) embedded.Fault {
			if n == 2 {
				cancel()
			}
			return embedded.Conflict
		})
		began := time.Now()
		if err := table.Commit(ctx, tokened("a", add(counter))); !errors.Is(err, tables.ErrConflict) || commits.Load() != 2 {
			t.Errorf("Commit = %v after %d commits, want a conflict after 2", err, commits.Load())
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("Commit took %s, want at most 1 s", d)
		}
	})
}

// partitioned is a table that refuses some partitions. As in DynamoDB, its Get reads the
// others, and the error names the refused keys.
type partitioned struct {
	tables.Backend
	mu       sync.Mutex
	refuses  func(pk string) bool
	attempts map[string]int
	all      int
}

func open(t *testing.T) (*retry.Table, *partitioned) {
	t.Helper()
	below, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { below.Close() })
	p := &partitioned{Backend: below, attempts: map[string]int{}, refuses: func(string) bool { return false }}
	return retry.Over(p, rand.Int64N), p
}

func (p *partitioned) refuse(keys ...tables.Key) (refused []tables.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all++
	for _, k := range keys {
		p.attempts[k.PK]++
		if p.refuses(k.PK) {
			refused = append(refused, k)
		}
	}
	return refused
}

func (p *partitioned) set(refuses func(string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = refuses
}

func (p *partitioned) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	refused := p.refuse(keys...)
	items, err := p.Backend.Get(ctx, c, keys...)
	if refused == nil || err != nil {
		return items, err
	}
	for i, k := range keys {
		if slices.Contains(refused, k) {
			items[i] = nil
		}
	}
	return items, &tables.Throttled{Keys: refused}
}

func (p *partitioned) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if p.refuse(tables.Key{PK: q.PK}) != nil {
		return tables.Page{}, tables.ErrThrottled
	}
	return p.Backend.Query(ctx, q)
}

func (p *partitioned) Commit(ctx context.Context, tx tables.Tx) error {
	keys := make([]tables.Key, len(tx.Writes))
	for i, w := range tx.Writes {
		keys[i] = w.Key
	}
	if refused := p.refuse(keys...); refused != nil {
		return &tables.Throttled{Keys: refused}
	}
	return p.Backend.Commit(ctx, tx)
}

func everything(string) bool { return true }
func nothing(string) bool    { return false }

// tokens numbers the transactions.
var tokens atomic.Int64

var kinds = map[string]func(context.Context, tables.Backend, string) error{
	"get": func(ctx context.Context, b tables.Backend, pk string) error {
		_, err := b.Get(ctx, tables.Strong, tables.Key{PK: pk, SK: "S"})
		return err
	},
	"batch": func(ctx context.Context, b tables.Backend, pk string) error {
		_, err := b.Get(ctx, tables.Strong, tables.Key{PK: pk, SK: "S"}, tables.Key{PK: pk, SK: "T"})
		return err
	},
	"query": func(ctx context.Context, b tables.Backend, pk string) error {
		_, err := b.Query(ctx, tables.Query{PK: pk})
		return err
	},
	"write": func(ctx context.Context, b tables.Backend, pk string) error {
		return b.Commit(ctx, tables.Tx{Writes: []tables.Write{add(tables.Key{PK: pk, SK: "S"})}})
	},
	"transaction": func(ctx context.Context, b tables.Backend, pk string) error {
		return b.Commit(ctx, tokened(fmt.Sprint(tokens.Add(1)), add(tables.Key{PK: pk, SK: "S"}), add(tables.Key{PK: pk, SK: "T"})))
	},
}

// The load on a table that refuses everything stays below 1.1 attempts a call.
func TestEverythingThrottled(t *testing.T) {
	for kind, call := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, below := open(t)
				below.set(everything)
				calls, slowest := 0, time.Duration(0)
				began := time.Now()
				for ; time.Since(began) < time.Minute; calls++ {
					at := time.Now()
					// A new partition, which is not remembered as throttled.
					if err := call(t.Context(), table, "P"+time.Now().String()); !errors.Is(err, tables.ErrThrottled) {
						t.Fatalf("call %d: got %v, want %v", calls, err, tables.ErrThrottled)
					}
					slowest = max(slowest, time.Since(at))
					time.Sleep(50 * time.Millisecond)
				}
				if ratio := float64(below.all) / float64(calls); ratio >= 1.1 || ratio < 1 {
					t.Errorf("got %d attempts of %d calls, %.3f each; want at least 1 and less than 1.1", below.all, calls, ratio)
				}
				if slowest > 300*time.Millisecond {
					t.Errorf("the slowest refusal took %s, want at most 300 ms", slowest)
				}
				below.set(nothing)
				for range 100 {
					at := time.Now()
					if err := call(t.Context(), table, "Q"); err != nil || time.Since(at) > 0 {
						t.Fatalf("after the throttling: got %v after %s, want success at once", err, time.Since(at))
					}
				}
				refuseNext(below, 2)
				if err := call(t.Context(), table, "R"); err != nil {
					t.Errorf("a call that is throttled twice: got %v, want it repeated", err)
				}
			})
		})
	}
}

func refuseNext(p *partitioned, n int) {
	left := p.all + n
	p.set(func(string) bool { return p.all <= left })
}

func TestHalfTheKeysThrottled(t *testing.T) {
	for kind, call := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, below := open(t)
				below.set(func(pk string) bool { return pk == "bad" })
				calls := 0
				began := time.Now()
				for ; time.Since(began) < time.Minute; calls++ {
					at := time.Now()
					if err := call(t.Context(), table, "good"); err != nil || time.Since(at) > 0 {
						t.Fatalf("an unaffected key: got %v after %s, want success at once", err, time.Since(at))
					}
					if err := call(t.Context(), table, "bad"); !errors.Is(err, tables.ErrThrottled) {
						t.Fatalf("a throttled key: got %v, want %v", err, tables.ErrThrottled)
					}
					time.Sleep(20 * time.Millisecond)
				}
				// At most three attempts in half a second, each of one or two keys.
				if n := below.attempts["bad"]; n > 3*2*120 || n < 60 {
					t.Errorf("throttled keys tried by %d calls in a minute: got %d, want 60 to 720", calls, n)
				}
				below.set(nothing)
				time.Sleep(time.Second)
				if err := call(t.Context(), table, "bad"); err != nil {
					t.Errorf("a second after the throttling: got %v, want no error", err)
				}
			})
		})
	}
}

func TestReadsWritesAndIndexesThrottleApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, below := open(t)
		below.set(everything)
		if err := kinds["write"](t.Context(), table, "P"); !errors.Is(err, tables.ErrThrottled) {
			t.Fatalf("a refused write: got %v, want %v", err, tables.ErrThrottled)
		}
		below.set(nothing)
		if err := kinds["write"](t.Context(), table, "P"); !errors.Is(err, tables.ErrThrottled) {
			t.Errorf("a write right after: got %v, want %v", err, tables.ErrThrottled)
		}
		for _, q := range []tables.Query{{PK: "P"}, {PK: "P", Index: tables.ByRank}} {
			if _, err := table.Query(t.Context(), q); err != nil {
				t.Errorf("%+v: got %v, want no error", q, err)
			}
		}
	})
}

func TestPartsOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, below := open(t)
		a, b := tables.Key{PK: "a", SK: "S"}, tables.Key{PK: "b", SK: "S"}
		if err := table.Commit(t.Context(), tokened("t", add(a), add(b))); err != nil {
			t.Fatal(err)
		}
		clear(below.attempts)
		left := 1
		below.set(func(pk string) bool {
			if pk == "b" {
				left--
			}
			return pk == "b" && left >= 0
		})
		items, err := table.Get(t.Context(), tables.Strong, a, b, a)
		if err != nil || items[0] == nil || items[1] == nil || items[2] == nil {
			t.Errorf("b refused once: got %v, %v; want three items", items, err)
		}
		if below.attempts["a"] != 2 || below.attempts["b"] != 2 {
			t.Errorf("got attempts %v, want 2 of a in one batch, and 2 of b in two batches", below.attempts)
		}
		below.set(func(pk string) bool { return pk == "b" })
		items, err = table.Get(t.Context(), tables.Strong, a, b)
		var refused *tables.Throttled
		if !errors.As(err, &refused) || !slices.Equal(refused.Keys, []tables.Key{b}) || items[0] == nil || items[1] != nil {
			t.Errorf("b refused: got %v, %v; want the item of a, and b named as refused", items, err)
		}
		items, err = table.Get(t.Context(), tables.Strong, a, b)
		if !errors.As(err, &refused) || !slices.Equal(refused.Keys, []tables.Key{b}) || items != nil {
			t.Errorf("b refused again: got %v, %v; want no items, and b named as refused", items, err)
		}
	})
}

// A patient caller goes on without tokens, and while the partition is remembered as
// throttled.
func TestPatientlyAndNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, below := open(t)
		below.set(everything)
		for range 100 { // takes all tokens
			_ = kinds["get"](t.Context(), table, "P"+time.Now().String())
			time.Sleep(time.Millisecond)
		}
		_ = kinds["write"](t.Context(), table, "P")
		before, began := below.all, time.Now()
		go func() {
			time.Sleep(8 * time.Second)
			below.set(nothing)
		}()
		if err := kinds["write"](retry.Patiently(t.Context()), table, "P"); err != nil {
			t.Errorf("a patient write: got %v, want no error", err)
		}
		if took, n := time.Since(began), below.all-before; took < 8*time.Second || took > 10*time.Second || n > 16 {
			t.Errorf("a patient write took %s and %d attempts, want 8 to 10 s and at most 16", took, n)
		}
		below.set(everything)
		began = time.Now()
		if err := kinds["write"](retry.Patiently(t.Context()), table, "P"); !errors.Is(err, tables.ErrThrottled) {
			t.Errorf("a patient write that stays throttled: got %v, want %v", err, tables.ErrThrottled)
		}
		if took := time.Since(began); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("a patient write gave up after %s, want 10 to 12 s", took)
		}
		below.set(nothing)
		for range 100 {
			_ = kinds["get"](t.Context(), table, "Q")
		}
		below.set(everything)
		before = below.all
		if err := kinds["get"](retry.Never(t.Context()), table, "R"); !errors.Is(err, tables.ErrThrottled) || below.all != before+1 {
			t.Errorf("a call that is never repeated: got %v after %d attempts, want %v after one", err, below.all-before, tables.ErrThrottled)
		}
	})
}

func TestBudget(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		share := rapid.Float64Range(0, 1).Draw(r, "share")
		seed := rapid.Uint64().Draw(r, "seed")
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 0))
			attempts, answers := 0, 0
			table := retry.New(dice.Int64N)
			const calls = 400
			for range calls {
				_ = table.Do(t.Context(), func() error {
					if attempts++; dice.Float64() < share {
						return tables.ErrThrottled
					}
					answers++
					return nil
				})
			}
			if most := calls + 20 + answers/5; attempts > most {
				t.Errorf("share %v refused: got %d attempts of %d calls with %d answers, want at most %d", share, attempts, calls, answers, most)
			}
		})
	})
}
