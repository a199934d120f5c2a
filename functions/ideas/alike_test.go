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

// The bounds for unseen pairs are looser, because the thresholds were not chosen with
// them.
func TestLikely(t *testing.T) {
	pairs, unseen := must[[]wishes.Pair](t)(wishes.ChosenWith()), must[[]wishes.Pair](t)(wishes.Unseen())
	if len(pairs) < 60 {
		t.Fatalf("got %d pairs, want at least 60", len(pairs))
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
				t.Errorf("got %v; want at least %.0f %% pointed out and at most %.0f %% refused", s, 100*x.pointed, 100*x.refused)
			}
		})
	}
}

func TestLikely_SealedSegments(t *testing.T) {
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
		t.Fatalf("segments after sealing: got %d, error %v; want some", len(heads), err)
	}
	for _, p := range pairs {
		if got := must[[]string](t)(b.Repeats(t.Context(), p.Second)); !slices.Equal(got, before[p.Second]) {
			t.Errorf("repeats of %q after sealing: got %v, want %v", p.Second.Title, got, before[p.Second])
		}
	}
}

func TestLikely_OneWord(t *testing.T) {
	word, signs := wishes.Wish{Title: "Dragons", Body: "Dragons!"}, wishes.Wish{Title: "!", Body: "?"}
	b := must[*wishes.Board](t)(wishes.NewBoard(t.Context(), open, []wishes.Pair{{First: word}, {First: signs}}, wishes.Wish{}))
	defer b.Shut()
	for w, want := range map[wishes.Wish][]string{word: {b.IDs[word]}, signs: nil} {
		if got := must[[]string](t)(b.Repeats(t.Context(), w)); !slices.Equal(got, want) {
			t.Errorf("repeats of %q: got %v, want %v", w.Title, got, want)
		}
	}
}
