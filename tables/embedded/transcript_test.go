package embedded_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

type (
	item = tables.Item
	key  = tables.Key
)

func at(pk, sk string) key { return key{PK: pk, SK: sk} }

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func open(t testing.TB, c embedded.Config) *embedded.Table {
	t.Helper()
	table, err := embedded.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

func onBoth(t *testing.T, test func(t *testing.T, path string)) {
	t.Run("memory", func(t *testing.T) { test(t, embedded.Memory) })
	t.Run("file", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "table")) })
}

func commit(t testing.TB, table tables.Backend, writes ...tables.Write) {
	t.Helper()
	if err := table.Commit(t.Context(), tables.Tx{Writes: writes}); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, table tables.Backend, k key) item {
	t.Helper()
	items, err := table.Get(t.Context(), tables.Strong, k)
	if err != nil {
		t.Fatal(err)
	}
	return items[0]
}

func want(t testing.TB, table tables.Backend, i item) {
	t.Helper()
	if got := get(t, table, i.Key()); !reflect.DeepEqual(got, i) {
		t.Fatalf("stored item: got %v, want %v", got, i)
	}
}

func changes(t testing.TB, table *embedded.Table, after string) []tables.StreamRecord {
	t.Helper()
	got, done, err := table.Changes(t.Context(), "shard-0", after, 1000, 0)
	if err != nil || done {
		t.Fatalf("Changes: got %v, done %t, %v; want no error, and a shard that is not done", got, done, err)
	}
	return got
}

func TestWritesAndFeed(t *testing.T) { onBoth(t, testWritesAndFeed) }

func testWritesAndFeed(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	k := at("A#1", "PROFILE")
	one := item{"pk": k.PK, "sk": k.SK, "n": int64(1), "s": "", "b": []byte{}, "tags": tables.NewSet("x", "y"),
		"m": tables.Map{"l": tables.List{int64(-5), true, tables.Map{}, tables.List{}}}}
	commit(t, table, tables.Put(one, tables.NoItem()))
	want(t, table, one)

	commit(t, table, tables.Change(k, tables.Add("n", 2), tables.Add("new", -3), tables.SetAttr("s", "text"),
		tables.AddToSet("tags", "z", "x"), tables.AddToSet("more", "b", "a"), tables.RemoveAttr("b"), tables.RemoveAttr("absent")))
	two := item{"pk": k.PK, "sk": k.SK, "n": int64(3), "new": int64(-3), "s": "text", "m": one["m"],
		"tags": tables.NewSet("x", "y", "z"), "more": tables.NewSet("a", "b")}
	want(t, table, two)
	commit(t, table, tables.Change(k, tables.RemoveFromSet("tags", "y", "q", "x", "z"), tables.RemoveFromSet("absent", "y")))
	three := item{"pk": k.PK, "sk": k.SK, "n": int64(3), "new": int64(-3), "s": "text", "m": one["m"], "more": tables.NewSet("a", "b")}
	want(t, table, three)

	// A write that changes nothing is not in the feed.
	commit(t, table, tables.Change(k, tables.SetAttr("n", int64(3))))
	commit(t, table, tables.Put(three))
	commit(t, table, tables.Delete(at("A#1", "NOBODY")))

	// An update of a deleted item creates the item.
	commit(t, table, tables.Delete(k))
	commit(t, table, tables.Change(k, tables.RemoveAttr("n")))
	bare := item{"pk": k.PK, "sk": k.SK}
	want(t, table, bare)

	expect := []tables.StreamRecord{
		{Event: "INSERT", New: one},
		{Event: "MODIFY", Old: one, New: two},
		{Event: "MODIFY", Old: two, New: three},
		{Event: "REMOVE", Old: three},
		{Event: "INSERT", New: bare},
	}
	last := ""
	for i, r := range changes(t, table, "") {
		if r.Seq <= last || r.At.IsZero() || r.Shard != "shard-0" || r.Key != k {
			t.Fatalf("record %d: got %+v, want one of %v in shard-0, with a time and a position after %q", i, r, k, last)
		}
		last = r.Seq
		r.Shard, r.Seq, r.At, r.Key = "", "", time.Time{}, key{}
		if !reflect.DeepEqual(r, expect[i]) {
			t.Fatalf("record %d: got %+v, want %+v", i, r, expect[i])
		}
	}
	if n := len(changes(t, table, "")); n != len(expect) {
		t.Fatalf("feed: got %d records, want %d", n, len(expect))
	}
}

func TestOwnership(t *testing.T) { onBoth(t, testOwnership) }

func testOwnership(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	k := at("P", "S")
	list := tables.List{"a"}
	bin := []byte("bin")
	commit(t, table, tables.Put(item{"pk": "P", "sk": "S", "l": list, "b": bin}))
	list[0], bin[0] = "changed", 'X'
	got := get(t, table, k)
	got["b"].([]byte)[0] = 'Y'
	got["l"].(tables.List)[0] = "changed"
	want(t, table, item{"pk": "P", "sk": "S", "l": tables.List{"a"}, "b": []byte("bin")})
	for _, r := range changes(t, table, "") {
		r.New["b"].([]byte)[0] = 'Z'
	}
	want(t, table, changes(t, table, "")[0].New)
}

func TestAllReasons(t *testing.T) { onBoth(t, testAllReasons) }

