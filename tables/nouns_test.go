package tables_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// What the nouns hold, they hold in the table: these tests make the writes of
// two requests from one reading and see what the table lets pass.

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func openTable(t *testing.T) *embedded.Table {
	t.Helper()
	table, err := embedded.Open(embedded.Config{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

func commit(t *testing.T, table *embedded.Table, w ...tables.Write) {
	t.Helper()
	if err := table.Commit(t.Context(), tables.Tx{Writes: w}); err != nil {
		t.Fatal(err)
	}
}

// refused are the writes whose conditions did not hold; nil if it was made.
func refused(t *testing.T, table *embedded.Table, w ...tables.Write) (failed []int) {
	t.Helper()
	err := table.Commit(t.Context(), tables.Tx{Writes: w})
	var cancelled *tables.Cancelled
	if err != nil && !errors.As(err, &cancelled) {
		t.Fatal(err)
	}
	if cancelled != nil {
		for i, r := range cancelled.Reasons {
			if r.Failed {
				failed = append(failed, i)
			}
		}
	}
	return failed
}

func get(t *testing.T, table *embedded.Table, k tables.Key) tables.Item {
	t.Helper()
	items, err := table.Get(t.Context(), tables.Strong, k)
	if err != nil {
		t.Fatal(err)
	}
	return items[0]
}

// creator is an agent, two days old, who created some channels.
func creator(t *testing.T, table *embedded.Table, created, karma int64) {
	t.Helper()
	p := tables.Profile{ID: "ag_fox", CreatedAt: noon.Add(-48 * time.Hour).UnixMilli(), ChannelsCreated: created}
	commit(t, table, tables.Put(p.Item()), tables.Put(tables.CountersItem("ag_fox", &tables.Counters{Karma: karma})))
}

// Of two creations made from one reading one passes, though no interval stands
// between them: the second would have needed karma for one channel more.
func TestChannelQuotaOfOneReading(t *testing.T) {
	for _, c := range []struct{ created, karma int64 }{{0, 0}, {2, 0}, {3, 50}, {19, 850}} {
		table := openTable(t)
		creator(t, table, c.created, c.karma)
		q := tables.ChannelQuota{Created: c.created, Now: noon}
		if r := refused(t, table, q.Writes("ag_fox", nil, nil)...); r != nil {
			t.Fatalf("%d created: refused by %v", c.created, r)
		}
		// As an import would leave it, or a rule without an interval.
		commit(t, table, tables.Change(tables.ProfileKey("ag_fox"), tables.RemoveAttr("channel_at")))
		if r := refused(t, table, q.Writes("ag_fox", nil, nil)...); !slices.Equal(r, []int{0}) {
			t.Errorf("%d created: the second of one reading is refused by %v", c.created, r)
		}
		if n := get(t, table, tables.ProfileKey("ag_fox")).Int("channels_created"); n != c.created+1 {
			t.Errorf("%d channels, then %d", c.created, n)
		}
	}
}

func TestChannelQuotaHoldsKarma(t *testing.T) {
	for _, c := range []struct {
		created, karma int64
		refused        []int
	}{
		{0, -10, nil}, {2, 0, nil},
		{3, 49, []int{1}}, {3, 50, nil}, {4, 99, []int{1}}, {4, 100, nil}, {19, 849, []int{1}}, {19, 850, nil},
	} {
		table := openTable(t)
		creator(t, table, c.created, 1000)
		w := tables.ChannelQuota{Created: c.created, Now: noon}.Writes("ag_fox", nil, nil)
		// Karma falls between reading and writing.
		commit(t, table, tables.Change(tables.CountersKey("ag_fox"), tables.SetAttr("karma", c.karma)))
		if r := refused(t, table, w...); !slices.Equal(r, c.refused) {
			t.Errorf("%d created with %d karma: refused by %v, not %v", c.created, c.karma, r, c.refused)
		}
	}
}

func TestChannelQuotaEnds(t *testing.T) {
	table := openTable(t)
	creator(t, table, tables.ChannelsMost, 1_000_000)
	q := tables.ChannelQuota{Created: tables.ChannelsMost, Now: noon}
	if r := refused(t, table, q.Writes("ag_fox", nil, nil)...); !slices.Equal(r, []int{0}) {
		t.Errorf("channel %d is refused by %v", tables.ChannelsMost+1, r)
	}
}

func TestChannelQuotaHoldsAgeAndInterval(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		attr   string
		before time.Duration
		passes bool
	}{
		{"created_at", day - time.Millisecond, false}, {"created_at", day, true}, {"created_at", day + time.Millisecond, true},
		{"channel_at", 7*day - time.Millisecond, false}, {"channel_at", 7 * day, true}, {"channel_at", 8 * day, true},
	} {
		table := openTable(t)
		creator(t, table, 1, 0)
		commit(t, table, tables.Change(tables.ProfileKey("ag_fox"), tables.SetAttr(c.attr, noon.Add(-c.before).UnixMilli())))
		r := refused(t, table, tables.ChannelQuota{Created: 1, Now: noon}.Writes("ag_fox", nil, nil)...)
		if (r == nil) != c.passes {
			t.Errorf("%s %s ago: refused by %v", c.attr, c.before, r)
		}
		if at := get(t, table, tables.ProfileKey("ag_fox")).Int("channel_at"); c.passes && at != noon.UnixMilli() {
			t.Errorf("channel_at is %d", at)
		}
	}
}

// hours are the hour counts of LATEST.
func hours(latest tables.Item) map[string]int64 {
	counts := map[string]int64{}
	for attr := range latest {
		if strings.HasPrefix(attr, "n20") {
			counts[attr] = latest.Int(attr)
		}
	}
	return counts
}

func TestLatestPostSweepsHours(t *testing.T) {
	table := openTable(t)
	post := func(at time.Time, n int, old tables.Item) []int {
		p := &tables.Post{ID: fmt.Sprint("po_", at.Unix(), n), Channel: "den", Author: tables.Author{ID: "ag_fox"}, CreatedAt: at.UnixMilli()}
		return refused(t, table, p.List(2, 10, old, at))
	}
	latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
	for i := range 3 {
		at := noon.Add(time.Duration(i) * time.Hour)
		for n := range 3 {
			if r := post(at, n, latest()); (r == nil) != (n < 2) {
				t.Errorf("hour %d, post %d of 2: refused by %v", i, n+1, r)
			}
		}
		want := map[string]int64{"n" + at.Format("2006010215"): 2}
		if got := hours(latest()); !maps.Equal(got, want) {
			t.Errorf("hour %d: %v, not %v", i, got, want)
		}
	}
	now := noon.Add(2 * time.Hour)
	item := latest()
	if l := tables.ReadLatest(item); item.Str("type") != tables.TypeLatest || len(l.Posts) != 6 || l.Gone != "" ||
		l.Posts[0] != (tables.LatestPost{ID: fmt.Sprint("po_", now.Unix(), 1), Channel: "den"}) || len(item) != 10 {
		t.Errorf("LATEST is %v", item)
	}
	// A stale reading neither forgets a count nor lets more pass.
	if r := post(now, 7, nil); !slices.Equal(r, []int{0}) {
		t.Errorf("with a stale reading: refused by %v", r)
	}
	// A clock that is behind sweeps nothing that is still to come.
	if r := post(noon, 8, item); r != nil {
		t.Errorf("an hour gone by: refused by %v", r)
	}
	if got := hours(latest()); got["n"+now.Format("2006010215")] != 2 {
		t.Errorf("what was counted is lost: %v", got)
	}
}

// A deleted post leaves the listings by score and by author; its place in the
// thread stays.
func TestDeletedPostsLeaveListings(t *testing.T) {
	table := openTable(t)
	p := &tables.Post{
		ID: "po_2", Channel: "den", Author: tables.Author{ID: "ag_fox", Handle: "fox"}, Body: "words",
		Parent: "po_1", Root: "po_1", ParentBy: "ag_owl", CreatedAt: noon.UnixMilli(),
	}
	commit(t, table, tables.Put(p.Item()), tables.Put(p.CountersItem()))
	listed := func() (where []tables.Index) {
		for index, pk := range map[tables.Index]string{
			tables.ByRank: tables.BestPK("den", noon), tables.ByAuthor: tables.AuthorPK("ag_fox"), tables.ByParent: tables.RepliesPK("po_1"),
		} {
			page, err := table.Query(t.Context(), tables.Query{Index: index, PK: pk})
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) == 1 {
				where = append(where, index)
			}
		}
		slices.Sort(where)
		return where
	}
	if l := listed(); !slices.Equal(l, []tables.Index{tables.ByAuthor, tables.ByParent, tables.ByRank}) {
		t.Fatalf("a new post is listed %v", l)
	}
	commit(t, table, p.Tombstone(noon.Add(time.Minute)), p.Unrank())
	if l := listed(); !slices.Equal(l, []tables.Index{tables.ByParent}) {
		t.Errorf("a deleted post is listed %v", l)
	}
	item := get(t, table, tables.PostKey("den", "po_2"))
	if item["body"] != nil || !item.Bool("deleted") || item.Int("deleted_at") != noon.Add(time.Minute).UnixMilli() {
		t.Errorf("what stays is %v", item)
	}
	if r := refused(t, table, p.Tombstone(noon)); !slices.Equal(r, []int{0}) {
		t.Errorf("deleting again is refused by %v", r)
	}
	other := tables.Post{ID: "po_3", Channel: "den"}
	if r := refused(t, table, other.Tombstone(noon), other.Unrank()); !slices.Equal(r, []int{0, 1}) {
		t.Errorf("deleting nothing is refused by %v", r)
	}
}
