package main

import (
	"context"
	"math"
	"testing"

	"agentsocial/shared/jury"
)

// TestDrawsAreEven: over 20 000 draws each volunteer of a small pool is drawn as
// often as it should, within a tenth; in pools much larger than the window,
// where chance alone makes more of a difference, they differ as much as they
// would by a perfect lot, within a tenth.
func TestDrawsAreEven(t *testing.T) {
	t.Parallel()
	for _, pool := range []int{jury.Window / 2, 3 * jury.Window} {
		f := lots[0].play(pool, 2)
		t.Logf("%+v", f)
		if pool < jury.Window && (f.least < 0.9 || f.most > 1.1) {
			t.Errorf("of %d volunteers, some are drawn %.3f times as often as they should, and some %.3f times", pool, f.least, f.most)
		}
		if pool > jury.Window && math.Abs(f.spread/f.expected-1) > 0.1 {
			t.Errorf("of %d volunteers, the spread is %.4f; a perfect lot's is %.4f", pool, f.spread, f.expected)
		}
	}
}

// TestDrawsAreBounded: a draw costs the same in a pool of a thousand and in one
// of five thousand, but for what reading about ten volunteers costs.
func TestDrawsAreBounded(t *testing.T) {
	t.Parallel()
	var costs []drawCost
	var err error
	afar(t, func(ctx context.Context) { costs, err = costsOfDraws(ctx, 1000, 5000) })
	if err != nil {
		t.Fatal(err)
	}
	small, large := costs[0].Cost, costs[1].Cost
	t.Logf("%v, %v", small, large)
	// How many of those looked at first have what they block read is chance.
	const ofTen = 70
	if small.Trips != large.Trips || math.Abs(large.ReadUnits-small.ReadUnits) > ofTen || small.WriteUnits != large.WriteUnits {
		t.Errorf("%v with 1000 volunteers, %v with 5000", small, large)
	}
}
