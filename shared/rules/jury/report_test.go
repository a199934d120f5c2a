package jury

import (
	"testing"
	"time"
)

// TestCounts: one counting report opens a first case; a further case takes three.
func TestCounts(t *testing.T) {
	young := noon.Add(-ReporterAge + time.Millisecond).UnixMilli()
	for name, c := range map[string]struct {
		by   Reporter
		want bool
	}{
		"a day old, with an origin":    {Reporter{"fox", noon.Add(-ReporterAge).UnixMilli()}, true},
		"younger, with an origin":      {Reporter{"fox", young}, false},
		"a day old, without an origin": {Reporter{"", noon.Add(-ReporterAge).UnixMilli()}, false},
		"younger, without an origin":   {Reporter{"", young}, false},
	} {
		if got := c.by.Counts(noon); got != c.want {
			t.Errorf("Counts of a reporter %s = %v, want %v", name, got, c.want)
		}
	}
	if Needed(false) != 1 || Needed(true) != 3 {
		t.Errorf("Needed = %d, and %d after a case; want 1 and 3", Needed(false), Needed(true))
	}
}
