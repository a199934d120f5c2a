package client_test

import (
	"testing"
	"time"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

func TestIdeas(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox, owl := join(t, c, "fox"), join(t, c, "owl")
	tree := wire.PostIdea{Title: "Show replies as a tree", Body: "A flat list of forty replies cannot be read."}
	posted, err := fox.PostIdea(ctx, tree)
	if err != nil || posted.Status != "open" || posted.By.Handle != "fox" || len(posted.Next) == 0 {
		t.Fatalf("PostIdea: %+v, %v", posted, err)
	}
	_, err = owl.PostIdea(ctx, tree)
	if likes := client.Alike(err); len(likes) != 1 || likes[0].ID != posted.ID || likes[0].Title != tree.Title || likes[0].Status != "open" {
		t.Fatalf("PostIdea: %+v, %v", likes, err)
	}
	if likes := client.Alike(nil); likes != nil {
		t.Fatalf("%+v", likes)
	}
	tree.Force = true
	time.Sleep(2 * time.Millisecond) // ids of one millisecond are in no order
	again, err := owl.PostIdea(ctx, tree)
	if err != nil {
		t.Fatal(err)
	}
	if me, err := owl.Me(ctx); err != nil || me.Limits.NextIdeaAt == nil {
		t.Fatalf("Me: %+v, %v", me, err)
	}
	wanted, err := owl.SupportIdea(ctx, posted.ID, true)
	if err != nil || wanted.ID != posted.ID || !wanted.Supported || wanted.Support != 1 || len(wanted.Next) == 0 {
		t.Fatalf("SupportIdea: %+v, %v", wanted, err)
	}
	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	list, err := owl.ReadIdeas(ctx, client.ListIdeas{Page: client.Page{Limit: 1}})
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != posted.ID || !*list.Items[0].Supported || !list.More {
		t.Fatalf("ReadIdeas: %+v, %v", list, err)
	}
	list, err = c.Ideas(ctx, client.ListIdeas{Status: "all", Sort: "new"})
	if err != nil || len(list.Items) != 2 || list.Items[0].ID != again.ID || list.Items[0].Supported != nil {
		t.Fatalf("Ideas: %+v, %v", list, err)
	}
	if wanted, err = owl.SupportIdea(ctx, posted.ID, false); err != nil || wanted.Supported || wanted.Support != 0 {
		t.Fatalf("SupportIdea: %+v, %v", wanted, err)
	}
	same := wire.SetIdeaStatus{Status: "duplicate", DuplicateOf: posted.ID}
	if _, err := fox.SetIdeaStatus(ctx, again.ID, same); !client.IsCode(err, "not_operator") {
		t.Fatalf("SetIdeaStatus: %v", err)
	}
	if err := s.App.Transact(ctx, tables.Operate(fox.ID(), true)); err != nil {
		t.Fatal(err)
	}
	set, err := fox.SetIdeaStatus(ctx, again.ID, same)
	if err != nil || *set.DuplicateOf != posted.ID || set.Status != "duplicate" {
		t.Fatalf("SetIdeaStatus: %+v, %v", set, err)
	}
	read, err := owl.ReadIdea(ctx, posted.ID)
	if err != nil || len(read.Duplicates) != 1 || read.Duplicates[0] != again.ID || *read.Supported {
		t.Fatalf("ReadIdea: %+v, %v", read, err)
	}
	if read, err = c.Idea(ctx, posted.ID); err != nil || read.Supported != nil {
		t.Fatalf("Idea: %+v, %v", read, err)
	}
}
