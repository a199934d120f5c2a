package tables_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func putIdea(t *testing.T, table *embedded.Table, id string) *tables.Idea {
	t.Helper()
	i := &tables.Idea{ID: id, By: tables.Author{ID: "ag_fox"}, Status: tables.IdeaOpen}
	for _, item := range i.Items() {
		commit(t, table, tables.Put(item, tables.NoItem()))
	}
	return i
}

func readIdea(t *testing.T, table *embedded.Table, id string) *tables.Idea {
	t.Helper()
	i := new(tables.Idea)
	if err := tables.Unmarshal(get(t, table, tables.IdeaKey(id)), i); err != nil {
		t.Fatal(err)
	}
	return i
}

func duplicateOf(id string) tables.IdeaStatus {
	return tables.IdeaStatus{Status: tables.IdeaDuplicate, DuplicateOf: id, By: "ag_owl", At: 7}
}

func TestIdeaSet_ConcurrentDuplicates(t *testing.T) {
	table := openTable(t)
	for _, id := range []string{"id_a", "id_b", "id_c", "id_d"} {
		putIdea(t, table, id)
	}
	a, b := readIdea(t, table, "id_a"), readIdea(t, table, "id_b")
	there := a.Set(duplicateOf("id_b"), b)
	a, b = readIdea(t, table, "id_a"), readIdea(t, table, "id_b")
	back := b.Set(duplicateOf("id_a"), a)
	commit(t, table, there...)
	if got := refused(t, table, back...); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("id_b as a duplicate of id_a: refused writes: got %v, want [0 2]", got)
	}
	if i := readIdea(t, table, "id_b"); !slices.Equal(i.Duplicates, tables.NewSet("id_a")) || i.Status != tables.IdeaOpen {
		t.Errorf("id_b: got %+v, want it open with the duplicate id_a", i)
	}
	// id_b becomes a duplicate of id_c and takes its own duplicate id_a along.
	b, c, d := readIdea(t, table, "id_b"), readIdea(t, table, "id_c"), readIdea(t, table, "id_d")
	late := d.Set(duplicateOf("id_b"), readIdea(t, table, "id_b"))
	commit(t, table, b.Set(duplicateOf("id_c"), c)...)
	if got := refused(t, table, late...); !slices.Equal(got, []int{2}) {
		t.Errorf("id_d as a duplicate of id_b: refused writes: got %v, want [2]", got)
	}
	if i := readIdea(t, table, "id_a"); i.DuplicateOf != "id_c" {
		t.Errorf("id_a: got %+v, want a duplicate of id_c", i)
	}
	if c, b := readIdea(t, table, "id_c"), readIdea(t, table, "id_b"); !slices.Equal(c.Duplicates, tables.NewSet("id_a", "id_b")) || len(b.Duplicates) > 0 {
		t.Errorf("id_c: got %+v, id_b: got %+v; want all duplicates in id_c", c, b)
	}
	a = readIdea(t, table, "id_a")
	commit(t, table, a.Set(tables.IdeaStatus{Status: tables.IdeaOpen}, nil)...)
	if c := readIdea(t, table, "id_c"); !slices.Equal(c.Duplicates, tables.NewSet("id_b")) {
		t.Errorf("id_c: got %+v, want the duplicate id_b alone", c)
	}
	if item := get(t, table, tables.IdeaCountersKey("id_a")); item.Str("rank_pk") != tables.IdeasPK(tables.IdeaOpen) {
		t.Errorf("counters of id_a: got %v, want them listed as open", item)
	}
}

func TestIdeaSet_MostDuplicates(t *testing.T) {
	table := openTable(t)
	original, other := putIdea(t, table, "id_original"), putIdea(t, table, "id_other")
	for n := range tables.IdeaDuplicatesMost {
		i := putIdea(t, table, "id_"+strings.Repeat("x", n+1))
		commit(t, table, i.Set(duplicateOf("id_original"), original)...)
		original = readIdea(t, table, "id_original")
	}
	w := original.Set(duplicateOf("id_other"), other)
	if most := tables.MaxTxWrites - 2; len(w) > most { // leaves room for the request's own records
		t.Fatalf("making the original a duplicate: got %d writes, want at most %d", len(w), most)
	}
	commit(t, table, w...)
	if n := len(readIdea(t, table, "id_other").Duplicates); n != tables.IdeaDuplicatesMost+1 {
		t.Errorf("id_other: got %d duplicates, want %d", n, tables.IdeaDuplicatesMost+1)
	}
}

