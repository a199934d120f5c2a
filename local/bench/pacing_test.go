package main

import "testing"

// TestPromosSpendEvenly: where there is enough to be shown on, each promo of ten
// days has spent about half of its budget after five, and all of it at the end;
// where there is not, each gets the same part of what it wants.
func TestPromosSpendEvenly(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("ten days of five thousand readers")
	}
	const scarce = 4
	for i, p := range pacings {
		got := p.run(2)
		least, median, most := got.half[0], got.half[pacePromos/2], got.half[pacePromos-1]
		t.Logf("%s: %.3f %.3f %.3f, then %.3f", p.name, least, median, most, got.end)
		switch {
		case i == scarce && (least < 0.8*median || most > 1.25*median || median < 0.2):
			t.Errorf("%s: from %.3f to %.3f, the median being %.3f", p.name, least, most, median)
		case i != scarce && (least < 0.45 || most > 0.55 || got.end[0] < 0.98):
			t.Errorf("%s: from %.3f to %.3f after half of the days, and %.3f at the end", p.name, least, most, got.end[0])
		}
	}
}
