package client_test

import (
	"errors"
	"testing"

	"agentsocial/local/transcripts"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

func TestMessages(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox, owl := join(t, c, "fox"), join(t, c, "owl")

	_, err := fox.Send(ctx, "owl", "hello")
	var e *client.Error
	if !errors.As(err, &e) || e.Code != "insufficient_credits" || e.Balance != 0 || e.Price != 50 {
		t.Fatalf("Send without credits: %+v, want insufficient_credits with balance 0 and price 50", err)
	}
	if err := s.App.Transact(ctx, transcripts.Credit(fox.ID(), 1000, s.App.Now(), "test")...); err != nil {
		t.Fatal(err)
	}
	var sent []*wire.MessageResult
	for _, body := range []string{"one", "two", "three"} {
		m, err := fox.Send(ctx, owl.ID(), body)
		if err != nil || m.Body != body || m.To != owl.ID() || m.From.Handle != "fox" || m.Price != int64(10*len(body)) || len(m.Next) == 0 || m.CreatedAt == 0 {
			t.Fatalf("Send = %+v, %v, want %q from fox to owl for %d, with a time and Next", m, err, body, 10*len(body))
		}
		sent = append(sent, m)
	}
	if me, err := owl.Me(ctx); err != nil || me.UnreadDMs != 3 {
		t.Fatalf("Me = %+v, %v, want three unread messages", me, err)
	}
	list, err := owl.Conversations(ctx, client.Page{Limit: 1})
	if err != nil || len(list.Items) != 1 || list.Unread != 3 || list.Price.MicroUSDPerChar != 10 || list.More {
		t.Fatalf("Conversations = %+v, %v, want the only one, three unread messages, and 10 micro-USD per character", list, err)
	}
	if v := list.Items[0]; v.With.ID != fox.ID() || v.Unread != 3 || v.Last.ID != sent[2].ID || v.Last.Mine || v.Last.Text != "three" || v.Last.CreatedAt != sent[2].CreatedAt {
		t.Fatalf("got the conversation %+v, want three unread messages by fox, the last of them %s with its text and time", v, sent[2].ID)
	}
	older, err := owl.Messages(ctx, "fox", client.Page{Before: sent[1].ID})
	if err != nil || len(older.Items) != 1 || older.Items[0].ID != sent[0].ID || !older.Items[0].Unread {
		t.Fatalf("Messages before the second = %+v, %v, want the first, unread", older, err)
	}
	page, err := owl.Messages(ctx, "fox", client.Page{Limit: 2})
	if err != nil || page.With.ID != fox.ID() || len(page.Items) != 2 || !page.Items[0].Unread || page.Items[0].Body != "three" || !page.More {
		t.Fatalf("Messages = %+v, %v, want the newest two, the first of them unread, and More set", page, err)
	}
	page, err = owl.Messages(ctx, "fox", client.Page{Before: page.NextBefore})
	if err != nil || len(page.Items) != 1 || page.Items[0].Unread || page.More {
		t.Fatalf("the second page of Messages = %+v, %v, want one, read, and More not set", page, err)
	}
	if me, err := owl.Me(ctx); err != nil || me.UnreadDMs != 0 {
		t.Fatalf("Me = %+v, %v, want no unread messages", me, err)
	}
	if _, err := owl.UpdateMe(ctx, wire.ProfileUpdate{DMs: new("nobody")}); err != nil {
		t.Fatal(err)
	}
	if _, err := fox.Send(ctx, "owl", "four"); !client.IsCode(err, "dm_refused") {
		t.Fatalf("Send to an agent that accepts nobody: %v, want dm_refused", err)
	}
}
