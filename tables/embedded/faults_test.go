package embedded_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
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

func TestStaleReads(t *testing.T) { onBoth(t, testStaleReads) }

func testStaleReads(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	stale := func(kind string, keys []key) embedded.Fault {
		if len(keys) != 1 || keys[0].PK == "" {
			t.Errorf("%s of %v", kind, keys)
		}
		return embedded.Stale
	}
	table.SetFaults(stale)
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
	put := func(n int64, size int) {
		commit(t, table, tables.Put(item{"pk": "P", "sk": "S", "n": n, "b": make([]byte, size), "rank_pk": "R", "rank_sk": fmt.Sprint(n)}))
		if get1(tables.Strong) != n {
			t.Fatal("a strong read is stale")
		}
	}
	// Growing beyond its map, the file waits for the snapshots to go.
	for n := range int64(4) {
		put(n, 300_000)
	}
	// A machine that stalls for 50 ms right here is given another try.
	for n, stale := int64(4), false; !stale; n++ {
		if n == 50 {
			t.Fatal("no eventual read is stale")
		}
		put(n, 1)
		put(n+100, 1)
		stale = get1(tables.Eventual) < n+100 && ranks() == 1
	}
	put(20, 1)
	table.SetFaults(nil)
	if get1(tables.Eventual) != 20 || ranks() != 1 {
		t.Fatal("stale without a fault")
	}
	table.SetFaults(stale)
	time.Sleep(80 * time.Millisecond)
	if get1(tables.Eventual) != 20 {
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
