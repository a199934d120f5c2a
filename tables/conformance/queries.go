package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentsocial/tables"
)

// letters fills partition "p" with the sort keys b, d, f, h, and puts items into
// partitions with similar keys.
func letters(t *testing.T, b tables.Backend) {
	t.Helper()
	for _, sk := range []string{"h", "b", "f", "d"} {
		mustCommit(t, b, tables.Put(item(k("p", sk), "v", sk)))
	}
	for _, pk := range []string{"o", "pp", "P", "p\x00", "q"} {
		mustCommit(t, b, tables.Put(item(k(pk, "d"))))
	}
}

func testQueries(t *testing.T, b tables.Backend) {
	letters(t, b)
	for _, c := range []struct{ from, to, want string }{
		{"", "", "bdfh"},
		{"d", "", "dfh"},
		{"c", "", "dfh"},
		{"", "f", "bdf"},
		{"", "g", "bdf"},
		{"d", "f", "df"},
		{"c", "g", "df"},
		{"d", "d", "d"},
		{"e", "e", ""},
		{"i", "", ""},
		{"", "a", ""},
		{"b\x00", "", "dfh"},
		{"", "b\x00", "b"},
		{"f", "d", ""},
	} {
		for _, desc := range []bool{false, true} {
			want := strings.Split(c.want, "")
			if desc {
				slices.Reverse(want)
			}
			p := query(t, b, tables.Query{PK: "p", From: c.from, To: c.to, Desc: desc, Consistency: tables.Strong})
			name := fmt.Sprintf("[%q, %q] descending %t", c.from, c.to, desc)
			same(t, name, sks(p.Items), append([]string{}, want...))
			if p.Next != nil {
				t.Errorf("%s: got Next %v, want nil", name, p.Next)
			}
		}
	}
	same(t, "whole items", query(t, b, tables.Query{PK: "p", To: "b"}).Items, []tables.Item{item(k("p", "b"), "v", "b")})
	if p := query(t, b, tables.Query{PK: "nothing"}); len(p.Items) != 0 || p.Next != nil {
		t.Errorf("empty partition: got %v, want an empty page without Next", p)
	}
}

