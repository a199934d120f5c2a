package bench

import "testing"

// An idle machine reaches twice the required pace.
func TestPushesKeepUp(t *testing.T) {
	var slow []pushRow
	for range 3 { // other programs may be using the machine
		rows, err := pushes(t.Context(), pushRounds)
		if err != nil {
			t.Fatal(err)
		}
		slow = nil
		for _, r := range rows {
			t.Logf("%s: %.2f of the raw pace, %.2f write units an event", r.name, r.share(), r.writes)
			if r.share() < r.least {
				slow = append(slow, r)
			}
		}
		if slow == nil {
			return
		}
	}
	for _, r := range slow {
		t.Errorf("events %s reach %.2f of the raw pace, want at least %.2f", r.name, r.share(), r.least)
	}
}
