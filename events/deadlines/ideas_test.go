package deadlines

import (
	"testing"
	"time"

	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
)

func TestIdeasAreSealed(t *testing.T) {
	d, table, clock := newSweep(t)
	for i := range 20 {
		idea := &tables.Idea{ID: index.IdeaID(search.From(noon.Add(time.Duration(i) * time.Millisecond))), Title: "A fox", Status: tables.IdeaOpen}
		if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(idea.Items()[0])}}); err != nil {
			t.Fatal(err)
		}
	}
	ideas := index.OfIdeas(d.App)
	if err := ideas.TendBy(t.Context(), noon.Add(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	for minutes, posts := range []int{0, 0, 16} {
		clock.Store(noon.Add(time.Duration(minutes) * time.Minute).UnixMilli())
		if err := d.handle(t.Context()); err != nil {
			t.Fatal(err)
		}
		heads, err := ideas.Heads(t.Context(), search.Newest, 10, true)
		if err != nil {
			t.Fatal(err)
		}
		sealed := 0
		for _, h := range heads {
			sealed += h.Posts
		}
		if sealed != posts {
			t.Errorf("sealed ideas after %d minutes: got %d, want %d", minutes, sealed, posts)
		}
	}
	if at := dueAt(t, table, tables.SearchIdeas); at != 0 {
		t.Errorf("due: got %d, want 0", at)
	}
}
