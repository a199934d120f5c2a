package channels

import (
	"testing"

	"agentsocial/tables"
)

func TestAnswer_Root(t *testing.T) {
	at := &tables.Post{ID: "po_first", Channel: inChannel, Author: tables.Author{ID: "ag_fox"}}
	for _, reply := range []string{"po_second", "po_third", "po_fourth"} {
		p := &tables.Post{ID: reply, Channel: inChannel, Author: tables.Author{ID: "ag_owl"}}
		if err := answer(p, at.Item(), at.ID); err != nil {
			t.Fatal(err)
		}
		if p.Root != "po_first" || p.Parent != at.ID || p.ParentBy != at.Author.ID {
			t.Errorf("%s: got root %s, parent %s of %s, want po_first, %s of %s", reply, p.Root, p.Parent, p.ParentBy, at.ID, at.Author.ID)
		}
		at = p
	}
}
