package bench

import (
	"context"
	"fmt"
	"testing"
)

func TestCostDoesNotGrowWithAChannel(t *testing.T) {
	costs := map[string][]Cost{} // by request, one cost for each size
	var err error
	afar(t, func(ctx context.Context) { costs, err = costsBySize(ctx, 1000, 20_000) })
	if err != nil {
		t.Fatal(err)
	}
	if len(costs) != 1+len(bestDays) {
		t.Errorf("got costs of %d requests, want %d", len(costs), 1+len(bestDays))
	}
	for what, c := range costs {
		if c[0] != c[1] || c[0].ReadUnits == 0 || c[0].Trips > 2 || c[0].WriteUnits != 0 {
			t.Errorf("%s: got %v with 1000 posts and %v with 20 000, want the same, with reads, at most 2 trips and no writes", what, c[0], c[1])
		}
	}
}

// costsBySize measures reads of channels that differ only in their number of posts.
func costsBySize(ctx context.Context, sizes ...int) (map[string][]Cost, error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	costs := map[string][]Cost{}
	for i, n := range sizes {
		channel := []string{"python", "ops"}[i]
		if err := w.stockPosts(channel, n); err != nil {
			return nil, err
		}
		asked := map[string]request{withoutReplies: {route: "GET /v1/c/{ch}", path: "/v1/c/" + channel, query: "replies=false"}}
		for _, days := range bestDays {
			asked[fmt.Sprintf("best of %d days", days)] = best(channel, days)
		}
		for what, r := range asked {
			cost, err := w.costOf(w.call(w.base, r))
			if err != nil {
				return nil, err
			}
			costs[what] = append(costs[what], cost)
		}
	}
	return costs, nil
}
