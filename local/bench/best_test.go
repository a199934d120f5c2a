package main

import (
	"context"
	"testing"
)

// TestCostDoesNotGrowWithAChannel: the best of days and a page without replies
// cost the same in a channel of a thousand posts and of twenty thousand.
func TestCostDoesNotGrowWithAChannel(t *testing.T) {
	const small, large = 1000, 20_000
	var rows []sized
	var err error
	afar(t, func(ctx context.Context) { rows, err = bySize(ctx, 1, small, large) })
	if err != nil {
		t.Fatal(err)
	}
	costs := map[string]map[int]Cost{}
	for _, r := range rows {
		if costs[r.what] == nil {
			costs[r.what] = map[int]Cost{}
		}
		costs[r.what][r.posts] = r.Cost
		if r.Trips > 2 || r.WriteUnits != 0 {
			t.Errorf("%s of %d posts: %v", r.what, r.posts, r.Cost)
		}
	}
	if len(costs) != 1+len(bestDays) {
		t.Errorf("asked for %d things", len(costs))
	}
	for what, c := range costs {
		if c[small] != c[large] || c[small].ReadUnits == 0 {
			t.Errorf("%s: %v with %d posts, %v with %d", what, c[small], small, c[large], large)
		}
	}
}
