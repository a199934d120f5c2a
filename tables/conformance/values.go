package conformance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"agentsocial/tables"
)

func testGet(t *testing.T, b tables.Backend) {
	one, two := item(k("a", "1"), "n", int64(1)), item(k("a", "2"), "n", int64(2))
	mustCommit(t, b, tables.Put(one), tables.Put(two))

	for _, c := range []tables.Consistency{tables.Strong, tables.Eventual} {
		got, err := b.Get(t.Context(), c, k("a", "2"), k("none", "1"), k("a", "1"), k("a", "2"))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "items in the order of their keys", got, []tables.Item{two, nil, one, two})
	}
	got, err := b.Get(t.Context(), tables.Strong, k("a", "1"), k("a", "1"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "one key twice", got, []tables.Item{one, one})
	got, err = b.Get(t.Context(), tables.Strong, k("a", "3"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "an absent item", got, []tables.Item{nil})

	keys := make([]tables.Key, tables.MaxGetKeys)
	for i := range keys {
		keys[i] = k("a", fmt.Sprint(i))
	}
	if got, err := b.Get(t.Context(), tables.Eventual, keys...); err != nil || len(got) != len(keys) || got[1].Int("n") != 1 {
		t.Errorf("Get of 100 keys: got %v, %v; want 100 items, the second with n = 1", got, err)
	}
	for _, bad := range [][]tables.Key{nil, append(keys, k("a", "100")), {k("", "1")}, {k("a", "")}, {k("a", "1"), k("", "")}, {k("\xff", "1")}} {
		if _, err := b.Get(t.Context(), tables.Eventual, bad...); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("Get of %q: got %v, want ErrInvalid", bad, err)
		}
	}
	t.Run("20 MB", func(t *testing.T) { testLargeGet(t, b) })
}

// testLargeGet reads more than the 16 MB that DynamoDB returns in one answer.
func testLargeGet(t *testing.T, b tables.Backend) {
	pad := strings.Repeat("x", 390<<10)
	var keys []tables.Key
	for i := range 50 {
		key := k("large", fmt.Sprintf("%02d", i))
		keys = append(keys, key)
		mustCommit(t, b, tables.Put(item(key, "pad", pad)))
	}
	items, err := b.Get(t.Context(), tables.Strong, keys...)
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range items {
		if it.Key() != keys[i] || len(it.Str("pad")) != len(pad) {
			t.Fatalf("item %d: got %q with %d bytes, want %q with %d", i, it.Key(), len(it.Str("pad")), keys[i], len(pad))
		}
	}
}

