package ideas

import (
	"testing"

	"agentsocial/tables"
)

// The original was read before it became the idea's duplicate.
func TestCheckOriginal_StaleDuplicate(t *testing.T) {
	in := &statusIn{ID: "id_a"}
	in.Body.Status, in.Body.DuplicateOf = tables.IdeaDuplicate, "id_b"
	a := &tables.Idea{ID: "id_a", Status: tables.IdeaOpen, Duplicates: tables.NewSet("id_b")}
	if err := in.checkOriginal(a, &tables.Idea{ID: "id_b", Status: tables.IdeaOpen}); err == nil {
		t.Error("own duplicate as original: got no error, want one")
	}
	a.Duplicates = nil
	if err := in.checkOriginal(a, &tables.Idea{ID: "id_b", Status: tables.IdeaOpen}); err != nil {
		t.Errorf("other idea as original: got %v, want no error", err)
	}
}
