package tables

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSize(t *testing.T) {
	for _, c := range []struct {
		item Item
		size int
	}{
		{nil, 0},
		{Item{"pk": "P", "sk": "S"}, 6},
		{Item{"n": "né"}, 4}, // 1 + 3 bytes of UTF-8
		{Item{"é": ""}, 2},   // names count, too
		{Item{"n": int64(0)}, 2},
		{Item{"n": int64(7)}, 3},  // 1 + 1 exponent + 1 for a digit
		{Item{"n": int64(12)}, 3}, // two digits share a byte
		{Item{"n": int64(123)}, 4},
		{Item{"n": int64(-123)}, 5},           // 1 for the sign
		{Item{"n": int64(1_000_000)}, 3},      // zeros at the end do not count
		{Item{"n": int64(1_000_001)}, 6},      // 7 digits: 4 bytes
		{Item{"n": int64(math.MinInt64)}, 13}, // 19 digits: 10 bytes, sign, exponent
		{Item{"b": true, "c": false}, 4},
		{Item{"b": []byte{1, 2, 3}}, 4},
		{Item{"s": NewSet("a", "bcd")}, 5},                // only the members count
		{Item{"l": List{}}, 4},                            // 1 + 3
		{Item{"l": List{"ab", int64(5)}}, 10},             // 1 + 3 + (1+2) + (1+2)
		{Item{"m": Map{"key": "value", "k": true}}, 16},   // 1 + 3 + (1+3+5) + (1+1+1)
		{Item{"m": Map{"l": List{Map{}, []byte{1}}}}, 15}, // 1 + 3 + (1+1+(3 + (1+3) + (1+1)))
	} {
		if got := c.item.Size(); got != c.size {
			t.Errorf("Size(%v) = %d, want %d", c.item, got, c.size)
		}
	}
}

func TestReadUnits(t *testing.T) {
	for _, c := range []struct {
		what        string
		units, want float64
	}{
		{"an absent item", GetUnits(Eventual, 0), 0.5},
		{"an absent item, read strongly consistently", GetUnits(Strong, 0), 1},
		{"exactly 4 KB", GetUnits(Strong, 4096), 1},
		{"a byte more than 4 KB", GetUnits(Strong, 4097), 2},
		{"400 KB", GetUnits(Eventual, 400<<10), 50},
		{"three items, each rounded up", GetUnits(Strong, 1, 4097, 100), 4},
		{"three items, read eventually consistently", GetUnits(Eventual, 1, 4097, 100), 2},
		{"an empty page", QueryUnits(Eventual), 0.5},
		{"an empty page, read strongly consistently", QueryUnits(Strong), 1},
		{"a page, whose sum is rounded up", QueryUnits(Strong, 1, 4097, 100), 2},
		{"100 posts of 1.6 KB", QueryUnits(Eventual, hundred(1638)...), 20},
		{"two items replayed", ReplayUnits(100, 5000), 6},
	} {
		if c.units != c.want {
			t.Errorf("%s: got %v units, want %v", c.what, c.units, c.want)
		}
	}
}

func hundred(size int) (sizes []int) {
	for range 100 {
		sizes = append(sizes, size)
	}
	return sizes
}

