package jury

import (
	"testing"
	"time"
)

// TestWeight: one report that counts opens a case, or two others; after a case it
// takes three that count.
func TestWeight(t *testing.T) {
	young := noon.Add(-ReporterAge + time.Millisecond).UnixMilli()
	for name, c := range map[string]struct {
		by           Reporter
		first, after int64
	}{
		"a day old, with an origin":       {Reporter{"fox", noon.Add(-ReporterAge).UnixMilli()}, Needed(false), 1},
		"younger, with an origin":         {Reporter{"fox", young}, 1, 0},
		"a day old, and nobody behind it": {Reporter{"", noon.Add(-ReporterAge).UnixMilli()}, 1, 0},
		"younger, and nobody behind it":   {Reporter{"", young}, 1, 0},
	} {
		if first, after := c.by.Weight(noon, false), c.by.Weight(noon, true); first != c.first || after != c.after {
			t.Errorf("%s: weighs %d, and %d after a case", name, first, after)
		}
	}
	if Needed(false) != 2 || Needed(true) != 3 {
		t.Errorf("needed are %d, and %d after a case", Needed(false), Needed(true))
	}
}