func testValues(t *testing.T, b tables.Backend) {
	everyByte := make([]byte, 256)
	for i := range everyByte {
		everyByte[i] = byte(i)
	}
	for name, v := range map[string]any{
		"string":             "text",
		"empty string":       "",
		"control characters": "\x00\x01\n\t\x7f\u2028",
		"unicode":            "é 🦀 \U0010FFFF e\u0301 \uFFFD",
		"markup":             `<a href="x">&amp;'\`,
		"true":               true,
		"false":              false,
		"binary":             everyByte,
		"empty binary":       []byte{},
		"zeros":              []byte{0, 0, 0},
		"set":                tables.NewSet("b", "a", "é", "Z"),
		"set of one":         tables.NewSet("a"),
		"set with the empty": tables.NewSet("", "a"),
		"empty map":          tables.Map{},
		"empty list":         tables.List{},
		"nested": tables.Map{
			"list": tables.List{int64(1), "two", tables.List{}, tables.Map{"b": []byte{0}}, false},
			"set":  tables.NewSet("x", "y"), "a.b": "a name with a dot",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i, key := range []tables.Key{k("v", name), k(name, "v")} {
				if i == 0 {
					mustCommit(t, b, tables.Put(item(key, "v", v)))
				} else {
					mustCommit(t, b, tables.Change(key, tables.SetAttr("v", v)), tables.Delete(k("beside", name)))
				}
				wantItem(t, b, key, item(key, "v", v))
			}
			p := query(t, b, tables.Query{PK: name})
			same(t, "queried", p.Items, []tables.Item{item(k(name, "v"), "v", v)})
		})
	}
	t.Run("nil binary", func(t *testing.T) {
		mustCommit(t, b, tables.Put(item(k("v", "nil"), "v", []byte(nil))))
		wantItem(t, b, k("v", "nil"), item(k("v", "nil"), "v", []byte{}))
	})
	t.Run("an unsorted set", func(t *testing.T) {
		mustCommit(t, b, tables.Put(item(k("v", "set"), "v", tables.Set{"c", "a", "b"})))
		wantItem(t, b, k("v", "set"), item(k("v", "set"), "v", tables.Set{"a", "b", "c"}))
	})
	t.Run("only keys", func(t *testing.T) {
		mustCommit(t, b, tables.Put(item(k("only", "keys"))))
		wantItem(t, b, k("only", "keys"), item(k("only", "keys")))
	})
	t.Run("a put replaces everything", func(t *testing.T) {
		key := k("replace", "1")
		mustCommit(t, b, tables.Put(item(key, "a", int64(1), "b", "x")))
		mustCommit(t, b, tables.Put(item(key, "c", true)))
		wantItem(t, b, key, item(key, "c", true))
	})
}

func testNumbers(t *testing.T, b tables.Backend) {
	numbers := []int64{
		0, 1, -1, 10, 100, 1000000, -100, 1<<53 - 1, 1 << 53, 1<<53 + 1, -(1 << 53), -(1<<53 + 1),
		1_000_000_000_000_000_000, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1,
	}
	for _, n := range numbers {
		key := k("n", fmt.Sprint(n))
		mustCommit(t, b, tables.Put(item(key, "v", n)))
		wantItem(t, b, key, item(key, "v", n))
		mustCommit(t, b, tables.Change(key, tables.Add("w", n)).When(tables.Equal("v", n), tables.AtLeast("v", n)))
		wantItem(t, b, key, item(key, "v", n, "w", n))
		if n < math.MaxInt64 {
			mustCommit(t, b, tables.Change(key, tables.SetAttr("x", true)).When(tables.Before("v", n+1), tables.NotEqual("v", n+1)))
			mustCancel(t, b, []tables.Reason{{Failed: true, Old: item(key, "v", n, "w", n, "x", true)}},
				tables.Delete(key, tables.AtLeast("v", n+1)))
		}
	}
}

func testRefusedValues(t *testing.T, b tables.Backend) {
	key := k("refused", "1")
	for name, v := range map[string]any{
		"nil":                       nil,
		"an int":                    1,
		"a float":                   1.5,
		"a slice of strings":        []string{"a"},
		"an empty set":              tables.Set{},
		"an empty set in a map":     tables.Map{"s": tables.Set{}},
		"an empty name in a map":    tables.Map{"": "x"},
		"a nil in a list":           tables.List{nil},
		"a set with a member twice": tables.Set{"a", "a"},
		"not UTF-8":                 "\xff",
		"not UTF-8 in a set":        tables.Set{"\xff"},
		"a name that is not UTF-8":  tables.Map{"\xff": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			mustRefuse(t, b, tables.Put(item(key, "v", v)))
			mustRefuse(t, b, tables.Change(key, tables.SetAttr("v", v)))
		})
	}
	for name, bad := range map[string]tables.Write{
		"no partition key":       tables.Put(tables.Item{"sk": "a"}),
		"no sort key":            tables.Put(tables.Item{"pk": "a"}),
		"empty partition key":    tables.Put(item(k("", "a"))),
		"empty sort key":         tables.Put(item(k("a", ""))),
		"a number as key":        tables.Put(tables.Item{"pk": int64(1), "sk": "a"}),
		"a key not UTF-8":        tables.Put(item(k("a", "\xff"))),
		"delete of an empty key": tables.Delete(k("", "")),
		"change of an empty key": tables.Change(k("a", ""), tables.SetAttr("x", "x")),
		"an empty name":          tables.Put(item(key, "", "x")),
		"an item under another's key": {
			Op: tables.OpPut, Key: k("refused", "2"), Item: item(key),
		},
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, b, bad) })
	}
	wantItem(t, b, key, nil)
}

// testOwnership checks that changing a value that was written or read does not
// change the stored item.
func testOwnership(t *testing.T, b tables.Backend) {
	key := k("own", "1")
	whole := func() tables.Item {
		return item(key, "b", []byte("abc"), "s", tables.NewSet("a", "b"), "m", tables.Map{"l": tables.List{"x"}})
	}
	spoil := func(i tables.Item) {
		i["b"].([]byte)[0] = 'X'
		i["s"].(tables.Set)[0] = "X"
		i["m"].(tables.Map)["l"].(tables.List)[0] = "X"
		i["pk"] = "X"
	}
	given := whole()
	mustCommit(t, b, tables.Put(given))
	spoil(given)
	wantItem(t, b, key, whole())
	got := read(t, b, key)
	spoil(got)
	wantItem(t, b, key, whole())
	twice, err := b.Get(t.Context(), tables.Strong, key, key)
	if err != nil || len(twice) != 2 {
		t.Fatalf("Get of one key twice: got %v, %v; want two items", twice, err)
	}
	spoil(query(t, b, tables.Query{PK: "own"}).Items[0])
	wantItem(t, b, key, whole())

	before := read(t, b, key)
	value := tables.List{"x", []byte("y")}
	mustCommit(t, b, tables.Change(key, tables.SetAttr("l", value)))
	same(t, "an item read before a change", before, whole())
	value[1].([]byte)[0] = 'X'
	changed := whole()
	changed["l"] = tables.List{"x", []byte("y")}
	wantItem(t, b, key, changed)
	err = commit(t.Context(), b, tables.Delete(key, tables.NoItem()))
	refusal, ok := errors.AsType[*tables.Cancelled](err)
	if !ok {
		t.Fatalf("a delete on condition that there is no item: got %v, want a *Cancelled", err)
	}
	spoil(refusal.Reasons[0].Old)
	wantItem(t, b, key, changed)

	set := slices.Clone(tables.Set{"c", "a"})
	mustCommit(t, b, tables.Change(key, tables.Update{Op: tables.UpdSet, Attr: "s", Value: set}))
	same(t, "the caller's unsorted set after a commit", set, tables.Set{"c", "a"})
}