func TestWriteUnits(t *testing.T) {
	// pk and sk take 6 bytes, and the name of body takes 4.
	with := func(size int, more ...string) Item {
		i := Item{"pk": "P", "sk": "S", "body": strings.Repeat("x", size-10)}
		for n := 0; n < len(more); n += 2 {
			i[more[n]] = more[n+1]
		}
		return i
	}
	small := with(100)
	ranked := func(size int, sk string) Item { return with(size, "rank_pk", "R", "rank_sk", sk) }
	child := func(size int, sk string) Item { return with(size, "parent_pk", "R", "parent_sk", sk) }
	both := with(1200, "rank_pk", "R", "rank_sk", "1", "author_pk", "BY", "author_sk", "1")
	for _, c := range []struct {
		what       string
		old, now   Item
		alone, inT float64
	}{
		{"created", nil, small, 1, 2},
		{"exactly 1 KB", nil, with(1024), 1, 2},
		{"a byte more than 1 KB", nil, with(1025), 2, 4},
		{"replaced by a smaller one", with(3000), small, 3, 6},
		{"replaced by a larger one", small, with(3000), 3, 6},
		{"deleted", with(3000), nil, 3, 6},
		{"deleted, but absent", nil, nil, 1, 2},
		{"unchanged", with(3000), with(3000), 3, 6},

		// An index of items (by_rank) holds whole items, an index of keys (by_parent) only keys.
		{"only half of an index's key", nil, with(100, "rank_pk", "R"), 1, 2},
		{"enters an index of items", nil, ranked(2000, "1"), 2 + 2, 4 + 2},
		{"enters an index of items later", with(2000), ranked(2000, "1"), 2 + 2, 4 + 2},
		{"leaves an index of items", ranked(2000, "1"), with(2000), 2 + 2, 4 + 2},
		{"deleted with its entry", ranked(2000, "1"), nil, 2 + 2, 4 + 2},
		{"moves in an index of items", ranked(500, "1"), ranked(2000, "2"), 2 + 1 + 2, 4 + 1 + 2},
		{"changes in an index of items", ranked(500, "1"), ranked(2000, "1"), 2 + 2, 4 + 2},
		{"stays in an index of items", ranked(500, "1"), ranked(500, "1"), 1, 2},

		{"enters an index of keys", nil, child(2000, "1"), 2 + 1, 4 + 1},
		{"leaves an index of keys", child(2000, "1"), nil, 2 + 1, 4 + 1},
		{"moves in an index of keys", child(2000, "1"), child(2000, "2"), 2 + 2, 4 + 2},
		{"changes while in an index of keys", child(500, "1"), child(2000, "1"), 2, 4},
		// An entry in by_parent has 25 bytes plus its sort key.
		{"a long key in an index of keys", nil, child(100, strings.Repeat("x", 999)), 2 + 1, 4 + 1},
		{"a longer key in an index of keys", nil, child(100, strings.Repeat("x", 1000)), 2 + 2, 4 + 2},

		{"enters two indexes", nil, both, 2 + 2 + 1, 4 + 2 + 1},
		{"leaves two indexes", both, nil, 2 + 2 + 1, 4 + 2 + 1},
		{"leaves one and enters another", ranked(900, "1"), child(900, "1"), 1 + 1 + 1, 2 + 1 + 1},
	} {
		if got := WriteUnits(c.old, c.now, false); got != c.alone {
			t.Errorf("%s: got %v units, want %v", c.what, got, c.alone)
		}
		if got := WriteUnits(c.old, c.now, true); got != c.inT {
			t.Errorf("%s in a transaction: got %v units, want %v", c.what, got, c.inT)
		}
	}
	if got := TableUnits(100, 100, true); got != 2 {
		t.Errorf("check of a condition in a transaction: got %v units, want 2", got)
	}
}

// TestWriteUnits_SameEntry has index entries with values that == cannot compare.
func TestWriteUnits_SameEntry(t *testing.T) {
	item := func() Item {
		return Item{"pk": "P", "sk": "S", "rank_pk": "R", "rank_sk": "1", "b": []byte("b"), "s": NewSet("x"),
			"m": Map{"l": List{[]byte{1}, Map{"k": int64(1)}}}}
	}
	if got := WriteUnits(item(), item(), false); got != 1 {
		t.Errorf("unchanged entry: got %v units, want 1", got)
	}
	for attr, v := range map[string]any{"b": []byte("c"), "s": NewSet("y"), "m": Map{"l": List{[]byte{1}, Map{"k": int64(2)}}}, "rank_sk": "2"} {
		changed := item()
		changed[attr] = v
		want := 2.0
		if attr == "rank_sk" {
			want = 3
		}
		if got := WriteUnits(item(), changed, false); got != want {
			t.Errorf("changed %s: got %v units, want %v", attr, got, want)
		}
	}
}

func TestIndexWrites(t *testing.T) {
	at := func(pk, sk string, size int) Item {
		return Item{AttrPK: "P", AttrSK: "S", "rank_pk": pk, "rank_sk": sk, "text": strings.Repeat("x", size)}
	}
	type entry struct {
		pk, sk string
		size   int
		units  float64
	}
	for _, c := range []struct {
		name     string
		old, now Item
		want     []entry
	}{
		{"put", nil, at("a", "1", 1), []entry{{"a", "1", 27, 1}}},
		{"delete", at("a", "1", 1500), nil, []entry{{"a", "1", 1526, 2}}},
		{"a moved entry", at("a", "1", 1500), at("a", "2", 1), []entry{{"a", "1", 1526, 2}, {"a", "2", 27, 1}}},
		{"another partition", at("a", "1", 1), at("b", "1", 1), []entry{{"a", "1", 27, 1}, {"b", "1", 27, 1}}},
		{"the rest changed", at("a", "1", 1500), at("a", "1", 1), []entry{{"a", "1", 27, 2}}},
		{"nothing changed", at("a", "1", 1), at("a", "1", 1), nil},
		{"no key", Item{AttrPK: "P", AttrSK: "S", "rank_pk": "a"}, nil, nil},
	} {
		var got []entry
		for _, w := range IndexWrites(c.old, c.now) {
			if w.Index != ByRank {
				t.Errorf("%s: got a write to %s, want writes to %s only", c.name, w.Index, ByRank)
			}
			got = append(got, entry{w.PK, w.SK, w.Size, w.Units})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
