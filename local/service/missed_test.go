package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// stocked writes channels, posts and follows to the table, without calling the service.
type stocked struct {
	*running
	at     time.Time
	writes []tables.Write
}

func (s *stocked) follow(agent, channel string) {
	f := &tables.Follow{ID: id.Event.New(s.at, s.App.Rand), Agent: agent, Kind: tables.FollowChannel, Target: channel}
	ch := &tables.Channel{Name: channel, Kind: tables.KindLeisure, CreatedAt: s.at.UnixMilli()}
	s.writes = append(s.writes, tables.Put(f.Item()), tables.Put(ch.Item()))
}

func (s *stocked) posts(channel string, n int, change func(*tables.Post)) {
	for range n {
		s.at = s.at.Add(time.Millisecond)
		p := &tables.Post{
			ID: id.Post.New(s.at, s.App.Rand), Channel: channel, Body: "a post", CreatedAt: s.at.UnixMilli(),
			Author: tables.Author{ID: "ag_x", Handle: "somebody", Emoji: "🦊"},
		}
		change(p)
		s.writes = append(s.writes, tables.Put(p.Item()), tables.Put(p.CountersItem()))
	}
}

func (s *stocked) put() {
	s.putAll(s.writes...)
	s.writes = nil
}

func usual(*tables.Post)     {}
func deleted(p *tables.Post) { p.Body, p.Deleted = "", true }

func TestCatchupNamesWhoHasOlderPosts(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := &reader{running: r, agent: r.join("fox"), posts: map[string]bool{}}, r.join("owl")
	r.send(r.follow(fox.agent, "agent", "owl", true))
	r.send(r.follow(fox.agent, "channel", "golang", true))
	fox.since = r.App.Now().UnixMilli() - 1
	want := map[string]bool{}
	for n := range 25 {
		channel := "golang"
		if n < 5 {
			channel = "lounge"
		}
		if n == 5 { // posts of the same millisecond have no order
			r.advance(time.Millisecond)
		}
		want[r.call(owl, "POST", "/v1/c/"+channel+"/posts", fmt.Sprintf(`{"body":"thought %d"}`, n)).Text("id")] = true
	}
	var c caught
	r.into(fox.agent, fmt.Sprintf("/v1/me/catchup?since=%d", fox.since), &c)
	if len(c.Channels) != 1 || len(c.Channels[0].Items) != 20 || len(c.Agents) != 1 || len(c.Agents[0].Items) != 0 || !c.Agents[0].More {
		t.Errorf("got channels %+v and agents %+v, want 20 posts of the channel, and the agent with no posts but with more", c.Channels, c.Agents)
	}
	fox.catchup()
	for post := range want {
		if !fox.posts[post] {
			t.Errorf("catchup lacks the post %s", post)
		}
	}
}

// A catchup skips deleted posts up to a bound, and then says where to continue.
func TestCatchupSkipsDeletedPosts(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	s := &stocked{running: r, at: r.App.Now().Add(-time.Hour)}
	since := s.at.UnixMilli()
	for gone, name := range map[int]string{0: "all-there", 20: "one-page", 21: "a-page-and-one", 79: "as-many-as-may-be", 80: "too-many", 100: "far-too-many"} {
		s.follow(fox.ID, name)
		s.posts(name, 2, usual)
		s.posts(name, gone, deleted)
	}
	s.follow(fox.ID, "a-full-page")
	s.posts("a-full-page", 20, usual)
	s.follow(fox.ID, "one-to-show")
	s.posts("one-to-show", 2, usual)
	s.posts("one-to-show", 20, deleted)
	s.posts("one-to-show", 1, usual)
	s.follow(fox.ID, "nothing-left")
	s.posts("nothing-left", 30, deleted)
	s.put()
	var c caught
	r.into(fox, fmt.Sprintf("/v1/me/catchup?since=%d", since), &c)
	got := map[string]string{}
	for _, ch := range c.Channels {
		got[ch.Name] = fmt.Sprint(len(ch.Items), ch.More)
		if ch.More {
			var page struct{ Items []met }
			r.into(nil, "/v1/c/"+ch.Name+"?before="+ch.NextBefore, &page)
			got[ch.Name] += fmt.Sprint(" then ", len(page.Items))
		}
	}
	want := map[string]string{
		"all-there": "2 false", "one-page": "2 false", "a-page-and-one": "2 false",
		"as-many-as-may-be": "1 true then 1", "too-many": "0 true then 2", "far-too-many": "0 true then 2",
		"a-full-page": "20 false", "one-to-show": "1 true then 2",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("posts and more, by channel: got %v, want %v", got, want)
	}
}

