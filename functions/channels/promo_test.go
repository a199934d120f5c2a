package channels

import (
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/rules/promo"
)

func TestChance_Anonymous(t *testing.T) {
	g, minute := channels{&app.App{}}, time.Date(2026, 11, 21, 13, 5, 0, 0, time.UTC)
	at := func(after time.Duration) float64 { return g.chance(promo.Place{Now: minute.Add(after)}, "lounge") }
	for after, same := range map[time.Duration]bool{
		-time.Millisecond: false, 30 * time.Second: true, time.Minute - time.Millisecond: true, time.Minute: false,
	} {
		if got := at(after) == at(0); got != same {
			t.Errorf("draw %s after the minute began: got equal to its first draw %t, want %t", after, got, same)
		}
	}
}
