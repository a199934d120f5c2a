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

// refused commits a transaction and returns the indices of the writes whose
// conditions failed; nil if it was made.
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

// putCreator puts an agent, two days old, that created some channels.
func putCreator(t *testing.T, table *embedded.Table, created, karma int64) {
	t.Helper()
	p := tables.Profile{ID: "ag_fox", CreatedAt: noon.Add(-48 * time.Hour).UnixMilli(), ChannelsCreated: created}
	commit(t, table, tables.Put(p.Item()), tables.Put(tables.CountersItem("ag_fox", &tables.Counters{Karma: karma})))
}

func TestChannelQuota_OneRead(t *testing.T) {
	for _, c := range []struct{ created, karma int64 }{{0, 0}, {2, 0}, {3, 50}, {19, 850}} {
		table := openTable(t)
		putCreator(t, table, c.created, c.karma)
		q := tables.ChannelQuota{Created: c.created, Now: noon}
		if r := refused(t, table, q.Writes("ag_fox", nil, nil)...); r != nil {
			t.Fatalf("%d created: refused writes: got %v, want none", c.created, r)
		}
		// Without the interval, only the number of created channels can refuse the second.
		commit(t, table, tables.Change(tables.ProfileKey("ag_fox"), tables.RemoveAttr("channel_at")))
		if r := refused(t, table, q.Writes("ag_fox", nil, nil)...); !slices.Equal(r, []int{0}) {
			t.Errorf("%d created, second creation: refused writes: got %v, want [0]", c.created, r)
		}
		if n := get(t, table, tables.ProfileKey("ag_fox")).Int("channels_created"); n != c.created+1 {
			t.Errorf("channels_created: got %d, want %d", n, c.created+1)
		}
	}
}

func TestChannelQuota_Karma(t *testing.T) {
	for _, c := range []struct {
		created, karma int64
		refused        []int
	}{
		{0, -10, nil}, {2, 0, nil},
		{3, 49, []int{1}}, {3, 50, nil}, {4, 99, []int{1}}, {4, 100, nil}, {19, 849, []int{1}}, {19, 850, nil},
	} {
		table := openTable(t)
		putCreator(t, table, c.created, 1000)
		w := tables.ChannelQuota{Created: c.created, Now: noon}.Writes("ag_fox", nil, nil)
		// Karma falls between the read and the write.
		commit(t, table, tables.Change(tables.CountersKey("ag_fox"), tables.SetAttr("karma", c.karma)))
		if r := refused(t, table, w...); !slices.Equal(r, c.refused) {
			t.Errorf("%d created, %d karma: refused writes: got %v, want %v", c.created, c.karma, r, c.refused)
		}
	}
}

func TestChannelQuota_Most(t *testing.T) {
	table := openTable(t)
	putCreator(t, table, tables.ChannelsMost, 1_000_000)
	q := tables.ChannelQuota{Created: tables.ChannelsMost, Now: noon}
	if r := refused(t, table, q.Writes("ag_fox", nil, nil)...); !slices.Equal(r, []int{0}) {
		t.Errorf("channel %d: refused writes: got %v, want [0]", tables.ChannelsMost+1, r)
	}
}

func TestChannelQuota_AgeAndInterval(t *testing.T) {
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
		putCreator(t, table, 1, 0)
		commit(t, table, tables.Change(tables.ProfileKey("ag_fox"), tables.SetAttr(c.attr, noon.Add(-c.before).UnixMilli())))
		r := refused(t, table, tables.ChannelQuota{Created: 1, Now: noon}.Writes("ag_fox", nil, nil)...)
		if (r == nil) != c.passes {
			t.Errorf("%s %s ago: got refused writes %v, want accepted = %t", c.attr, c.before, r, c.passes)
		}
		if at := get(t, table, tables.ProfileKey("ag_fox")).Int("channel_at"); c.passes && at != noon.UnixMilli() {
			t.Errorf("channel_at: got %d, want %d", at, noon.UnixMilli())
		}
	}
}

// hours returns the counts of posts per hour in LATEST.
func hours(latest tables.Item) map[string]int64 {
	counts := map[string]int64{}
	for attr := range latest {
		if strings.HasPrefix(attr, "n20") {
			counts[attr] = latest.Int(attr)
		}
	}
	return counts
}

func TestLatest_DropsPastHours(t *testing.T) {
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
				t.Errorf("hour %d, post %d, with a limit of 2: refused writes: got %v, want some only after the second post", i, n+1, r)
			}
		}
		want := map[string]int64{"n" + at.Format("2006010215"): 2}
		if got := hours(latest()); !maps.Equal(got, want) {
			t.Errorf("hour %d: got counts %v, want %v", i, got, want)
		}
	}
	now := noon.Add(2 * time.Hour)
	item := latest()
	if l := tables.ReadLatest(item); item.Str("type") != tables.TypeLatest || len(l.Posts) != 6 || l.Gone != "" ||
		l.Posts[0] != (tables.LatestPost{ID: fmt.Sprint("po_", now.Unix(), 1), Channel: "den"}) || len(item) != 10 {
		t.Errorf("LATEST: got %v, want its type and 10 attributes, with 6 posts, the newest of this hour, and none gone", item)
	}
	if r := post(now, 7, nil); !slices.Equal(r, []int{0}) {
		t.Errorf("third post of an hour, without a read of LATEST: refused writes: got %v, want [0]", r)
	}
	// The clock of this post is slow.
	if r := post(noon, 8, item); r != nil {
		t.Errorf("post in a past hour: refused writes: got %v, want none", r)
	}
	if got := hours(latest()); got["n"+now.Format("2006010215")] != 2 {
		t.Errorf("counts after a post in a past hour: got %v, want 2 of the latest hour", got)
	}
}

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
		t.Fatalf("new post: got indexes %v, want all three", l)
	}
	commit(t, table, p.Tombstone(noon.Add(time.Minute)), p.Unrank())
	if l := listed(); !slices.Equal(l, []tables.Index{tables.ByParent}) {
		t.Errorf("deleted post: got indexes %v, want only by_parent", l)
	}
	item := get(t, table, tables.PostKey("den", "po_2"))
	if item["body"] != nil || !item.Bool("deleted") || item.Int("deleted_at") != noon.Add(time.Minute).UnixMilli() {
		t.Errorf("tombstone: got %v, want deleted, deleted_at and no body", item)
	}
	if r := refused(t, table, p.Tombstone(noon)); !slices.Equal(r, []int{0}) {
		t.Errorf("second deletion: refused writes: got %v, want [0]", r)
	}
	other := tables.Post{ID: "po_3", Channel: "den"}
	if r := refused(t, table, other.Tombstone(noon), other.Unrank()); !slices.Equal(r, []int{0, 1}) {
		t.Errorf("deletion of a missing post: refused writes: got %v, want [0 1]", r)
	}
}
