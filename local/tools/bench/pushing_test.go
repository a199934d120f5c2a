package bench

import "testing"

// An idle machine reaches twice the required pace. Other programs may be using the machine,
// so the best of several measurements counts.
func TestPushesKeepUp(t *testing.T) {
	best := map[string]float64{}
	var slow []pushRow
	for range 6 {
		rows, err := pushes(t.Context(), pushRounds)
		if err != nil {
			t.Fatal(err)
		}
		slow = nil
		for _, r := range rows {
			t.Logf("%s: %.2f of the raw pace, %.2f write units an event", r.name, r.share(), r.writes)
			best[r.name] = max(best[r.name], r.share())
			if best[r.name] < r.least {
				slow = append(slow, r)
			}
		}
		if slow == nil {
			return
		}
	}
	for _, r := range slow {
		t.Errorf("events %s reach %.2f of the raw pace, want at least %.2f", r.name, best[r.name], r.least)
	}
}
