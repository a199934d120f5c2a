package tables_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/tables"
)

// Each case counts once: it waits, or is part of one suspension.
func TestUpheld_Undo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, now := &tables.Upheld{Agent: fox}, noon
		least := rapid.Int64Range(0, 6).Draw(t, "owners that a suspension needs")
		until := int64(0)           // end of the suspension, unix ms
		ended := map[string]int64{} // case that stands → unix ms of its end
		undo := func(id string) {
			if s := u.Undo(id, least); s != nil && until == s.Until {
				until = max(u.Until(), s.Before)
			}
			delete(ended, id)
			u = again(t, u)
		}
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "hours")) * time.Hour)
			standing := slices.Sorted(maps.Keys(ended))
			if len(standing) > 0 && rapid.Bool().Draw(t, "an appeal") {
				undo(rapid.SampledFrom(standing).Draw(t, "of"))
			} else {
				owners := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"}), 0, 5, rapid.ID).Draw(t, "owners")
				before := until
				if before <= now.UnixMilli() {
					before = 0
				}
				id := fmt.Sprintf("ca_%02d", i)
				if s := u.Add(id, now, owners, least, now, before); s != nil {
					until = max(s.Until, before)
				}
				ended[id] = now.UnixMilli()
				u = again(t, u)
			}
			checkUpheld(t, u, ended, least, now)
			if stands := u.Until(); max(until, stands) > now.UnixMilli() && until != stands {
				t.Fatalf("end of the suspension: got %d, want %d, the latest end in Past", until, stands)
			}
		}
		for _, id := range rapid.Permutation(slices.Sorted(maps.Keys(ended))).Draw(t, "the rest is overturned") {
			undo(id)
		}
		if len(u.Cases)+len(u.Owners) != 0 {
			t.Fatalf("after all cases were overturned: got %+v, want no cases and no owners", u)
		}
		if until > now.UnixMilli() {
			t.Fatalf("after all cases were overturned: got suspended until %d, want at most %d", until, now.UnixMilli())
		}
	})
}

// again returns u as it would be read after a write.
func again(t *rapid.T, u *tables.Upheld) *tables.Upheld {
	read := new(tables.Upheld)
	if err := tables.Unmarshal(u.Keep().Item, read); err != nil {
		t.Fatal(err)
	}
	return read
}

func checkUpheld(t *rapid.T, u *tables.Upheld, ended map[string]int64, least int64, now time.Time) {
	seen := map[string]int{}
	for id := range u.Cases {
		seen[id]++
	}
	for _, v := range u.Past {
		var s tables.Suspension
		if err := tables.Unmarshal(v.(tables.Map), &s); err != nil {
			t.Fatal(err)
		}
		different := map[any]bool{}
		for id := range s.Cases {
			seen[id]++
			owners, _ := s.Owners[id].(tables.List)
			for _, owner := range owners {
				different[owner] = true
			}
		}
		if len(s.Cases) < tables.UpheldMost || int64(len(different)) < least {
			t.Fatalf("cases and owners of a suspension: got %d and %d, want at least %d and %d", len(s.Cases), len(different), tables.UpheldMost, least)
		}
	}
	for id, n := range seen {
		if _, stands := ended[id]; !stands || n != 1 {
			t.Fatalf("case %s: got counted %d times and stands = %t, want once and true", id, n, stands)
		}
	}
	for id, at := range ended {
		if seen[id] == 0 && now.UnixMilli()-at < tables.UpheldWindow.Milliseconds() {
			t.Fatalf("case %s, which stands: got counted 0 times, want once", id)
		}
	}
}

// Cases of early versions have no owners.
func TestUpheld_OldCases(t *testing.T) {
	u := &tables.Upheld{Agent: fox, Cases: tables.Map{"ca_1": noon.UnixMilli(), "ca_2": noon.UnixMilli()}}
	add := func(id string, owners ...string) bool { return u.Add(id, noon, owners, 7, noon, 0) != nil }
	if add("ca_3", "a", "b", "c", "d", "e") {
		t.Error("three cases, one of them with five owners: got a suspension, want none, since seven are needed")
	}
	if !add("ca_4", "e", "f", "g") {
		t.Error("four cases, two of them with seven owners together: got no suspension, want one")
	}
}

func TestUpheld_Bounded(t *testing.T) {
	u := &tables.Upheld{Agent: fox}
	for i := range 100 {
		u.Add(fmt.Sprintf("ca_%02d", i), noon.Add(time.Duration(i)*time.Minute), []string{"a", "b", "c"}, 7, noon, 0)
	}
	if len(u.Cases) != 30 || len(u.Owners) != 30 || u.Cases["ca_99"] == nil || u.Cases["ca_70"] == nil {
		t.Errorf("cases that wait: got %d with %d lists of owners, want the newest 30", len(u.Cases), len(u.Owners))
	}
}

func TestUpheld_UndoOfALongerSuspension(t *testing.T) {
	u := &tables.Upheld{Agent: fox}
	day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	add := func(at int, before int64, ids ...string) (s *tables.Suspension) {
		t.Helper()
		for _, id := range ids {
			s = u.Add(id, day(at), nil, 0, day(at), before)
		}
		if s == nil {
			t.Fatalf("cases %v: got no suspension, want one", ids)
		}
		return s
	}
	first := add(0, 0, "a1", "a2", "a3")
	second := add(1, first.Until, "b1", "b2", "b3")
	third := add(2, second.Until, "c1", "c2", "c3")
	u.Undo("a1", 0)
	u.Undo("b1", 0)
	last := add(3, third.Until, "d1") // with the cases that are left of the first two suspensions
	if want := day(3 + 14).UnixMilli(); last.Until != want {
		t.Errorf("end of the last suspension: got %d, want %d", last.Until, want)
	}
	if s := u.Undo("c1", 0); s == nil || s.Until != third.Until || max(u.Until(), s.Before) != last.Until {
		t.Errorf("Undo of the third suspension: got %+v and suspended until %d, want the third suspension and until %d", s, u.Until(), last.Until)
	}
}

// The second suspension begins with before = 0, because an operator lifted the first.
func TestUpheld_UndoAfterALift(t *testing.T) {
	u := &tables.Upheld{Agent: fox}
	var s *tables.Suspension
	for i, id := range []string{"a1", "a2", "a3", "b1", "b2", "b3"} {
		s = u.Add(id, noon, nil, 0, noon.Add(time.Duration(i)*time.Hour), 0)
	}
	now := noon.Add(5 * time.Hour).UnixMilli()
	if undone := u.Undo("b1", 0); undone == nil || undone.Until != s.Until || max(u.Until(), undone.Before) > now {
		t.Errorf("Undo after a lift: got %+v and suspended until %d, want the second suspension, and until %d at the latest", undone, u.Until(), now)
	}
}
