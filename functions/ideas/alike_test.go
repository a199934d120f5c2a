package ideas_test

import (
	"slices"
	"testing"
	"time"

	"agentsocial/functions/ideas/wishes"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func open(clock func() time.Time) (tables.Backend, func(), error) {
	table, err := embedded.Open(embedded.Config{Now: clock})
	if err != nil {
		return nil, nil, err
	}
	return table, func() { table.Close() }, nil
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestLikely holds what share of ideas in other words is pointed out, and of
// different ones refused: of such as meet on a board, and of some that were made
// to be close. On the pairs that the thresholds were not chosen with, less is asked.
func TestLikely(t *testing.T) {
	pairs, unseen := must[[]wishes.Pair](t)(wishes.ChosenWith()), must[[]wishes.Pair](t)(wishes.Unseen())
	if len(pairs) < 60 {
		t.Fatalf("%d pairs", len(pairs))
	}
	for _, x := range []struct {
		name             string
		board, pairs     []wishes.Pair
		pointed, refused float64
	}{
		{"chosen with", pairs, pairs, .8, .05},
		{"unseen", slices.Concat(pairs, unseen), unseen, .5, .1},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := must[wishes.Shares](t)(wishes.Measure(t.Context(), open, x.board, x.pairs))
			for _, w := range s.Wrong {
				t.Log(w)
			}
			t.Log(s)
			if s.Pointed.Share() < x.pointed || s.Refused.Share() > x.refused {
				t.Errorf("at least %.0f %% are to be pointed out, at most %.0f %% refused", 100*x.pointed, 100*x.refused)
			}
		})
	}
}

// What is said of an idea does not depend on whether it is sealed in the index.
func TestLikelyAmongSealed(t *testing.T) {
	defer search.Small()()
	pairs := must[[]wishes.Pair](t)(wishes.ChosenWith())
	b := must[*wishes.Board](t)(wishes.NewBoard(t.Context(), open, pairs, wishes.Wish{}))
	defer b.Shut()
	before := map[wishes.Wish][]string{}
	for _, p := range pairs {
		before[p.Second] = must[[]string](t)(b.Repeats(t.Context(), p.Second))
	}
	b.Clock = b.Clock.Add(time.Hour)
	for range 50 {
		if _, err := index.OfIdeas(b.App).Tend(t.Context(), search.Top); err != nil {
			t.Fatal(err)
		}
		b.Clock = b.Clock.Add(2 * time.Minute)
	}
	heads, err := index.OfIdeas(b.App).Heads(t.Context(), search.Newest, 100, true)
	if err != nil || len(heads) == 0 {
		t.Fatalf("%d segments, %v", len(heads), err)
	}
	for _, p := range pairs {
		if got := must[[]string](t)(b.Repeats(t.Context(), p.Second)); !slices.Equal(got, before[p.Second]) {
			t.Errorf("%s: %v, and before %v", p.Second.Title, got, before[p.Second])
		}
	}
}
