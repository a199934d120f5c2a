package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"agentsocial/tables"
)

// persist commits until it does not conflict.
func persist(ctx context.Context, b tables.Backend, writes ...tables.Write) error {
	for {
		err := commit(ctx, b, writes...)
		if !errors.Is(err, tables.ErrConflict) && !errors.Is(err, tables.ErrThrottled) {
			return err
		}
	}
}

func testConcurrency(t *testing.T, b tables.Backend) {
	const writers, rounds = 8, 8
	t.Run("counters lose nothing", func(t *testing.T) {
		alone, one, two := k("counter", "alone"), k("counter", "one"), k("counter", "two")
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range rounds {
					if err := persist(t.Context(), b, tables.Change(alone, tables.Add("n", 1))); err != nil {
						t.Error(err)
					}
					if err := persist(t.Context(), b, tables.Change(one, tables.Add("n", 1)), tables.Change(two, tables.Add("n", -1))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		stands(t, b, alone, item(alone, "n", int64(writers*rounds)))
		stands(t, b, one, item(one, "n", int64(writers*rounds)))
		stands(t, b, two, item(two, "n", int64(-writers*rounds)))
	})
	t.Run("one wins", func(t *testing.T) {
		for round := range rounds {
			claim := k("claim", fmt.Sprint(round))
			var won atomic.Int64
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					err := persist(t.Context(), b,
						tables.Put(item(claim, "by", int64(w)), tables.NoItem()),
						tables.Put(item(k("claimant", fmt.Sprint(round, w)))))
					var lost *tables.Cancelled
					switch {
					case err == nil:
						won.Add(1)
						if got := read(t, b, claim); got.Int("by") != int64(w) {
							t.Errorf("%d won, but reads %v", w, got)
						}
					case !errors.As(err, &lost):
						t.Error(err)
					case lost.Reasons[0].Old == nil:
						t.Error("lost against nobody")
					}
				})
			}
			all.Wait()
			if won.Load() != 1 {
				t.Errorf("%d won", won.Load())
			}
		}
	})
	t.Run("a budget is never overdrawn", func(t *testing.T) {
		budget := k("budget", "1")
		made(t, b, tables.Put(item(budget, "left", int64(10))))
		var spent atomic.Int64
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range rounds {
					err := persist(t.Context(), b, tables.Change(budget, tables.Add("left", -3)).When(tables.AtLeast("left", 3)))
					if err == nil {
						spent.Add(1)
					}
				}
			})
		}
		all.Wait()
		stands(t, b, budget, item(budget, "left", int64(1)))
		same(t, "times spent", spent.Load(), 3)
	})
	t.Run("one token, many attempts", func(t *testing.T) {
		key := k("token", "1")
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for {
					err := b.Commit(t.Context(), tables.Tx{Token: "the same", Writes: []tables.Write{tables.Change(key, tables.Add("n", 1))}})
					if err == nil {
						return
					}
					if !errors.Is(err, tables.ErrConflict) && !errors.Is(err, tables.ErrUnknownOutcome) {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		stands(t, b, key, item(key, "n", int64(1)))
	})
}

// testEndedContext: a call with a context that has ended does nothing.
func testEndedContext(t *testing.T, b tables.Backend) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	key := k("ended", "1")
	if _, err := b.Get(ctx, tables.Strong, key); !errors.Is(err, context.Canceled) {
		t.Errorf("get: %v", err)
	}
	if _, err := b.Query(ctx, tables.Query{PK: "ended"}); !errors.Is(err, context.Canceled) {
		t.Errorf("query: %v", err)
	}
	if err := commit(ctx, b, tables.Put(item(key))); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	stands(t, b, key, nil)
}
