package embedded_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func always(kind string, f embedded.Fault) embedded.Faults {
	return func(k string, _ []key) embedded.Fault {
		if k == kind {
			return f
		}
		return embedded.None
	}
}

func TestFaultsOfCommits(t *testing.T) {
	for _, c := range []struct {
		fault embedded.Fault
		err   error
		made  bool
	}{
		{embedded.None, nil, true},
		{embedded.Conflict, tables.ErrConflict, false},
		{embedded.Throttled, tables.ErrThrottled, false},
		{embedded.LostRequest, tables.ErrUnknownOutcome, false},
		{embedded.LostAnswer, tables.ErrUnknownOutcome, true},
		{embedded.Stale, nil, true},
	} {
		table := open(t, embedded.Config{Faults: always(embedded.KindCommit, c.fault)})
		err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(item{"pk": "P", "sk": "S"})}})
		if !errors.Is(err, c.err) || (get(t, table, at("P", "S")) != nil) != c.made {
			t.Errorf("fault %d: %v", c.fault, err)
		}
	}
}

func TestStaleReads(t *testing.T) {
	onBoth(t, func(t *testing.T, path string) {
		testGrowth(t, path)
		synctest.Test(t, func(t *testing.T) { testStaleReads(t, path) }) // what is stale is so for 50 ms
	})
}

// stale wants every read that may be stale to be so.
func stale(t *testing.T) embedded.Faults {
	return func(kind string, keys []key) embedded.Fault {
		if len(keys) != 1 || keys[0].PK == "" {
			t.Errorf("%s of %v", kind, keys)
		}
		return embedded.Stale
	}
}

func numbered(n int64, size int) tables.Write {
	return tables.Put(item{"pk": "P", "sk": "S", "n": n, "b": make([]byte, size), "rank_pk": "R", "rank_sk": fmt.Sprint(n)})
}

// Growing beyond its map, the file waits for the snapshots to go: in real time.
func testGrowth(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path, Faults: stale(t)})
	for n := range int64(4) {
		commit(t, table, numbered(n, 300_000))
		if get(t, table, at("P", "S")).Int("n") != n {
			t.Fatal("a strong read is stale")
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
}

func testStaleReads(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	get1 := func(c tables.Consistency) int64 {
		items, err := table.Get(t.Context(), c, at("P", "S"))
		if err != nil {
			t.Fatal(err)
		}
		return items[0].Int("n")
	}
	ranks := func() int {
		page, err := table.Query(t.Context(), tables.Query{Index: tables.ByRank, PK: "R"})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	put := func(n int64) {
		commit(t, table, numbered(n, 1))
		if get1(tables.Strong) != n {
			t.Fatal("a strong read is stale")
		}
	}
	put(4)
	table.SetFaults(stale(t))
	put(5)
	put(6)
	if get1(tables.Eventual) != 4 || ranks() != 1 {
		t.Fatal("no eventual read is stale")
	}
	table.SetFaults(nil)
	if get1(tables.Eventual) != 6 || ranks() != 1 {
		t.Fatal("stale without a fault")
	}
	table.SetFaults(stale(t))
	time.Sleep(80 * time.Millisecond)
	if get1(tables.Eventual) != 6 {
		t.Fatal("stale for too long")
	}
}

func TestRandomFaultsRepeat(t *testing.T) {
	p := embedded.Probabilities{Conflict: 0.2, Throttled: 0.2, LostRequest: 0.2, LostAnswer: 0.2, Stale: 0.2}
	draw := func(seed uint64) (drawn []embedded.Fault) {
		f := embedded.Random(seed, p)
		for range 200 {
			drawn = append(drawn, f(embedded.KindCommit, nil), f(embedded.KindIndex, nil))
		}
		return drawn
	}
	one := draw(1)
	if !slices.Equal(one, draw(1)) || slices.Equal(one, draw(2)) {
		t.Fatal("not what the seed says")
	}
	for f := embedded.None; f <= embedded.Stale; f++ {
		if !slices.Contains(one, f) {
			t.Errorf("fault %d never happens", f)
		}
	}
}