func testAllReasons(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	a := item{"pk": "P", "sk": "a", "n": int64(7)}
	commit(t, table, tables.Put(a))
	err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{
		tables.Put(a, tables.NoItem()),
		tables.Put(item{"pk": "P", "sk": "b"}, tables.NoItem()),
		tables.Delete(at("P", "c"), tables.ItemExists()),
		tables.Check(at("P", "d"), tables.AtLeast("n", 1)),
	}})
	var c *tables.Cancelled
	if !errors.As(err, &c) {
		t.Fatalf("commit with failed conditions: got %v, want a *Cancelled", err)
	}
	expect := []tables.Reason{{Failed: true, Old: a}, {}, {Failed: true}, {Failed: true}}
	if !reflect.DeepEqual(c.Reasons, expect) {
		t.Fatalf("got reasons %+v, want %+v", c.Reasons, expect)
	}
	if get(t, table, at("P", "b")) != nil || len(changes(t, table, "")) != 1 {
		t.Fatal("a cancelled transaction wrote something")
	}
}

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	c := &clock{time.Unix(1e9, 0)}
	table := open(t, embedded.Config{Path: path, Now: c.now})
	add := func(n int64) tables.Tx {
		return tables.Tx{Token: "token", Writes: []tables.Write{tables.Change(at("P", "S"), tables.Add("n", n))}}
	}
	ask := func(tx tables.Tx, expect error, n int64) {
		t.Helper()
		if err := table.Commit(t.Context(), tx); !errors.Is(err, expect) {
			t.Fatalf("commit: got %v, want %v", err, expect)
		}
		if got := get(t, table, at("P", "S")).Int("n"); got != n {
			t.Fatalf("after a commit: got n = %d, want %d", got, n)
		}
	}
	// A cancelled transaction does not use up its token.
	refused := add(1)
	refused.Writes[0] = refused.Writes[0].When(tables.ItemExists())
	if err := table.Commit(t.Context(), refused); !errors.As(err, new(*tables.Cancelled)) {
		t.Fatalf("a failed condition: got %v, want it cancelled", err)
	}
	ask(add(1), nil, 1)
	ask(add(1), nil, 1)
	ask(add(2), tables.ErrInvalid, 1)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	table = open(t, embedded.Config{Path: path, Now: c.now})
	c.at = c.at.Add(10*time.Minute - time.Millisecond)
	ask(add(1), nil, 1)
	c.at = c.at.Add(time.Millisecond)
	ask(add(2), nil, 3)
	ask(add(2), nil, 3)
	if n := len(changes(t, table, "")); n != 2 {
		t.Fatalf("after two transactions: got %d changes in the feed, want 2", n)
	}
}

func TestSweep(t *testing.T) { onBoth(t, testSweep) }

func testSweep(t *testing.T, path string) {
	c := &clock{time.Unix(1e9, 0)}
	table := open(t, embedded.Config{Path: path, Now: c.now})
	put := func(sk string, ttl any) { commit(t, table, tables.Put(item{"pk": "P", "sk": sk, "ttl": ttl})) }
	put("now", int64(1e9))
	put("past", int64(1e9-1))
	put("moved", int64(1e9-1))
	put("moved", int64(1e9+1))
	put("text", "1")
	put("ancient", int64(1)) // older than five years, so not removed
	put("negative", int64(-5))
	for range 300 { // more than one step of a sweep
		put(strings.Repeat("x", 1+len(changes(t, table, ""))), int64(1e9-1))
	}
	n, err := table.Sweep(t.Context())
	if err != nil || n != 301 {
		t.Fatalf("Sweep: got %d, %v; want 301", n, err)
	}
	page, err := table.Query(t.Context(), tables.Query{PK: "P"})
	if err != nil || len(page.Items) != 5 {
		t.Fatalf("after Sweep: got %v, %v; want 5 items", page, err)
	}
	records := changes(t, table, "")
	gone := records[len(records)-1]
	if gone.Event != "REMOVE" || !gone.Expired || gone.New != nil || gone.Old.Int("ttl") != 1e9-1 {
		t.Fatalf("last record after Sweep: got %+v, want the removal of an expired item", gone)
	}
	c.at = c.at.Add(24*time.Hour + time.Millisecond)
	if n, err := table.Sweep(t.Context()); err != nil || n != 2 {
		t.Fatalf("second Sweep: got %d, %v; want 2", n, err)
	}
	left := changes(t, table, "")
	if len(left) != 2 || left[0].Seq <= gone.Seq {
		t.Fatalf("feed after 24 hours: got %+v, want the last 2 records", left)
	}
}

func TestMemory_LeavesNoFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	start := time.Now()
	for range 200 {
		table := open(t, embedded.Config{Path: ":memory:"})
		commit(t, table, tables.Put(item{"pk": "P", "sk": "S"}))
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%v per table", time.Since(start)/200)
	if _, err := os.Stat(":memory:"); err == nil {
		t.Fatal("there is a file named :memory:")
	}
	if files, _ := os.ReadDir(os.TempDir()); len(files) > 0 {
		t.Fatalf("files in the temporary folder: got %v, want none", files)
	}
}

func TestClosed(t *testing.T) { onBoth(t, testClosed) }

func testClosed(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	table.Close()
	_, getErr := table.Get(t.Context(), tables.Strong, at("P", "S"))
	_, queryErr := table.Query(t.Context(), tables.Query{PK: "P"})
	_, _, feedErr := table.Changes(t.Context(), "shard-0", "", 1, 0)
	commitErr := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Delete(at("P", "S"))}})
	for call, err := range map[string]error{"Get": getErr, "Query": queryErr, "Changes": feedErr, "Commit": commitErr} {
		if !errors.Is(err, embedded.ErrClosed) {
			t.Errorf("%s: got %v, want %v", call, err, embedded.ErrClosed)
		}
	}
}
