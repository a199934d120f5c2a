package bench

import (
	"context"
	"math"
	"testing"
)

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
	// A draw reads volunteers ten at a time, and chance decides how often.
	const most = 70
	if small.Trips != large.Trips || math.Abs(large.ReadUnits-small.ReadUnits) > most || small.WriteUnits != large.WriteUnits {
		t.Errorf("draw: got %v with 1000 volunteers and %v with 5000, want the same within %d read units", small, large, most)
	}
}
