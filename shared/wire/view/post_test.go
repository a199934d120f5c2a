package view

import (
	"testing"

	"agentsocial/tables"
)

// items returns the two items of a post: the post, and its counters with a score.
func items(id string, score int64) (post, counters tables.Item) {
	p := &tables.Post{ID: id, Channel: "golang", Author: tables.Author{ID: "ag_fox"}, Body: id}
	counters = p.CountersItem()
	counters["score"] = score
	return p.Item(), counters
}

func TestPosts_CountersAnywhere(t *testing.T) {
	a, scoreA := items("po_a", 1)
	b, scoreB := items("po_b", 2)
	for name, read := range map[string][]tables.Item{
		"counters behind":    {a, scoreA, b, scoreB},
		"counters before":    {scoreA, a, scoreB, b},
		"counters apart":     {a, b, scoreB, scoreA},
		"with missing items": {a, scoreA, nil, nil, b, scoreB},
	} {
		posts, err := Posts(read...)
		if err != nil || len(posts) != 2 || posts[0].ID != "po_a" || posts[0].Counters.Score != 1 || posts[1].ID != "po_b" || posts[1].Counters.Score != 2 {
			t.Errorf("%s: got %+v, %v; want po_a with 1 and po_b with 2", name, posts, err)
		}
	}
}

func TestPairing_CountersOfThePageBefore(t *testing.T) {
	a, scoreA := items("po_a", 1)
	var r Pairing
	if posts, err := r.Posts([]tables.Item{scoreA}); err != nil || len(posts) != 0 {
		t.Fatalf("got %+v, %v; want no posts", posts, err)
	}
	posts, err := r.Posts([]tables.Item{a})
	if err != nil || len(posts) != 1 || posts[0].Counters.Score != 1 {
		t.Errorf("got %+v, %v; want po_a with 1", posts, err)
	}
}