func testSomeAttributes(t *testing.T, b tables.Backend) {
	whole := item(k("p", "b"), "v", "b", "n", int64(7), "m", tables.Map{"a": "x", "b": tables.List{"y", int64(-300)}},
		"s", tables.NewSet("one", "two"), "flag", false, "bytes", []byte{1, 2, 3}, "text", strings.Repeat("lorem ", 1000))
	mustCommit(t, b, tables.Put(whole), tables.Put(item(k("p", "c"), "w", "c")))
	spent := func(q tables.Query) (tables.Page, float64) {
		t.Helper()
		ctx, u := tables.WithUsage(t.Context())
		p, err := b.Query(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return p, u.ReadUnits()
	}
	q := tables.Query{PK: "p", Consistency: tables.Strong}
	_, units := spent(q)
	for _, c := range []struct {
		names []string
		want  []tables.Item
	}{
		{nil, []tables.Item{item(k("p", "b")), item(k("p", "c"))}},
		{[]string{"v", "n", "nothing"}, []tables.Item{item(k("p", "b"), "v", "b", "n", int64(7)), item(k("p", "c"))}},
		{[]string{"w", "m", "sk", "flag", "s"}, []tables.Item{
			item(k("p", "b"), "m", whole["m"], "flag", false, "s", whole["s"]), item(k("p", "c"), "w", "c"),
		}},
		{[]string{"v", "w", "n", "m", "s", "flag", "bytes", "text"}, []tables.Item{whole, item(k("p", "c"), "w", "c")}},
	} {
		q.Only = tables.Project(c.names...)
		p, only := spent(q)
		same(t, fmt.Sprintf("only %q", c.names), p.Items, c.want)
		if only != units {
			t.Errorf("only %q: got %v read units, want %v as for the whole items", c.names, only, units)
		}
	}
	q.Limit = 1
	if p, _ := spent(q); p.Next == nil || p.Next.SK != "b" {
		t.Errorf("a page of one item: got Next %v, want b", p.Next)
	}
	_, err := b.Query(t.Context(), tables.Query{Index: tables.ByRank, PK: "p", Only: tables.Project("v")})
	if !errors.Is(err, tables.ErrInvalid) {
		t.Errorf("a projection of an index: got %v, want ErrInvalid", err)
	}
}

// A page that stops at its limit has a Next, even after the last item.
func testPaging(t *testing.T, b tables.Backend) {
	letters(t, b)
	for _, c := range []struct {
		q    tables.Query
		want string // the sort keys of each page; "." is an empty page
	}{
		{tables.Query{Limit: 1}, "b d f h ."},
		{tables.Query{Limit: 2}, "bd fh ."},
		{tables.Query{Limit: 3}, "bdf h"},
		{tables.Query{Limit: 4}, "bdfh ."},
		{tables.Query{Limit: 5}, "bdfh"},
		{tables.Query{Limit: 1000000}, "bdfh"},
		{tables.Query{Limit: 2, Desc: true}, "hf db ."},
		{tables.Query{Limit: 3, Desc: true}, "hfd b"},
		{tables.Query{Limit: 1, From: "c", To: "g"}, "d f ."},
		{tables.Query{Limit: 2, From: "c", To: "f"}, "df ."},
		{tables.Query{Limit: 3, From: "c", To: "f"}, "df"},
		{tables.Query{Limit: 1, From: "d", To: "f", Desc: true}, "f d ."},
		{tables.Query{Limit: 1, From: "e", To: "e"}, "."},
	} {
		c.q.PK = "p"
		c.q.Consistency = tables.Strong
		var got []string
		for range 10 {
			p := query(t, b, c.q)
			page := strings.Join(sks(p.Items), "")
			if page == "" {
				page = "."
			}
			got = append(got, page)
			if p.Next == nil {
				break
			}
			same(t, fmt.Sprintf("Next after page %s with limit %d", page, c.q.Limit), *p.Next, tables.Position{SK: page[len(page)-1:]})
			c.q.After = p.Next
		}
		same(t, fmt.Sprintf("limit %d [%s, %s] descending %t", c.q.Limit, c.q.From, c.q.To, c.q.Desc), strings.Join(got, " "), c.want)
	}
}

func testCursors(t *testing.T, b tables.Backend) {
	letters(t, b)
	for _, desc := range []bool{false, true} {
		for _, bounds := range [][2]string{{"", ""}, {"d", ""}, {"", "f"}, {"d", "f"}, {"c", "g"}, {"f", "d"}} {
			for _, after := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
				want := []string{}
				for _, sk := range []string{"b", "d", "f", "h"} {
					within := sk >= bounds[0] && (bounds[1] == "" || sk <= bounds[1])
					if within && (!desc && sk > after || desc && sk < after) {
						want = append(want, sk)
					}
				}
				if desc {
					slices.Reverse(want)
				}
				p := query(t, b, tables.Query{PK: "p", From: bounds[0], To: bounds[1], Desc: desc, After: &tables.Position{SK: after}})
				name := fmt.Sprintf("%q after %s, descending %t", bounds, after, desc)
				same(t, name, sks(p.Items), want)
				if p.Next != nil {
					t.Errorf("%s: got Next %v, want nil", name, p.Next)
				}
			}
		}
	}
	t.Run("from the position of a deleted item", func(t *testing.T) {
		p := query(t, b, tables.Query{PK: "p", Limit: 2})
		mustCommit(t, b, tables.Delete(k("p", p.Next.SK)))
		same(t, "items after the deleted one", sks(query(t, b, tables.Query{PK: "p", After: p.Next}).Items), []string{"f", "h"})
	})
}

