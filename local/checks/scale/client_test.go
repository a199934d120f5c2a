package scale

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/local/checks/turns"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// TestClient checks that the real client and retry.Table understand the model's answers.
func TestClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := commits(t)
		limits := AWS
		m.spaces[""] = newSpace("", 2, &limits)
		w := &world{dice: 1, model: m, turns: turns.New(1, nil)}
		w.rng = w.dice.Source("client")
		c := retry.Over(newClient(w), func(n int64) int64 { return n - 1 })
		var keys [2]tables.Key // one in each range
		for i := 0; keys[0].PK == "" || keys[1].PK == ""; i++ {
			k := tables.Key{PK: fmt.Sprint("A#", i), SK: "PROFILE"}
			keys[m.spaces[""].at(placeOf(k.PK, k.SK)).id] = k
		}
		item := func(i int) tables.Write {
			return tables.Put(tables.Item{tables.AttrPK: keys[i].PK, tables.AttrSK: keys[i].SK})
		}
		for i := range keys {
			if err := w.put(item(i)); err != nil {
				t.Fatal(err)
			}
		}
		// fill takes units of the upper range. before is the time until the next full second.
		fill := func(k kind, units float64, before time.Duration) {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(2*time.Second - before)))
			m.spaces[""].takes(placeOf(keys[1].PK, keys[1].SK), k, units, time.Now())
		}
		try := func(do func(context.Context) error) (attempts int64, err error) {
			w.start("try", func(ctx context.Context, j *job) {
				err = do(ctx)
				attempts = j.attempts.Load()
			})
			w.turns.Pass(time.Now().Add(4 * time.Second))
			return attempts, err
		}

		fill(reads, 3000, 3*time.Millisecond) // the retry falls into the next second
		var items []tables.Item
		attempts, err := try(func(ctx context.Context) (err error) {
			items, err = c.Get(ctx, tables.Strong, keys[:]...)
			return err
		})
		if err != nil || len(items) != 2 || items[0] == nil || items[1] == nil || attempts != 2 {
			t.Errorf("a batch with a throttled key: got %v and %v after %d attempts, want both items after 2", items, err, attempts)
		}

		fill(writes, 1000, 20*time.Millisecond)
		attempts, err = try(func(ctx context.Context) error {
			return c.Commit(ctx, tables.Tx{Writes: []tables.Write{item(0), item(1)}})
		})
		if err == nil && attempts < 2 || err != nil && !errors.Is(err, tables.ErrThrottled) {
			t.Errorf("a throttled transaction: got %v after %d attempts, want it throttled, or made after several", err, attempts)
		}

		fill(writes, 0, time.Second)
		m.locks[keys[0]] = time.Now().Add(time.Minute)
		for _, writes := range [][]tables.Write{{item(0)}, {item(0), item(1)}} {
			attempts, err = try(func(ctx context.Context) error { return c.Commit(ctx, tables.Tx{Writes: writes}) })
			if !errors.Is(err, tables.ErrConflict) || attempts < 2 {
				t.Errorf("%d writes in conflict: got %v after %d attempts, want a conflict after several", len(writes), err, attempts)
			}
		}
		m.closed = func(time.Time) bool { return true }
		attempts, err = try(func(ctx context.Context) error {
			_, err := c.Query(ctx, tables.Query{PK: keys[0].PK})
			return err
		})
		if !errors.Is(err, tables.ErrThrottled) || attempts < 1 {
			t.Errorf("a query of a closed table: got %v after %d attempts, want it throttled after at least one", err, attempts)
		}
	})
}
