package ideas

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
)

func TestWeights_Arithmetic(t *testing.T) {
	a, b := weighted{"x": 1, "y": 5, "a": 7}, weighted{"x": 3, "y": 2, "b": 9}
	a.level(b)
	if !maps.Equal(a, weighted{"x": 1, "y": 2, "a": 7}) || !maps.Equal(b, weighted{"x": 1, "y": 2, "b": 9}) {
		t.Errorf("levelled: got %v and %v, want the lesser weights of x and y in both", a, b)
	}
	for _, c := range []struct {
		words weighted
		want  float64
	}{{weighted{}, 0}, {weighted{"x": 1}, 1}, {weighted{"z": 1}, 0}, {weighted{"x": 1, "z": 3}, .25}} {
		if got := c.words.share(a); got != c.want {
			t.Errorf("share of %v: got %v, want %v", c.words, got, c.want)
		}
	}
	one := func(string) float64 { return 1 }
	for _, c := range []struct {
		a, b string
		want float64
	}{{"", "", 0}, {"dragons", "", 0}, {"dragons", "castles", 0}, {"dragons", "dragons", 1}} {
		if got := likeness(&tables.Idea{Title: c.a}, &tables.Idea{Title: c.b}, one); got != c.want {
			t.Errorf("likeness of %q and %q: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestJudge_AtMostThree(t *testing.T) {
	i := tables.Idea{Title: "Dragons in every castle", Body: "They would keep it warm."}
	var likes search.Likes[index.FoundIdea]
	for n := range 5 {
		i.ID = fmt.Sprint("id_", n)
		likes.Posts = append(likes.Posts, search.Post[index.FoundIdea]{Value: index.FoundIdea{Idea: i}})
		if got := len(judge(&i, likes)); got != min(n+1, 3) {
			t.Errorf("%d equal ideas: got %d pointed out, want %d", n+1, got, min(n+1, 3))
		}
	}
}

func TestMaySuggest_Interval(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for last, want := range map[int64]bool{
		0: true, now.Add(-tables.IdeaInterval).UnixMilli(): true, now.Add(-tables.IdeaInterval).UnixMilli() + 1: false, now.UnixMilli(): false,
	} {
		if err := maySuggest(&api.Call{Time: now}, last); (err == nil) != want {
			t.Errorf("last idea at %d: got error %v, want allowed %v", last, err, want)
		}
	}
}

// The idea's own duplicates also become duplicates of the original.
func TestCheckOriginal_Most(t *testing.T) {
	in := &statusIn{ID: "id_a"}
	in.Body.Status, in.Body.DuplicateOf = tables.IdeaDuplicate, "id_b"
	set := func(n int) (s tables.Set) {
		for i := range n {
			s = append(s, fmt.Sprintf("id_%d_%03d", n, i))
		}
		return tables.NewSet(s...)
	}
	for own := range 3 {
		for over, want := range map[int]bool{0: true, 1: false} {
			i := &tables.Idea{ID: "id_a", Status: tables.IdeaOpen, Duplicates: set(own)}
			original := &tables.Idea{ID: "id_b", Status: tables.IdeaOpen, Duplicates: set(tables.IdeaDuplicatesMost - 1 - own + over)}
			if err := in.checkOriginal(i, original); (err == nil) != want {
				t.Errorf("idea with %d and original with %d duplicates: got error %v, want allowed %v", own, len(original.Duplicates), err, want)
			}
		}
	}
}
