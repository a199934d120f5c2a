package tables_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
)

func promoOf(id string, days int) *tables.Promo {
	return &tables.Promo{
		ID: id, Channel: "den", Buyer: tables.Author{ID: "ag_fox"}, State: tables.PromoLive, Budget: 5_000_000, Price: 2000,
		CreatedAt: noon.UnixMilli(), EndsAt: noon.AddDate(0, 0, days).UnixMilli(),
	}
}

func TestBoard(t *testing.T) {
	table := openTable(t)
	commit(t, table, tables.Put((&tables.Channel{Name: "den"}).Item()))
	read := func() *tables.Board {
		t.Helper()
		b, err := tables.ReadBoard("den", get(t, table, tables.BoardKey("den")))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	state := func(n int, daily int64, until time.Time, due bool) {
		t.Helper()
		b := read()
		gotN, gotDaily := b.Live(noon)
		hint := get(t, table, tables.ChannelKey("den")).Int("promos_until")
		wantHint := int64(0)
		if !until.IsZero() {
			wantHint = until.UnixMilli()
		}
		page, err := table.Query(t.Context(), tables.BoardsDue(noon.Add(tables.SettleEvery), 10))
		if err != nil {
			t.Fatal(err)
		}
		found := len(page.Items) == 1 && tables.BoardChannel(page.Items[0]) == "den"
		if gotN != n || gotDaily != daily || hint != wantHint || found != due || (b.Due != 0) != due {
			t.Errorf("board: got %d promos, %d a day, until %d, listed as due = %t, Due = %d; want %d, %d, %d, %t, and Due set = %t", gotN, gotDaily, hint, found, b.Due, n, daily, wantHint, due, due)
		}
	}
	state(0, 0, time.Time{}, false)
	one, two := promoOf("pr_1", 3), promoOf("pr_2", 1)
	entry := func(p *tables.Promo, daily int64) tables.BoardEntry {
		return tables.BoardEntry{Daily: daily, EndsAt: p.EndsAt}
	}
	empty := read()
	commit(t, table, empty.Add(one, entry(one, 70), nil)...)
	if r := refused(t, table, empty.Add(two, entry(two, 30), nil)...); !slices.Equal(r, []int{0}) {
		t.Errorf("second addition based on one read: refused writes: got %v, want [0]", r)
	}
	state(1, 70, noon.AddDate(0, 0, 3), true)
	both := read()
	commit(t, table, both.Add(two, entry(two, 30), nil)...)
	state(2, 100, noon.AddDate(0, 0, 3), true)
	if n, daily := read().Live(noon.AddDate(0, 0, 2)); n != 1 || daily != 70 {
		t.Errorf("third day: got %d promos, %d a day; want 1, 70", n, daily)
	}
	if r := refused(t, table, both.Drop("pr_1")...); !slices.Equal(r, []int{0}) {
		t.Errorf("drop from an old read: refused writes: got %v, want [0]", r)
	}
	commit(t, table, read().Drop("pr_1")...)
	state(1, 30, noon.AddDate(0, 0, 1), true)
	if r := refused(t, table, read().Drop("pr_1")...); !slices.Equal(r, []int{0}) {
		t.Errorf("second drop: refused writes: got %v, want [0]", r)
	}

	due := read()
	commit(t, table, due.Take(noon.Add(time.Hour)))
	if r := refused(t, table, due.Take(noon.Add(2*time.Hour))); r == nil {
		t.Error("second Take based on one read: refused writes: got none, want some")
	}
	commit(t, table, read().Drop("pr_2")...)
	state(0, 0, time.Time{}, false)
	if r := refused(t, table, due.Take(noon.Add(2*time.Hour))); r == nil {
		t.Error("Take of a board without promos: refused writes: got none, want some")
	}
	commit(t, table, read().Add(one, entry(one, 70), nil)...)
	state(1, 70, noon.AddDate(0, 0, 3), true)
}

func TestImpression(t *testing.T) {
	table := openTable(t)
	count := func(promo string) (n int64) {
		for _, key := range tables.CountsKeys("den") {
			n += tables.Billed(get(t, table, key), promo)
		}
		return n
	}
	for _, c := range []struct {
		promo, viewer string
		at            time.Time
		again         bool
	}{
		{"pr_1", "ag_owl", noon, false}, {"pr_1", "ag_owl", noon.Add(time.Hour), true}, {"pr_2", "ag_owl", noon, false},
		{"pr_1", "ag_elk", noon, false}, {"pr_1", "ag_owl", noon.Add(12 * time.Hour), false}, {"pr_1", "ag_owl", noon.Add(12*time.Hour - time.Millisecond), true},
	} {
		if r := refused(t, table, tables.Impression("den", c.promo, c.viewer, c.at)...); (r != nil) != c.again {
			t.Errorf("impression %+v: got refused writes %v, want refused = %t", c, r, c.again)
		}
	}
	if a, b := count("pr_1"), count("pr_2"); a != 3 || b != 1 {
		t.Errorf("impressions of pr_1 and pr_2: got %d and %d, want 3 and 1", a, b)
	}
	if !tables.WasShown(get(t, table, tables.ShownKey("ag_owl", "den", noon)), "pr_2") || tables.WasShown(get(t, table, tables.ShownKey("ag_elk", "den", noon)), "pr_2") {
		t.Error("WasShown of pr_2: got false for ag_owl or true for ag_elk, want true and false")
	}
	seen := map[int]bool{}
	for i := range 1000 {
		seen[tables.PromoShard(fmt.Sprintf("ag_%d", i))] = true
	}
	if len(seen) != tables.PromoShards {
		t.Errorf("shards of 1000 viewers: got %d, want %d", len(seen), tables.PromoShards)
	}
	shard := tables.PromoShard("ag_owl")
	commit(t, table, tables.View("den", "pr_1", shard, 16), tables.Put(promoOf("pr_1", 1).Item()))
	if n := tables.Viewed(get(t, table, tables.CountsKey("den", shard)), "pr_1"); n != 16 {
		t.Errorf("views of pr_1: got %d, want 16", n)
	}
	commit(t, table, tables.ForgetCounts("den", "pr_1", shard))
	if item := get(t, table, tables.CountsKey("den", shard)); tables.Billed(item, "pr_1") != 0 || tables.Viewed(item, "pr_1") != 0 || tables.Billed(item, "pr_2") != 1 {
		t.Errorf("after ForgetCounts of pr_1: got %v, want only pr_2", item)
	}
}

func TestViewsOf(t *testing.T) {
	table := openTable(t)
	for day := range 9 {
		for i := range int64(8) {
			commit(t, table, tables.CountView("den", i, 10, i%2 == 0, noon.AddDate(0, 0, -day)))
		}
	}
	var all, agents int64
	for _, q := range tables.ViewsOf("den", noon) {
		page, err := table.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			var v tables.ChannelViews
			if err := tables.Unmarshal(item, &v); err != nil {
				t.Fatal(err)
			}
			all, agents = all+v.All, agents+v.Agents
		}
	}
	if all != tables.ViewsDays*80 || agents != tables.ViewsDays*40 {
		t.Errorf("ViewsOf: got %d views, %d by agents; want %d, %d", all, agents, tables.ViewsDays*80, tables.ViewsDays*40)
	}
}
