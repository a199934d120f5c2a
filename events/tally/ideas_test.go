package tally

import (
	"testing"
	"time"

	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
)

// idea makes an idea and returns its id and record. If turn is true, the id has the turn
// ([search.IsTurn]).
func (f *posting) idea(t *testing.T, ago time.Duration, turn bool) (search.ID, tables.StreamRecord) {
	t.Helper()
	f.now = f.now.Add(time.Second)
	id := search.From(f.now.Add(-ago))
	id[15] = 1
	if turn {
		id[15] = 0
	}
	i := &tables.Idea{ID: index.IdeaID(id), Title: "A fox", By: tables.Author{ID: "ag_fox"}, Status: tables.IdeaOpen}
	items := i.Items()
	f.commit(t, tables.Put(items[0]), tables.Put(items[1]))
	return id, tables.StreamRecord{Event: "INSERT", Key: items[0].Key(), New: items[0], At: f.now}
}

func TestIdeasAreIndexed(t *testing.T) {
	f := newPosting(t)
	ideas := index.OfIdeas(f.App)
	handle := func(records ...tables.StreamRecord) {
		t.Helper()
		if err := f.handle(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}
	for range 16 {
		_, r := f.idea(t, 0, false)
		handle(r)
	}
	f.now = f.now.Add(2 * time.Minute)
	if heads, err := ideas.Heads(t.Context(), search.Newest, 10, true); err != nil || len(heads) != 0 {
		t.Fatalf("segments before a turn: got %v, error %v, want none", heads, err)
	}
	_, turn := f.idea(t, 0, true)
	handle(turn)
	heads, err := ideas.Heads(t.Context(), search.Newest, 10, true)
	if err != nil || len(heads) != 1 || heads[0].Posts != 16 {
		t.Fatalf("segments after a turn: got %v, error %v, want one of 16 ideas", heads, err)
	}
	late, r := f.idea(t, 130500*time.Millisecond, false)
	handle(r, r)
	if listed, err := ideas.Late(t.Context()); err != nil || len(listed) != 1 || listed[0] != late {
		t.Fatalf("late ideas: got %v, error %v, want %v", listed, err, late)
	}
	likes, err := search.Alike(t.Context(), ideas, []string{"fox"}, 30)
	if err != nil || len(likes.Posts) != 18 {
		t.Fatalf("similar ideas: got %d, error %v, want 18", len(likes.Posts), err)
	}
	if f.heads(t) != 0 || f.item(t, tables.SealDueKey("den")) != nil {
		t.Error("channel's index: got tended, want untouched")
	}
}
