package jury

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCounts(t *testing.T) {
	old, young := noon.Add(-ReporterAge).UnixMilli(), noon.Add(-ReporterAge+time.Millisecond).UnixMilli()
	for name, c := range map[string]struct {
		by   Reporter
		want bool
	}{
		"a day old, with an origin":    {Reporter{Owner: "fox", CreatedAt: old}, true},
		"younger, with an origin":      {Reporter{Owner: "fox", CreatedAt: young}, false},
		"a day old, without an origin": {Reporter{CreatedAt: old}, false},
		"younger, without an origin":   {Reporter{CreatedAt: young}, false},
		"with a throwaway origin":      {Reporter{Owner: "fox", CreatedAt: old, Throwaway: true}, false},
		"without standing":             {Reporter{Owner: "fox", CreatedAt: old, Missing: 1}, false},
	} {
		if got := c.by.Counts(noon); got != c.want {
			t.Errorf("Counts of a reporter %s = %v, want %v", name, got, c.want)
		}
	}
}

func TestNeededAfterThree(t *testing.T) {
	for heard, want := range map[int64]int64{0: 1, 2: 1, 3: 3, 4: 3, 100: 3} {
		if got := Needed(heard); got != want {
			t.Errorf("Needed(%d) = %d, want %d", heard, got, want)
		}
	}
}

// The first three owners can each open a case about an item. After them, every three
// owners can open one together.
func TestNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owners := rapid.Int64Range(1, 40).Draw(t, "owners")
		var heard, waiting, cases int64
		open := false
		for range owners {
			if open && rapid.Bool().Draw(t, "the case ends") {
				open = false
			}
			if open { // the report joins the open case
				heard++
				continue
			}
			if waiting++; waiting >= Needed(heard) {
				if heard < ReopenReports && waiting != 1 {
					t.Fatalf("after %d owners were heard, a case took %d reports, want 1", heard, waiting)
				}
				open, heard, waiting, cases = true, heard+waiting, 0, cases+1
			}
		}
		most := min(owners, ReopenReports) + max(0, owners-ReopenReports)/ReopenReports
		if cases > most || cases == 0 {
			t.Fatalf("%d owners had %d cases, want 1 to %d", owners, cases, most)
		}
	})
}
