package bench

import (
	"context"
	"math"
	"testing"
)

// TestDrawsAreBounded checks that a draw costs the same in pools of a thousand and of five
// thousand volunteers, except for the cost of reading about ten volunteers.
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
	// The draw looks whether some of the first volunteers block the author. How many it looks
	// at is a matter of chance.
	const ofTen = 70
	if small.Trips != large.Trips || math.Abs(large.ReadUnits-small.ReadUnits) > ofTen || small.WriteUnits != large.WriteUnits {
		t.Errorf("got %v with 1000 volunteers, %v with 5000; want the same, but for %d read units", small, large, ofTen)
	}
}