func testRefusedQueries(t *testing.T, b tables.Backend) {
	for name, q := range map[string]tables.Query{
		"no partition":                                   {},
		"an unknown index":                               {PK: "p", Index: "by_magic"},
		"a strong read of an index":                      {PK: "p", Index: tables.ByRank, Consistency: tables.Strong},
		"a negative limit":                               {PK: "p", Limit: -1},
		"a partition not UTF-8":                          {PK: "\xff"},
		"a bound not UTF-8":                              {PK: "p", From: "\xff"},
		"a position without a sort key":                  {PK: "p", After: &tables.Position{}},
		"a position of an index in a query of the table": {PK: "p", After: &tables.Position{SK: "a", Key: k("p", "a")}},
		"a position too long":                            {PK: "p", After: &tables.Position{SK: strings.Repeat("x", tables.MaxSKSize+1)}},
		"a position in an index without a primary key":   {PK: "p", Index: tables.ByRank, After: &tables.Position{SK: "a"}},
	} {
		if p, err := b.Query(t.Context(), q); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("%s: got %v, %v; want ErrInvalid", name, p, err)
		}
	}
}

// testOrder checks that sort keys are in the order of UTF-8 bytes. UTF-16 has another order:
// U+10000 before U+FB00.
func testOrder(t *testing.T, b tables.Backend) {
	ordered := []string{
		"\x00", "\x00\x00", "\x01", " ", "#", "0", "00", "1", "10", "2", "A", "Z", "Z\x00", "a", "a\x00", "a\x01", "aa", "b", "~", "\x7f",
		"\u0080", "e\u0301", "é", "ÿ", "Ā", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufb00", "\ufffd", "\uffff", "\U00010000", "🦀", "\U0010ffff",
	}
	slices.Sort(ordered)
	for _, i := range []int{7, 20, 3} {
		ordered = append(ordered[i:], ordered[:i]...) // write in another order
	}
	for _, sk := range ordered {
		mustCommit(t, b, tables.Put(item(k("order", sk), "rank_pk", "order", "rank_sk", sk)))
	}
	slices.Sort(ordered)
	for _, index := range []tables.Index{"", tables.ByRank} {
		q := tables.Query{Index: index, PK: "order"}
		same(t, fmt.Sprintf("index %q, ascending", index), sks(query(t, b, q).Items), ordered)
		q.Limit = 1
		var one []string
		for range len(ordered) + 1 {
			p := query(t, b, q)
			one = append(one, sks(p.Items)...)
			if q.After = p.Next; p.Next == nil {
				break
			}
		}
		same(t, fmt.Sprintf("index %q, one by one", index), one, ordered)
		q = tables.Query{Index: index, PK: "order", Desc: true, From: "\u0080", To: "\ufffd"}
		want := ordered[slices.Index(ordered, "\u0080") : slices.Index(ordered, "\ufffd")+1]
		want = slices.Clone(want)
		slices.Reverse(want)
		same(t, fmt.Sprintf("index %q, a range, descending", index), sks(query(t, b, q).Items), want)
	}
}

// testLargePages reads 2.5 MB. It does not check where exactly a page ends.
func testLargePages(t *testing.T, b tables.Backend) {
	var want []string
	for i := range 25 {
		key := k("large", fmt.Sprintf("%02d", i))
		want = append(want, key.SK)
		it := sized(key, 100<<10)
		it["rank_pk"], it["rank_sk"] = "large", key.SK
		mustCommit(t, b, tables.Put(it))
	}
	for _, q := range []tables.Query{
		{}, {Desc: true}, {Limit: 20}, {Index: tables.ByRank}, {Index: tables.ByRank, Desc: true}, {From: "01", To: "23"},
	} {
		q.PK = "large"
		name := fmt.Sprintf("%+v", q)
		want := slices.Clone(want)
		if q.From != "" {
			want = want[1:24]
		}
		if q.Desc {
			slices.Reverse(want)
		}
		var got []string
		for pages := 1; ; pages++ {
			p := query(t, b, q)
			size := 0
			for _, it := range p.Items {
				size += len(it.Str("pad"))
			}
			if size > tables.MaxPageSize+(110<<10) || len(p.Items) < 9 && p.Next != nil {
				t.Errorf("%s: got a page of %d items and %d bytes, want about 1 MB", name, len(p.Items), size)
			}
			got = append(got, sks(p.Items)...)
			if q.After = p.Next; p.Next == nil {
				if pages < 3 {
					t.Errorf("%s: got %d pages, want at least 3", name, pages)
				}
				break
			}
		}
		same(t, name, got, want)
	}
}
