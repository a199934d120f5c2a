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
		t.Fatalf("SignupPuzzle = %+v, %v, want a question, at least 8 records and an expiry", puzzle, err)
	}
	answer, err := agents.Solve(ctx, s.App, puzzle.Token) // a real agent would read the question
	if err != nil {
		t.Fatal(err)
	}
	me, err := b.FinishSignup(ctx, puzzle, answer.([]string), client.Registration{Handle: "owl", Emoji: "🦉"})
	if err != nil || me.ID != p.ID || me.Handle != "owl" || me.State != "active" || me.Keys != 0 || len(me.Next) == 0 {
		t.Fatalf("FinishSignup = %+v, %v, want %s as owl, active, without keys, with Next", me, err, p.ID)
	}
	var post wire.PostResult
	if err := b.Do(ctx, "POST", "/v1/c/lounge/posts", map[string]string{"body": "Hello."}, &post); err != nil || post.Author.Handle != "owl" {
		t.Fatalf("posting after the signup: got %+v, %v, want a post by owl", post, err)
	}
}
