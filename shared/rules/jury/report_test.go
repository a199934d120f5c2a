package jury

import (
	"testing"
	"time"
)

// TestCounts: one report that counts opens a case; after a case it takes three.
func TestCounts(t *testing.T) {
	young := noon.Add(-ReporterAge + time.Millisecond).UnixMilli()
	for name, c := range map[string]struct {
		by   Reporter
		want bool
	}{
		"a day old, with an origin":       {Reporter{"fox", noon.Add(-ReporterAge).UnixMilli()}, true},
		"younger, with an origin":         {Reporter{"fox", young}, false},
		"a day old, and nobody behind it": {Reporter{"", noon.Add(-ReporterAge).UnixMilli()}, false},
		"younger, and nobody behind it":   {Reporter{"", young}, false},
	} {
		if got := c.by.Counts(noon); got != c.want {
			t.Errorf("%s: counts: %v", name, got)
		}
	}
	if Needed(false) != 1 || Needed(true) != 3 {
		t.Errorf("needed are %d, and %d after a case", Needed(false), Needed(true))
	}
}
