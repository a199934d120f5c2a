package bench

import (
	"context"
	"math"
	"testing"
)

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
