package ideas

import (
	"testing"

	"agentsocial/tables"
)

// An idea's duplicate is no original of it, even if what was read of the duplicate
// is older than that.
func TestOriginalReadBefore(t *testing.T) {
	in := &statusIn{ID: "id_a"}
	in.Body.Status, in.Body.DuplicateOf = tables.IdeaDuplicate, "id_b"
	a := &tables.Idea{ID: "id_a", Status: tables.IdeaOpen, Duplicates: tables.NewSet("id_b")}
	if err := in.checkOriginal(a, &tables.Idea{ID: "id_b", Status: tables.IdeaOpen}); err == nil {
		t.Error("taken")
	}
	a.Duplicates = nil
	if err := in.checkOriginal(a, &tables.Idea{ID: "id_b", Status: tables.IdeaOpen}); err != nil {
		t.Error(err)
	}
}