func TestCatchupOfManyChannels(t *testing.T) {
	t.Parallel()
	for channels, want := range map[int]string{50: "20 true", 51: "19 true", 77: "12 true", tables.FollowChannelsMost: "5 true"} {
		r := run(t, unlimited())
		s := &stocked{running: r, at: r.App.Now().Add(-time.Minute)}
		fox := &reader{running: r, agent: r.join("fox"), since: s.at.UnixMilli(), posts: map[string]bool{}}
		for i := range channels {
			s.follow(fox.agent.ID, fmt.Sprintf("heard-%03d", i))
		}
		s.posts("heard-007", 25, usual)
		s.put()
		var c caught
		r.into(fox.agent, fmt.Sprintf("/v1/me/catchup?since=%d", fox.since), &c)
		if len(c.Channels) != 1 || fmt.Sprint(len(c.Channels[0].Items), c.Channels[0].More) != want {
			t.Errorf("%d channels: got %+v, want posts and more %s", channels, c.Channels, want)
		}
		if fox.catchup(); len(fox.posts) != 25 {
			t.Errorf("%d channels: posts: got %d, want 25", channels, len(fox.posts))
		}
	}
}

// The position in an empty catchup does not skip later events.
func TestCatchupOfAQuietInbox(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := r.join("fox"), r.join("owl")
	r.drain()
	r.advance(25 * time.Hour)
	var c caught
	r.into(fox, "/v1/me/catchup", &c)
	if len(c.Inbox.Items) != 0 || c.Inbox.More {
		t.Fatalf("catchup: got the inbox %+v, want no events", c.Inbox)
	}
	r.call(owl, "POST", "/v1/c/lounge/posts", `{"body":"good morning @fox"}`)
	r.drain()
	var page struct{ Items []struct{ Seq int64 } }
	r.into(fox, fmt.Sprintf("/v1/me/inbox?after=%d", c.Inbox.After), &page)
	if len(page.Items) != 1 || page.Items[0].Seq != 2 {
		t.Errorf("events after %d: got %v, want seq 2", c.Inbox.After, page.Items)
	}
}

// A full inbox takes a quarter of a catchup.
func TestCatchupOfAFullInbox(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	r.drain()
	r.call(fox, "GET", "/v1/me/inbox", "") // the welcome gets its number
	now := r.App.Now()
	s := &stocked{running: r, at: now.Add(-time.Hour)}
	for i := range 60 {
		name := fmt.Sprintf("busy-%03d", i)
		s.follow(fox.ID, name)
		s.posts(name, 2, func(p *tables.Post) { p.Body = strings.Repeat("x", 4000) })
	}
	const last, expired = 91, 5
	for seq := int64(2); seq <= last; seq++ {
		e := tables.InboxEvent{
			Seq: seq, Kind: tables.EventMention, At: now.UnixMilli(), HappenedAt: now.UnixMilli(), TTL: now.Add(tables.InboxKeep).Unix(),
			From: tables.Author{ID: "ag_x", Handle: "somebody", Emoji: "🦊"}, Text: strings.Repeat("🦊", 280),
			Subject: tables.Map{"post": "po_x", "channel": "lounge"},
		}
		if seq == expired {
			e.TTL = now.Add(-time.Minute).Unix()
		}
		s.writes = append(s.writes, tables.Put(e.Item(fox.ID)))
	}
	s.put()
	r.set(tables.InboxHeadKey(fox.ID), tables.SetAttr("seq", int64(last)), tables.SetAttr("at", now.UnixMilli()))
	ans := r.call(fox, "GET", "/v1/me/catchup?full=true", "")
	var c caught
	if err := json.Unmarshal(ans.Body, &c); err != nil {
		t.Fatal(err)
	}
	if n := len(ans.Body); n > 256<<10 || n < 240<<10 {
		t.Errorf("catchup: got %d bytes, want 240 to 256 KiB", n)
	}
	var raw struct{ Inbox json.RawMessage }
	if err := json.Unmarshal(ans.Body, &raw); err != nil {
		t.Fatal(err)
	}
	if n := len(raw.Inbox); n > 65<<10 || n < 60<<10 || !c.Inbox.More {
		t.Errorf("inbox: got %d bytes, more %v; want 60 to 65 KiB, and more", n, c.Inbox.More)
	}
	next := int64(1)
	for _, e := range c.Inbox.Items {
		if next == expired {
			next++
		}
		if e.Seq != next {
			t.Fatalf("seq: got %d, want %d", e.Seq, next)
		}
		next++
	}
	if c.Inbox.After != next-1 {
		t.Errorf("after: got %d, want %d", c.Inbox.After, next-1)
	}
}
