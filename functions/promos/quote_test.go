package promos

import (
	"strings"
	"testing"
	"time"

	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// TestMeasuredDays checks that views were counted since the channel was created, for at
// least a day and at most a week.
func TestMeasuredDays(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]float64{
		0: 1, 12 * time.Hour: 1, 24 * time.Hour: 1, 36 * time.Hour: 1.5, 72 * time.Hour: 3, 7 * 24 * time.Hour: 7, 1000 * time.Hour: 7,
	} {
		if got := measuredDays(tables.Item{"created_at": now.Add(-age).UnixMilli()}, now); got != want {
			t.Errorf("a channel created %s ago: got %v days, want %v", age, got, want)
		}
	}
}

// TestCheck checks that a promo may have as many characters as its budget allows.
func TestCheck(t *testing.T) {
	for usd, most := range map[int64]int{5: 140, 9: 140, 10: 180, 1_000_000: 700} {
		for n, want := range map[int]bool{most: true, most + 1: false} {
			err := check(&buyIn{Body: wire.BuyPromo{Body: strings.Repeat("é", n), USD: usd}})
			if (err == nil) != want {
				t.Errorf("%d characters for %d USD: got error %v, want it accepted: %t", n, usd, err, want)
			}
		}
	}
}
