package scale

import (
	"fmt"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var hour = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// asks asks a space for n units in each second, one at a time. It returns how many were
// refused in the last second.
func asks(s *space, k kind, from time.Time, seconds, n int, at func(second, i int) place) (refused int) {
	for second := range seconds {
		now := from.Add(time.Duration(second) * time.Second)
		refused = 0
		for i := range n {
			if p := at(second, i); s.admits(p, k, now) {
				s.takes(p, k, 1, now)
			} else {
				refused++
			}
		}
	}
	return refused
}

func TestRange_Limits(t *testing.T) {
	limits := AWS
	item := func(int, int) place { return placeOf("A#x", "PROFILE") }
	for _, c := range []struct {
		k          kind
		n, refused int
	}{{writes, 1000, 0}, {writes, 1001, 1}, {reads, 3000, 0}, {reads, 3001, 1}} {
		if got := asks(newSpace("", 1, &limits), c.k, hour, 3, c.n, item); got != c.refused {
			t.Errorf("%d %s units in a second: got %d refused, want %d", c.n, []string{"read", "write"}[c.k], got, c.refused)
		}
	}
	s := newSpace("", 1, &limits)
	if asks(s, writes, hour, 1, 1000, item); asks(s, reads, hour, 1, 1, item) > 0 {
		t.Error("a read of a range full of writes: got it refused, want it admitted")
	}
	two := newSpace("", 2, &limits)
	var apart [2]place
	for i := 0; apart[0].pk == "" || apart[1].pk == ""; i++ {
		p := placeOf(fmt.Sprint("A#", i), "PROFILE")
		apart[two.at(p).id] = p
	}
	if asks(two, writes, hour, 1, 1000, item); asks(two, writes, hour, 1, 1000, func(int, int) place { return apart[1-two.at(item(0, 0)).id] }) > 0 {
		t.Error("a write beside a full range: got it refused, want it admitted")
	}
}

func TestRange_Splits(t *testing.T) {
	limits := AWS
	delay := int(limits.SplitAfter / time.Second)
	many := func(_, i int) place { return placeOf(fmt.Sprint("A#", i%50), "PROFILE") }
	collection := func(_, i int) place { return placeOf("P#x", fmt.Sprint("VOTE#", (i*7)%50)) }
	one := func(int, int) place { return placeOf("A#x", "PROFILE") }
	growing := func(second, i int) place { return placeOf("C#x", fmt.Sprintf("P#%06d%04d", second, i)) }
	for _, c := range []struct {
		name    string
		at      func(second, i int) place
		seconds int
		splits  int
		least   int // bounds of the refusals in the last second, of 1500
		most    int
	}{
		{"many partitions, before the delay", many, delay, 0, 500, 500},
		{"many partitions, after the delay", many, delay + 2, 1, 0, 150},
		{"a collection", collection, delay + 2, 1, 0, 150},
		{"one item", one, 3 * delay, 0, 500, 500},
		{"the growing end", growing, delay + 60, 1, 500, 500},
	} {
		s := newSpace("", 1, &limits)
		refused := asks(s, writes, hour, c.seconds, 1500, c.at)
		if s.splits != c.splits || refused < c.least || refused > c.most {
			t.Errorf("%s: got %d splits and %d of 1500 refused, want %d splits and %d to %d refused", c.name, s.splits, refused, c.splits, c.least, c.most)
		}
	}
	s := newSpace("", 1, &limits)
	asks(s, writes, hour, delay-1, 1500, many)
	if asks(s, writes, hour.Add(limits.SplitAfter+2*coolAfter), 1, 1500, many); s.splits > 0 {
		t.Error("a range that was cool for a while: got a split, want none before another delay")
	}
}

func commits(t *testing.T) (*model, func(time.Time, ...tables.Write) error) {
	t.Helper()
	below, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { below.Close() })
	limits := AWS
	m := newModel(below, 1, &limits)
	return m, func(now time.Time, w ...tables.Write) error {
		return m.commit(t.Context(), tables.Tx{Writes: w}, now, now.Add(5*time.Millisecond))
	}
}

func ranked(i int, rank string) tables.Item {
	return tables.Item{tables.AttrPK: fmt.Sprint("C#", i), tables.AttrSK: "CHANNEL", "rank_pk": "CHANNELS#work", "rank_sk": rank}
}

func TestIndexThrottlesTheTable(t *testing.T) {
	m, commit := commits(t)
	full := placeOf("CHANNELS#work", "x")
	m.spaces[string(tables.ByRank)].takes(full, writes, 1000, hour)
	if err := commit(hour, tables.Put(ranked(1, "a"))); err != errThrottled {
		t.Errorf("a write into a full index: got %v, want it throttled", err)
	}
	if err := commit(hour, tables.Put(tables.Item{tables.AttrPK: "C#1", tables.AttrSK: "PROMOS"})); err != nil {
		t.Errorf("a write beside a full index: got %v, want it made", err)
	}
	if err := commit(hour.Add(time.Second), tables.Put(ranked(1, "a"))); err != nil {
		t.Errorf("the same write a second later: got %v, want it made", err)
	}
	m.spaces[string(tables.ByRank)].takes(full, writes, 1000, hour.Add(2*time.Second))
	if err := commit(hour.Add(2*time.Second), tables.Change(ranked(1, "").Key(), tables.SetAttr("rank_sk", "b"))); err != errThrottled {
		t.Errorf("an update of an entry: got %v, want it throttled", err)
	}
}

func TestConflicts(t *testing.T) {
	m, commit := commits(t)
	a, b := tables.Item{tables.AttrPK: "A#a", tables.AttrSK: "X"}, tables.Item{tables.AttrPK: "A#b", tables.AttrSK: "X"}
	if err := commit(hour, tables.Put(a), tables.Put(b)); err != nil {
		t.Fatal(err)
	}
	if got := m.calls.Writes; got != 4 {
		t.Errorf("two small items in a transaction: got %v units, want 4", got)
	}
	if err := commit(hour.Add(time.Millisecond), tables.Put(a)); err != errConflict {
		t.Errorf("a write during a transaction: got %v, want a conflict", err)
	}
	if err := commit(hour.Add(5*time.Millisecond), tables.Put(a)); err != nil {
		t.Errorf("a write after a transaction: got %v, want it made", err)
	}
	if err := commit(hour.Add(6*time.Millisecond), tables.Put(a)); err != nil || m.calls.Writes != 6 {
		t.Errorf("a second write without a transaction: got error %v and %v units, want none and 6", err, m.calls.Writes)
	}
}
