package jury

import (
	"strings"
	"testing"
)

func TestGainStanding(t *testing.T) {
	for missing, want := range map[int64]string{1: " of one more owner, or", 2: " of 2 more owners, or"} {
		if got := gainStanding(missing); !strings.Contains(got, want) {
			t.Errorf("missing %d: got %q, want %q in it", missing, got, want)
		}
	}
}
