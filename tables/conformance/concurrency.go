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

// persist commits, and repeats while the commit conflicts or is throttled.
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
						t.Errorf("adding to one counter: %v", err)
					}
					if err := persist(t.Context(), b, tables.Change(one, tables.Add("n", 1)), tables.Change(two, tables.Add("n", -1))); err != nil {
						t.Errorf("adding to two counters: %v", err)
					}
				}
			})
		}
		all.Wait()
		wantItem(t, b, alone, item(alone, "n", int64(writers*rounds)))
		wantItem(t, b, one, item(one, "n", int64(writers*rounds)))
		wantItem(t, b, two, item(two, "n", int64(-writers*rounds)))
	})
	t.Run("one claim succeeds", func(t *testing.T) {
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
							t.Errorf("writer %d succeeded: got the claim %v, want its own", w, got)
						}
					case !errors.As(err, &lost):
						t.Errorf("writer %d: got %v, want success or a *Cancelled", w, err)
					case lost.Reasons[0].Old == nil:
						t.Error("reason of a lost claim: got no item, want the claim")
					}
				})
			}
			all.Wait()
			if won.Load() != 1 {
				t.Errorf("writers that got the claim: got %d, want 1", won.Load())
			}
		}
	})
	t.Run("a key goes to one agent", func(t *testing.T) {
		ways := map[string]func(pub, agent string) tables.Write{
			"registers": tables.OriginalKeyClaim,
			"adds":      func(pub, agent string) tables.Write { return (&tables.AgentKey{Pub: pub}).Claim(agent) },
		}
		for fox, foxes := range ways {
			for owl, owls := range ways {
				pub := fox + " " + owl
				mustCommit(t, b, foxes(pub, "ag_fox"))
				mustCancel(t, b, []tables.Reason{{Failed: true, Old: read(t, b, tables.KeyClaimKey(pub))}}, owls(pub, "ag_owl"))
				for round := range rounds {
					pub := fmt.Sprint(fox, owl, round)
					var won atomic.Int64
					var all sync.WaitGroup
					for agent, claim := range map[string]tables.Write{"ag_fox": foxes(pub, "ag_fox"), "ag_owl": owls(pub, "ag_owl")} {
						all.Go(func() {
							var lost *tables.Cancelled
							switch err := persist(t.Context(), b, claim, tables.Put(item(k(agent, pub)))); {
							case err == nil:
								won.Add(1)
							case !errors.As(err, &lost):
								t.Errorf("%s: got %v, want success or a *Cancelled", agent, err)
							}
						})
					}
					all.Wait()
					if won.Load() != 1 {
						t.Errorf("fox %s, owl %s: got %d agents with the key, want 1", fox, owl, won.Load())
					}
				}
			}
		}
	})
	t.Run("a budget is never overdrawn", func(t *testing.T) {
		budget := k("budget", "1")
		mustCommit(t, b, tables.Put(item(budget, "left", int64(10))))
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
		wantItem(t, b, budget, item(budget, "left", int64(1)))
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
						t.Errorf("commit with the token: %v", err)
						return
					}
				}
			})
		}
		all.Wait()
		wantItem(t, b, key, item(key, "n", int64(1)))
	})
}

func testEndedContext(t *testing.T, b tables.Backend) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	key := k("ended", "1")
	if _, err := b.Get(ctx, tables.Strong, key); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: got %v, want %v", err, context.Canceled)
	}
	if _, err := b.Query(ctx, tables.Query{PK: "ended"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Query: got %v, want %v", err, context.Canceled)
	}
	if err := commit(ctx, b, tables.Put(item(key))); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit: got %v, want %v", err, context.Canceled)
	}
	wantItem(t, b, key, nil)
}
