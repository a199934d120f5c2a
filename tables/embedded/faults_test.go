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

func TestFaults_Commit(t *testing.T) {
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
		if made := get(t, table, at("P", "S")) != nil; !errors.Is(err, c.err) || made != c.made {
			t.Errorf("fault %d: got %v and made = %t, want %v and made = %t", c.fault, err, made, c.err, c.made)
		}
	}
}

func TestStaleReads(t *testing.T) {
	onBoth(t, func(t *testing.T, path string) {
		testGrowth(t, path)
		synctest.Test(t, func(t *testing.T) { testStaleReads(t, path) }) // in virtual time, since a snapshot lives for only 50 ms
	})
}

// stale chooses [embedded.Stale] for every call, and wants one key per call.
func stale(t *testing.T) embedded.Faults {
	return func(kind string, keys []key) embedded.Fault {
		if len(keys) != 1 || keys[0].PK == "" {
			t.Errorf("fault of a %s: got the keys %v, want one, with a PK", kind, keys)
		}
		return embedded.Stale
	}
}

func numbered(n int64, size int) tables.Write {
	return tables.Put(item{"pk": "P", "sk": "S", "n": n, "b": make([]byte, size), "rank_pk": "R", "rank_sk": fmt.Sprint(n)})
}

// testGrowth uses the real clock: a file that outgrows its memory map waits for the
// snapshots' release.
func testGrowth(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path, Faults: stale(t)})
	for n := range int64(4) {
		commit(t, table, numbered(n, 300_000))
		if got := get(t, table, at("P", "S")).Int("n"); got != n {
			t.Fatalf("strong read: got %d, want %d", got, n)
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
		if got := get1(tables.Strong); got != n {
			t.Fatalf("strong read: got %d, want %d", got, n)
		}
	}
	put(4)
	table.SetFaults(stale(t))
	put(5)
	put(6)
	if got, ranked := get1(tables.Eventual), ranks(); got != 4 || ranked != 1 {
		t.Fatalf("stale read: got %d and %d index entries, want 4 and 1", got, ranked)
	}
	table.SetFaults(nil)
	if got, ranked := get1(tables.Eventual), ranks(); got != 6 || ranked != 1 {
		t.Fatalf("eventual read without faults: got %d and %d index entries, want 6 and 1", got, ranked)
	}
	table.SetFaults(stale(t))
	time.Sleep(80 * time.Millisecond)
	if got := get1(tables.Eventual); got != 6 {
		t.Fatalf("stale read after 80 ms: got %d, want 6", got)
	}
}

func TestRandom_Repeats(t *testing.T) {
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
		t.Fatal("Random: got different faults for one seed, or equal faults for two seeds")
	}
	for f := embedded.None; f <= embedded.Stale; f++ {
		if !slices.Contains(one, f) {
			t.Errorf("fault %d was never drawn", f)
		}
	}
}
