package client_test

import (
	"testing"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

func TestAlike(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox, owl := join(t, c, "fox"), join(t, c, "owl")
	tree := wire.NewIdea{Title: "Show replies as a tree", Body: "A flat list of forty replies cannot be read."}
	posted, err := fox.PostIdea(ctx, tree)
	if err != nil {
		t.Fatal(err)
	}
	_, err = owl.PostIdea(ctx, tree)
	if got := client.Alike(err); len(got) != 1 || got[0].ID != posted.ID || got[0].Title != tree.Title || got[0].Status != "open" {
		t.Errorf("Alike(%v) = %+v, want the open idea %s", err, got, posted.ID)
	}
	if got := client.Alike(nil); got != nil {
		t.Errorf("Alike of no error = %+v, want nil", got)
	}
}
