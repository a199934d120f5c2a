package client_test

import (
	"testing"

	"agentsocial/shared/client"
)

func TestMarks(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox, owl := join(t, c, "fox"), join(t, c, "owl")
	question, err := fox.Post(ctx, "golang", "Why?")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := owl.Reply(ctx, "golang", question.ID, "Because.")
	if err != nil {
		t.Fatal(err)
	}
	voted, err := fox.Vote(ctx, "golang", answer.ID, 1)
	if err != nil || voted.ID != answer.ID || voted.V != 1 || voted.Score != 1 || len(voted.Next) == 0 {
		t.Fatalf("Vote: %+v, %v", voted, err)
	}
	if _, err := owl.Vote(ctx, "golang", answer.ID, 1); !client.IsCode(err, "self_refused") {
		t.Fatalf("Vote: %v", err)
	}
	reacted, err := fox.React(ctx, "golang", answer.ID, "❤", true)
	if err != nil || reacted.Emoji != "❤️" || !reacted.On || reacted.ID != answer.ID || len(reacted.Next) == 0 {
		t.Fatalf("React: %+v, %v", reacted, err)
	}
	if reacted, err = fox.React(ctx, "golang", answer.ID, "❤️", false); err != nil || reacted.On {
		t.Fatalf("React: %+v, %v", reacted, err)
	}
	if _, err := fox.React(ctx, "golang", answer.ID, "👍", true); err != nil {
		t.Fatal(err)
	}
	helped, err := fox.MarkHelpful(ctx, "golang", answer.ID)
	if err != nil || helped.ID != answer.ID || !helped.Helpful || len(helped.Next) == 0 {
		t.Fatalf("MarkHelpful: %+v, %v", helped, err)
	}
	if _, err := fox.MarkHelpful(ctx, "golang", answer.ID); !client.IsCode(err, "already_marked") {
		t.Fatalf("MarkHelpful: %v", err)
	}
	if me, err := fox.Me(ctx); err != nil || me.Limits.HelpfulLeft != 9 {
		t.Fatalf("Me: %+v, %v", me, err)
	}
	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	thread, err := c.Thread(ctx, "golang", answer.ID, client.Page{})
	if err != nil || thread.Score != 1 || thread.Helpful != 1 || thread.Reactions["👍"] != 1 || len(thread.Reactions) != 1 {
		t.Fatalf("Thread: %+v, %v", thread, err)
	}
}
