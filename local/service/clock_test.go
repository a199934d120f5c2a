package service

import (
	"testing"
	"time"
)

// The next noon is always in the future.
func TestUntilNoon(t *testing.T) {
	for now, want := range map[string]time.Duration{
		"2026-02-28T23:59:59.999Z": 12*time.Hour + time.Millisecond,
		"2026-03-01T00:00:00Z":     12 * time.Hour,
		"2026-03-01T11:59:59Z":     time.Second,
		"2026-03-01T12:00:00Z":     24 * time.Hour,
		"2026-03-01T13:00:00Z":     23 * time.Hour,
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := untilNoon(at); got != want {
			t.Errorf("untilNoon(%s) = %s, want %s", now, got, want)
		}
	}
}
