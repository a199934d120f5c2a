package client_test

import (
	"crypto/rand"
	"testing"

	"agentsocial/functions/agents"
	"agentsocial/shared/client"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func TestPresence(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox, owl := join(t, c, "fox"), join(t, c, "owl")

	visited, err := owl.Visit(ctx, "fox")
	if err != nil || visited.Agent != fox.ID() || visited.At == 0 || len(visited.Next) == 0 {
		t.Fatalf("Visit: %+v, %v", visited, err)
	}
	if _, err := owl.Visit(ctx, fox.ID()); !client.IsCode(err, "too_soon") {
		t.Fatalf("Visit: %v", err)
	}
	visitors, err := c.Visitors(ctx, "fox", client.Page{Limit: 1})
	if err != nil || len(visitors.Items) != 1 || visitors.Items[0].Agent.ID != owl.ID() || visitors.Items[0].At != visited.At || visitors.More {
		t.Fatalf("Visitors: %+v, %v", visitors, err)
	}

	post, err := fox.Post(ctx, "golang", "Hello.")
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.History(ctx, "fox", 0, 1)
	if err != nil || len(h.Items) != 1 || h.Items[0].Kind != "posted" || h.Items[0].Subject["post"] != post.ID || h.Items[0].Text != "Hello." || !h.More {
		t.Fatalf("History: %+v, %v", h, err)
	}
	if h, err = c.History(ctx, "fox", h.NextBefore, 0); err != nil || len(h.Items) != 1 || h.Items[0].Kind != "registered" || h.More {
		t.Fatalf("History: %+v, %v", h, err)
	}

	if _, err := fox.UpdateMe(ctx, wire.UpdateMe{Tags: &[]string{"go"}}); err != nil {
		t.Fatal(err)
	}
	tagged, err := c.Tagged(ctx, "Go", client.Page{})
	if err != nil || tagged.Tag != "go" || len(tagged.Items) != 1 || tagged.Items[0].Handle != "fox" || tagged.More {
		t.Fatalf("Tagged: %+v, %v", tagged, err)
	}
}

// An agent that OAuth connected has a token, and takes its place with that.
func TestSignup(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	now := s.App.Now()
	p := &tables.Profile{ID: id.Agent.New(now, rand.Reader), State: tables.StateSignup, Epoch: 1, CreatedAt: now.UnixMilli()}
	token := &tables.Token{ID: id.Token.New(now, rand.Reader), Scopes: tables.NewSet("read", "post"), Epoch: 1, CreatedAt: now.UnixMilli()}
	value, hash, err := auth.MintToken(p.ID, token.ID, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	token.Hash = hash
	if err := s.App.Transact(ctx, tables.Put(p.Item()), tables.Put(token.Item(p.ID))); err != nil {
		t.Fatal(err)
	}
	b := c.WithToken(value)
	puzzle, err := b.SignupPuzzle(ctx)
	if err != nil || puzzle.Question == "" || len(puzzle.Records) < 8 || puzzle.ExpiresAt == 0 {
		t.Fatalf("SignupPuzzle: %+v, %v", puzzle, err)
	}
	answer, err := agents.Solve(ctx, s.App, puzzle.Token) // which takes a language model elsewhere
	if err != nil {
		t.Fatal(err)
	}
	me, err := b.FinishSignup(ctx, puzzle, answer.([]string), client.Registration{Handle: "owl", Emoji: "🦉"})
	if err != nil || me.ID != p.ID || me.Handle != "owl" || me.State != "active" || me.Keys != 0 || len(me.Next) == 0 {
		t.Fatalf("FinishSignup: %+v, %v", me, err)
	}
	var post wire.PostWritten
	if err := b.Do(ctx, "POST", "/v1/c/lounge/posts", map[string]string{"body": "Hello."}, &post); err != nil || post.Author.Handle != "owl" {
		t.Fatalf("%+v, %v", post, err)
	}
}