func TestOneIdea(t *testing.T) {
	table := openTable(t)
	commit(t, table, tables.Put((&tables.Profile{ID: "ag_fox"}).Item()))
	for _, x := range []struct {
		after time.Duration
		ok    bool
	}{{0, true}, {0, false}, {tables.IdeaInterval - time.Millisecond, false}, {tables.IdeaInterval, true}} {
		if got := refused(t, table, tables.OneIdea("ag_fox", noon.Add(x.after))); (len(got) == 0) != x.ok {
			t.Errorf("idea after %v: got refused writes %v, want accepted = %t", x.after, got, x.ok)
		}
	}
	if got := refused(t, table, tables.OneIdea("ag_owl", noon)); len(got) == 0 {
		t.Error("idea of an agent without a profile: refused writes: got none, want some")
	}
}

func TestIdeaCountersAdd_Milestones(t *testing.T) {
	c := tables.IdeaCounters{ID: "id_a", By: "ag_fox"}
	for _, x := range []struct {
		support, told, add, reached, last int64
	}{{0, 0, 1, 1, 1}, {0, 0, 9, 1, 1}, {0, 0, 10, 2, 10}, {0, 1, 10, 1, 10}, {1, 1, 1, 0, 0}, {9, 10, 1, 0, 0}, {99, 10, 1, 1, 100}, {5, 1, -5, 0, 0}, {0, 0, 1234, 4, 1000}} {
		c.Support, c.Told = x.support, x.told
		writes := c.Add(x.add, noon)
		if int64(len(writes)-1) != x.reached || x.reached > 0 && writes[x.reached].Item.Int("support") != x.last {
			t.Errorf("Add for %+v: got writes %v, want %d milestones up to %d", x, writes, x.reached, x.last)
		}
	}
}

// Each bit of pattern is a step: 1 gives or takes back support, 0 counts it.
func TestSupportOf_TornReads(t *testing.T) {
	const steps = 7
	for pattern := range 1 << steps {
		table := openTable(t)
		putIdea(t, table, "id_a")
		read := func() (s tables.Support, c tables.IdeaCounters) {
			for key, v := range map[tables.Key]any{tables.SupportKey("id_a", "ag_owl"): &s, tables.IdeaCountersKey("id_a"): &c} {
				if err := tables.Unmarshal(get(t, table, key), v); err != nil {
					t.Fatal(err)
				}
			}
			return s, c
		}
		s, c := read()
		before, support := []tables.IdeaCounters{c}, []tables.Support{s}
		for step := range steps {
			if pattern>>step&1 == 1 {
				n := s.Of(&c)
				if s.Idea, s.By, s.On, s.Number = "id_a", "ag_owl", !s.On, n+1; !s.On {
					s.Number = n - 1
				}
				commit(t, table, s.Give())
				support = nil
			} else if get(t, table, tables.SupportKey("id_a", "ag_owl")).Str(tables.AttrType) == tables.TypeSupport {
				writes := c.Add(s.Adds(), noon)
				commit(t, table, append(writes, s.Count(&c))...)
			}
			s, c = read()
			before, support = append(before, c), append(support, s)
			check := func(s tables.Support, c tables.IdeaCounters) {
				if n := s.Of(&c); n != 0 && n != 1 || s.On != (n == 1) {
					t.Fatalf("pattern %b: Of = %d for %+v and %+v, want 1 if On, else 0", pattern, n, s, c)
				}
			}
			for _, earlier := range support {
				check(earlier, c)
			}
			for _, earlier := range before {
				check(s, earlier)
			}
		}
	}
}
