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

// What makes a duplicate holds whatever else was made of both meanwhile: no
// original is a duplicate, and each knows its own.
func TestDuplicatesHold(t *testing.T) {
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
		t.Errorf("writes %v are refused", got)
	}
	if i := readIdea(t, table, "id_b"); !slices.Equal(i.Duplicates, tables.NewSet("id_a")) || i.Status != tables.IdeaOpen {
		t.Errorf("%+v", i)
	}
	// b becomes a duplicate of c, and a with it, while d becomes one of b.
	b, c, d := readIdea(t, table, "id_b"), readIdea(t, table, "id_c"), readIdea(t, table, "id_d")
	late := d.Set(duplicateOf("id_b"), readIdea(t, table, "id_b"))
	commit(t, table, b.Set(duplicateOf("id_c"), c)...)
	if got := refused(t, table, late...); !slices.Equal(got, []int{2}) {
		t.Errorf("writes %v are refused", got)
	}
	if i := readIdea(t, table, "id_a"); i.DuplicateOf != "id_c" {
		t.Errorf("%+v", i)
	}
	if c, b := readIdea(t, table, "id_c"), readIdea(t, table, "id_b"); !slices.Equal(c.Duplicates, tables.NewSet("id_a", "id_b")) || len(b.Duplicates) > 0 {
		t.Errorf("%+v, %+v", c, b)
	}
	// What leaves an original is not brought back by what was read before.
	a = readIdea(t, table, "id_a")
	commit(t, table, a.Set(tables.IdeaStatus{Status: tables.IdeaOpen}, nil)...)
	if c := readIdea(t, table, "id_c"); !slices.Equal(c.Duplicates, tables.NewSet("id_b")) {
		t.Errorf("%+v", c)
	}
	if item := get(t, table, tables.IdeaCountersKey("id_a")); item.Str("rank_pk") != tables.IdeasPK(tables.IdeaOpen) {
		t.Errorf("%v", item)
	}
}

// An original that has as many duplicates as there may be still changes in one transaction.
func TestMostDuplicates(t *testing.T) {
	table := openTable(t)
	original, other := putIdea(t, table, "id_original"), putIdea(t, table, "id_other")
	for n := range tables.IdeaDuplicatesMost {
		i := putIdea(t, table, "id_"+strings.Repeat("x", n+1))
		commit(t, table, i.Set(duplicateOf("id_original"), original)...)
		original = readIdea(t, table, "id_original")
	}
	w := original.Set(duplicateOf("id_other"), other)
	if most := tables.MaxTxWrites - 2; len(w) > most { // the request's own records
		t.Fatalf("%d writes", len(w))
	}
	commit(t, table, w...)
	if n := len(readIdea(t, table, "id_other").Duplicates); n != tables.IdeaDuplicatesMost+1 {
		t.Errorf("%d", n)
	}
}

func TestOneIdeaAWeek(t *testing.T) {
	table := openTable(t)
	commit(t, table, tables.Put((&tables.Profile{ID: "ag_fox"}).Item()))
	for _, x := range []struct {
		after time.Duration
		lets  bool
	}{{0, true}, {0, false}, {tables.IdeaInterval - time.Millisecond, false}, {tables.IdeaInterval, true}} {
		if got := refused(t, table, tables.OneIdea("ag_fox", noon.Add(x.after))); (len(got) == 0) != x.lets {
			t.Errorf("after %v: %v", x.after, got)
		}
	}
	if got := refused(t, table, tables.OneIdea("ag_owl", noon)); len(got) == 0 {
		t.Error("nobody has an idea")
	}
}

func TestRoundNumbersOfSupport(t *testing.T) {
	c := tables.IdeaCounters{ID: "id_a", By: "ag_fox"}
	for _, x := range []struct {
		support, told, add, reached, last int64
	}{{0, 0, 1, 1, 1}, {0, 0, 9, 1, 1}, {0, 0, 10, 2, 10}, {0, 1, 10, 1, 10}, {1, 1, 1, 0, 0}, {9, 10, 1, 0, 0}, {99, 10, 1, 1, 100}, {5, 1, -5, 0, 0}, {0, 0, 1234, 4, 1000}} {
		c.Support, c.Told = x.support, x.told
		writes := c.Add(x.add, noon)
		if int64(len(writes)-1) != x.reached || x.reached > 0 && writes[x.reached].Item.Int("support") != x.last {
			t.Errorf("%+v: %v", x, writes)
		}
	}
}

// Whatever came between reading an idea's number and an agent's support for it, or
// was counted between reading the support and the number, the two give the number
// that has the support once.
func TestSupportAndNumberOfTornReads(t *testing.T) {
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
					t.Fatalf("pattern %b: %+v and %+v make %d", pattern, s, c, n)
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
