package embedded_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func nested(depth int) any {
	var v any = int64(1)
	for range depth {
		v = tables.List{v}
	}
	return v
}

func puts(n, size int) (writes []tables.Write) {
	for i := range n {
		writes = append(writes, tables.Put(item{"pk": "PUTS", "sk": fmt.Sprint(i), "b": make([]byte, size)}))
	}
	return writes
}

// A single invalid write gets a valid neighbour, to show that nothing of a refused
// transaction is written.
func TestRefusedCommits(t *testing.T) { onBoth(t, testRefusedCommits) }

func testRefusedCommits(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	k := at("P", "S")
	stands := item{"pk": "P", "sk": "S", "s": "text", "n": int64(math.MaxInt64), "set": tables.NewSet("a"), "b": make([]byte, 300_000)}
	commit(t, table, tables.Put(stands))
	put := func(attr string, v any) tables.Write {
		return tables.Put(item{"pk": "X", "sk": "Y", attr: v})
	}
	long := strings.Repeat("x", 2049)
	for name, w := range map[string][]tables.Write{
		"no write at all":               nil,
		"101 writes":                    puts(101, 1),
		"more than 4 MB":                puts(11, 390_000),
		"one item twice":                {tables.Delete(at("X", "Y")), tables.Check(at("X", "Y"), tables.NoItem())},
		"no partition key":              {tables.Put(item{"sk": "Y"})},
		"no sort key":                   {tables.Delete(at("X", ""))},
		"long partition key":            {tables.Delete(at(long, "Y"))},
		"long sort key":                 {tables.Delete(at("X", long[:1025]))},
		"key that is not UTF-8":         {tables.Delete(at("X", "\xff"))},
		"key of another item":           {{Op: tables.OpPut, Key: k, Item: item{"pk": "X", "sk": "Y"}}},
		"large item":                    {put("b", make([]byte, tables.MaxItemSize-6))},
		"item grown too large":          {tables.Change(k, tables.SetAttr("b2", make([]byte, 200_000)))},
		"empty set":                     {put("s", tables.Set{})},
		"nil set":                       {put("s", tables.Set(nil))},
		"set with a duplicate":          {put("s", tables.Set{"a", "a"})},
		"set not UTF-8":                 {put("s", tables.Set{"\xff"})},
		"empty set in a map":            {put("m", tables.Map{"s": tables.Set{}})},
		"int":                           {put("n", 1)},
		"nil":                           {put("n", nil)},
		"[]string":                      {put("l", []string{"a"})},
		"string not UTF-8":              {put("s", "\xff")},
		"no attribute name":             {put("", "x")},
		"32 lists":                      {put("l", nested(32))},
		"empty index key":               {put("rank_pk", "")},
		"number as index key":           {put("parent_sk", int64(1))},
		"long index key":                {put("author_sk", long)},
		"index key set to empty":        {tables.Change(k, tables.SetAttr("rank_sk", ""))},
		"number added to an index key":  {tables.Change(k, tables.Add("rank_sk", 1))},
		"no updates":                    {tables.Change(k)},
		"update of a key":               {tables.Change(k, tables.SetAttr("sk", "Z"))},
		"attribute updated twice":       {tables.Change(k, tables.Add("n", -1), tables.RemoveAttr("n"))},
		"add to a string":               {tables.Change(k, tables.Add("s", 1))},
		"add beyond int64":              {tables.Change(k, tables.Add("n", 1))},
		"add members to a string":       {tables.Change(k, tables.AddToSet("s", "a"))},
		"remove members from a string":  {tables.Change(k, tables.RemoveFromSet("s", "a"))},
		"no members":                    {tables.Change(k, tables.AddToSet("set"))},
		"check without a condition":     {tables.Check(k)},
		"condition of int":              {tables.Delete(k, tables.Equal("n", 1))},
		"condition of a set":            {tables.Delete(k, tables.Equal("set", tables.NewSet("a")))},
		"condition without a name":      {tables.Delete(k, tables.Absent(""))},
		"condition without an operator": {tables.Delete(k, tables.Cond{Attr: "n"})},
		"write without an operation":    {{Key: k}},
		"update without an operation":   {tables.Change(k, tables.Update{Attr: "n"})},
	} {
		if len(w) == 1 {
			w = append(w, tables.Put(item{"pk": "NEIGHBOUR", "sk": "S"}))
		}
		if err := table.Commit(t.Context(), tables.Tx{Writes: w}); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("commit with %s: got %v, want %v", name, err, tables.ErrInvalid)
		}
	}
	if err := table.Commit(t.Context(), tables.Tx{Token: strings.Repeat("x", 37), Writes: puts(1, 1)}); !errors.Is(err, tables.ErrInvalid) {
		t.Errorf("long token: got %v, want %v", err, tables.ErrInvalid)
	}
	bad := tables.Change(k, tables.Add("s", 1))
	fails := tables.Delete(at("X", "Y"), tables.ItemExists())
	if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{fails, bad}}); !errors.Is(err, tables.ErrInvalid) {
		t.Errorf("failed condition, then an invalid write: got %v, want %v", err, tables.ErrInvalid)
	}
	if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{bad.When(tables.NoItem())}}); !errors.As(err, new(*tables.Cancelled)) {
		t.Errorf("invalid write with a failed condition: got %v, want it cancelled", err)
	}
	want(t, table, stands)
	if n := len(changes(t, table, "")); n != 1 {
		t.Errorf("after refused commits: got %d changes in the feed, want 1", n)
	}
	commit(t, table, put("b", make([]byte, tables.MaxItemSize-7)),
		tables.Put(item{"pk": "X", "sk": "L", "l": nested(31)}),
		tables.Put(item{"pk": "X", "sk": "S", "s": tables.Set{"b", "", "a"}}))
	commit(t, table, puts(100, 1)...)
	want(t, table, item{"pk": "X", "sk": "S", "s": tables.Set{"", "a", "b"}})
}

func TestRefusedReads(t *testing.T) {
	table := open(t, embedded.Config{})
	k := at("P", "S")
	for name, keys := range map[string][]key{
		"no keys":           nil,
		"101 keys":          make([]key, 101),
		"an empty sort key": {k, at("P", "")},
	} {
		if _, err := table.Get(t.Context(), tables.Strong, keys...); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("get of %s: got %v, want %v", name, err, tables.ErrInvalid)
		}
	}
	for name, q := range map[string]tables.Query{
		"no partition":                   {},
		"negative limit":                 {PK: "P", Limit: -1},
		"unknown index":                  {PK: "P", Index: "by_name"},
		"strong consistency of an index": {PK: "P", Index: tables.ByRank, Consistency: tables.Strong},
		"bound not UTF-8":                {PK: "P", To: "P#\xff"},
		"empty position":                 {PK: "P", After: &tables.Position{}},
		"position in an index":           {PK: "P", After: &tables.Position{SK: "S", Key: k}},
		"position without key":           {PK: "P", Index: tables.ByRank, After: &tables.Position{SK: "S"}},
	} {
		if _, err := table.Query(t.Context(), q); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("query with %s: got %v, want %v", name, err, tables.ErrInvalid)
		}
	}
	for _, c := range []struct {
		shard, after string
		limit        int
	}{{"x", "", 1}, {"shard-0", "x", 1}, {"shard-0", "", 0}} {
		if _, _, err := table.Changes(t.Context(), c.shard, c.after, c.limit, 0); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("Changes of %+v: got %v, want %v", c, err, tables.ErrInvalid)
		}
	}
}
