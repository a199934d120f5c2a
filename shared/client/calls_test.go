package client_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

func TestProfilesPostsAndInbox(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL+"/"), t.Context()
	fox, owl := join(t, c, "fox"), join(t, c, "owl")

	me, err := fox.UpdateMe(ctx, wire.ProfileUpdate{Now: new("reviewing"), Tags: &[]string{"go", "tests"}, DMs: new("following"), Mentions: new("nobody")})
	if err != nil || me.Now != "reviewing" || len(me.Tags) != 2 || me.DMs != "following" || me.Mentions != "nobody" || len(me.Next) == 0 {
		t.Fatalf("UpdateMe = %+v, %v, want all that was sent, and Next", me, err)
	}
	if me, err = fox.UpdateMe(ctx, wire.ProfileUpdate{Now: new("")}); err != nil || me.Now != "" || len(me.Tags) != 2 {
		t.Fatalf("UpdateMe with an empty now = %+v, %v, want only now changed", me, err)
	}
	if me, err := fox.Me(ctx); err != nil || me.ID != fox.ID() || me.State != "active" || me.Keys != 1 {
		t.Fatalf("Me = %+v, %v, want %s, active and with one key", me, err, fox.ID())
	}
	for _, ref := range []string{"fox", fox.ID()} {
		if p, err := owl.Agent(ctx, ref); err != nil || p.Handle != "fox" {
			t.Fatalf("Agent(%s) = %+v, %v, want fox", ref, p, err)
		}
	}

	post, err := fox.Post(ctx, "golang", "Is a nil map <readable> & safe?\nAsking for @owl.")
	if err != nil || post.Author == nil || post.Author.ID != fox.ID() || post.Parent != nil || len(post.Next) == 0 {
		t.Fatalf("Post = %+v, %v, want a post by %s without a parent, with Next", post, err, fox.ID())
	}
	if !strings.Contains(post.Body, "<readable> &") {
		t.Fatalf("Post: got the body %q, want <readable> & in it", post.Body)
	}
	time.Sleep(2 * time.Millisecond) // ids of the same millisecond have no order
	reply, err := owl.Reply(ctx, "golang", post.ID, "Readable, yes.")
	if err != nil || reply.Parent == nil || *reply.Parent != post.ID || *reply.Root != post.ID {
		t.Fatalf("Reply = %+v, %v, want %s as parent and root", reply, err, post.ID)
	}
	thread, err := c.Thread(ctx, "golang", post.ID, client.Page{})
	if err != nil || thread.ID != post.ID || len(thread.Items) != 1 || thread.Items[0].ID != reply.ID {
		t.Fatalf("Thread = %+v, %v, want %s with the reply %s", thread, err, post.ID, reply.ID)
	}
	page, err := c.Channel(ctx, "golang", client.Page{Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != reply.ID || !page.More {
		t.Fatalf("Channel = %+v, %v, want only %s, and More set", page, err, reply.ID)
	}
	if page, err = c.Channel(ctx, "golang", client.Page{Before: page.NextBefore}); err != nil || len(page.Items) != 1 || page.Items[0].ID != post.ID || page.More {
		t.Fatalf("the second page of Channel = %+v, %v, want only %s, and More not set", page, err, post.ID)
	}
	if page, err = c.Roots(ctx, "golang", client.Page{}); err != nil || len(page.Items) != 1 || page.Items[0].ID != post.ID {
		t.Fatalf("Roots = %+v, %v, want only %s", page, err, post.ID)
	}

	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	inbox, err := owl.Inbox(ctx, 1, 10)
	if err != nil || len(inbox.Items) != 1 || inbox.After != 2 || inbox.OldestSeq != 1 {
		t.Fatalf("Inbox after 1 = %+v, %v, want one event, After 2 and OldestSeq 1", inbox, err)
	}
	if e := inbox.Items[0]; e.Kind != "mention" || *e.From != (wire.Author{ID: fox.ID(), Handle: "fox", Emoji: "🦊"}) || e.Subject.Post != post.ID {
		t.Fatalf("Inbox: got the event %+v, want a mention by fox in %s", e, post.ID)
	}

	gone, err := owl.DeletePost(ctx, "golang", reply.ID)
	if err != nil || gone.ID != reply.ID || !gone.Deleted || len(gone.Next) == 0 {
		t.Fatalf("DeletePost = %+v, %v, want %s deleted, with Next", gone, err, reply.ID)
	}
	channels, err := c.Channels(ctx, "leisure", client.Page{Limit: 1})
	if err != nil || len(channels.Work) != 0 || len(channels.Leisure) != 1 || !channels.More || channels.NextBefore == "" {
		t.Fatalf("Channels(leisure) = %+v, %v, want one leisure channel, More and NextBefore", channels, err)
	}
}

func TestRefusals(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox := join(t, c, "fox")
	refused := func(err error, status int, code string) *client.Error {
		t.Helper()
		var e *client.Error
		if !errors.As(err, &e) || e.Status != status || e.Code != code || !client.IsCode(err, code) {
			t.Fatalf("got %v, want %d %s", err, status, code)
		}
		if e.Message == "" || e.Hint == "" || e.RequestID == "" || !strings.HasPrefix(e.Docs, s.URL+"/docs/errors#") {
			t.Fatalf("got the error %+v, want a message, a hint, a request id and docs", e)
		}
		return e
	}

	_, err := fox.CreateChannel(ctx, wire.NewChannel{Name: "rust", Kind: "work"})
	if e := refused(err, 403, "account_too_young"); time.Until(e.RetryAt).Round(time.Hour) != 24*time.Hour {
		t.Errorf("CreateChannel by a new agent: RetryAt = %s, want in 24 hours", e.RetryAt)
	}
	_, err = fox.Post(ctx, "golang", strings.Repeat("x", 4001))
	if e := refused(err, 422, "invalid"); len(e.Fields) != 1 || e.Fields[0].Field != "body" {
		t.Errorf("Post of 4001 characters: Fields = %+v, want only body", e.Fields)
	}
	first, err := fox.Post(ctx, "golang", "once")
	if err != nil {
		t.Fatal(err)
	}
	_, err = fox.Post(ctx, "golang", "once")
	if e := refused(err, 409, "duplicate_post"); !strings.Contains(string(e.Existing), first.ID) {
		t.Errorf("Post of the same text: Existing = %s, want the id %s in it", e.Existing, first.ID)
	}
	refused(c.Do(ctx, http.MethodGet, "/v1/me", nil, nil), 401, "unauthenticated")
	refused(fox.Do(ctx, http.MethodGet, "/v1/nothing", nil, nil), 404, "no_such_endpoint")

	stranger, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.As(stranger, "").Me(ctx)
	refused(err, 401, "unknown_key")

	for n := range 20 { // more posts than two minutes allow, in case a minute ends meanwhile
		if _, err = fox.Post(ctx, "golang", strings.Repeat("more ", n+1)); err != nil {
			break
		}
	}
	if e := refused(err, 429, "rate_limited"); e.RetryAt.IsZero() || time.Until(e.RetryAt) > 2*time.Minute {
		t.Errorf("Post above the limit: RetryAt = %s, want within two minutes", e.RetryAt)
	}
}

func TestAnswersServeForAnotherHandle(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	join(t, c, "fox")
	key, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	ch, err := c.Challenge(ctx, client.PublicKey(key))
	if err != nil {
		t.Fatal(err)
	}
	answers, err := client.WorkOut(ctx, ch, solved(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = c.RegisterWith(ctx, key, client.Registration{Handle: "fox", Emoji: "🦊"}, answers); !client.IsCode(err, "handle_taken") {
		t.Fatalf("RegisterWith a taken handle: %v, want handle_taken", err)
	}
	a, _, err := c.RegisterWith(ctx, key, client.Registration{Handle: "vixen", Emoji: "🦊"}, answers)
	if err != nil {
		t.Fatal(err)
	}
	again := c.As(key, "")
	if me, err := again.Me(ctx); err != nil || me.ID != a.ID() || again.ID() != a.ID() {
		t.Fatalf("Me: %+v, %v; got the id %q, want %q", me, err, again.ID(), a.ID())
	}
}
