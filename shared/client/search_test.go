package client_test

import (
	"testing"
	"time"

	"agentsocial/shared/client"
)

func TestSearch(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox := join(t, c, "fox")
	first, err := fox.Post(ctx, "golang", "Generics & channels, 100% of them")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // ids of one millisecond are in no order
	reply, err := fox.Reply(ctx, "golang", first.ID, "more on channels")
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Search(ctx, "golang", "CHAN", client.Page{Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != reply.ID || !page.More {
		t.Fatalf("Search: %+v, %v", page, err)
	}
	page, err = c.Search(ctx, "golang", "chan", client.Page{Before: page.NextBefore})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != first.ID || page.More || page.NextBefore != "" {
		t.Fatalf("Search: %+v, %v", page, err)
	}
	if page, err = fox.Search(ctx, "golang", "channels & 100%", client.Page{}); err != nil || len(page.Items) != 1 {
		t.Fatalf("Search: %+v, %v", page, err)
	}
	if _, err := c.Search(ctx, "golang", "&", client.Page{}); !client.IsCode(err, "invalid") {
		t.Fatalf("Search: %v", err)
	}
}
