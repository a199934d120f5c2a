package service_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/id"
)

// caught is the answer of a catchup.
type caught struct {
	Since, Now int64
	Inbox      struct {
		Items []struct{ Seq, At int64 }
		More  bool
		After int64
	}
	Channels []struct {
		Name       string
		Items      []met
		More       bool
		NextBefore string `json:"next_before"`
	}
	Agents []struct {
		ID         string
		Items      []met
		More       bool
		NextBefore int64 `json:"next_before"`
	}
}

type met struct {
	ID        string
	Body      string
	CreatedAt int64 `json:"created_at"`
}

// reader catches up repeatedly and follows every list to its end.
type reader struct {
	*running
	agent *transcripts.Agent
	since int64
	posts map[string]bool
	more  int // pages read after catchups that left posts out
}

func (r *reader) catchup() {
	r.t.Helper()
	var c caught
	r.into(r.agent, fmt.Sprintf("/v1/me/catchup?since=%d", r.since), &c)
	for _, ch := range c.Channels {
		before := ch.NextBefore
		r.meet(ch.Items)
		for more := ch.More; more; {
			r.more++
			var page struct {
				Items      []met
				More       bool
				NextBefore string `json:"next_before"`
			}
			target := "/v1/c/" + ch.Name
			if before != "" {
				target += "?before=" + before
			}
			r.into(nil, target, &page)
			r.meet(page.Items)
			before = page.NextBefore
			more = page.More && page.Items[len(page.Items)-1].CreatedAt >= c.Since
		}
	}
	for _, a := range c.Agents {
		before := a.NextBefore
		r.meet(a.Items)
		for more := a.More; more; {
			r.more++
			var page struct {
				Items []struct {
					At      int64
					Subject map[string]string
				}
				More       bool
				NextBefore int64 `json:"next_before"`
			}
			target := "/v1/agents/" + a.ID + "/history"
			if before != 0 {
				target += fmt.Sprintf("?before=%d", before)
			}
			r.into(nil, target, &page)
			for _, e := range page.Items {
				r.posts[e.Subject["post"]] = true
			}
			before = page.NextBefore
			more = page.More && page.Items[len(page.Items)-1].At >= c.Since
		}
	}
	r.since = c.Now
}

func (r *reader) meet(posts []met) {
	for _, p := range posts {
		r.posts[p.ID] = true
	}
}

// A reader that sends the now of each catchup as the since of the next misses no post.
func TestCatchupIsComplete(t *testing.T) {
	t.Parallel()
	config := unlimited()
	r := run(t, config)
	fox := &reader{running: r, agent: r.join("fox"), since: r.App.Now().UnixMilli() - 1, posts: map[string]bool{}}
	var writers []*transcripts.Agent
	followed := []string{"golang", "haiku", "dreams"}
	for _, name := range followed {
		r.send(r.follow(fox.agent, "channel", name, true))
	}
	places := append([]string{"lounge", "vent"}, followed...)
	for i := range 8 {
		w := r.join(fmt.Sprintf("writer%d", i))
		if writers = append(writers, w); i < 4 {
			r.send(r.follow(fox.agent, "agent", w.Name, true))
		}
	}
	r.embedded().SetFaults(embedded.Random(5, embedded.Probabilities{
		Conflict: .1, Throttled: .01, LostRequest: .03, LostAnswer: .05, Stale: .5,
	}))
	until := time.Now().Add(9 * time.Second) // longer than the overlap of two catchups
	var mu sync.Mutex
	want, slow := map[string]string{}, 0
	var over atomic.Bool
	var work sync.WaitGroup
	for i, w := range writers {
		work.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			for n := 0; !over.Load(); n++ {
				place := places[rng.IntN(len(places))]
				q := r.request(w, "POST", "/v1/c/"+place+"/posts", encode(map[string]string{"body": fmt.Sprint(w.Name, " says ", n)}))
				ans := r.send(q)
				for ans.Status == 409 || ans.Status == 503 {
					ans = r.send(q)
				}
				if ans.Status != 201 {
					t.Errorf("posting: got %d %s, want 201", ans.Status, ans.Body)
				}
				if i < 4 || place != "lounge" && place != "vent" {
					mu.Lock()
					// Catchups may miss a post whose commit takes too long, as on a busy machine.
					post := ans.Text("id")
					at, _ := id.Post.Time(post)
					if took := r.App.Now().Sub(time.UnixMilli(at)); took < tables.CatchupOverlap-tables.PublicKeep-time.Second {
						want[post] = w.Name + " in " + place
					} else {
						slow++
					}
					mu.Unlock()
				}
				time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
			}
		})
	}
	// little reports whether too little has happened yet.
	little := func(catchups int) bool {
		mu.Lock()
		defer mu.Unlock()
		return len(want) < 100 || catchups < 10 || fox.more == 0
	}
	catchups := 0
	for late := until.Add(time.Minute); time.Now().Before(until) || little(catchups) && time.Now().Before(late); catchups++ {
		fox.catchup()
		time.Sleep(time.Duration(20+catchups%7*60) * time.Millisecond)
	}
	over.Store(true)
	work.Wait()
	r.embedded().SetFaults(nil)
	fox.catchup()
	t.Logf("%d posts, %d slow ones, %d catchups, %d further pages", len(want), slow, catchups, fox.more)
	for post, whose := range want {
		if !fox.posts[post] {
			t.Errorf("%s by %s: missing from all catchups", post, whose)
		}
	}
	if little(catchups) {
		t.Error("there were too few posts, catchups or pages to test anything")
	}
}

// A catchup and the inbox pages after it have every event since the requested time.
func TestCatchupOfALongInbox(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	r.drain()
	r.call(fox, "GET", "/v1/me/inbox", "") // numbers the welcome event
	const n = 2500
	now := r.App.Now()
	first := func(seq int64) int64 { return (seq-1)/7*7 + 1 } // seven arrive at a time
	at := func(seq int64) int64 { return now.Add(time.Duration(first(seq)-n) * time.Second).UnixMilli() }
	var writes []tables.Write
	for seq := int64(2); seq <= n; seq++ {
		e := tables.InboxEvent{Seq: seq, Kind: tables.EventVisit, At: at(seq), HappenedAt: at(seq), Subject: tables.Map{"agent": fox.ID}, TTL: now.Add(tables.InboxKeep).Unix()}
		writes = append(writes, tables.Put(e.Item(fox.ID)))
		if len(writes) == tables.MaxTxWrites || seq == n {
			r.commit(writes...)
			writes = nil
		}
	}
	r.set(tables.InboxEventKey(fox.ID, 1), tables.SetAttr("at", at(1)))
	r.set(tables.InboxHeadKey(fox.ID), tables.SetAttr("seq", int64(n)), tables.SetAttr("at", at(n)))
	for _, back := range []int64{0, 1, 50, 99, 100, 101, 102, 150, 200, 700, 2000, 2400, n - 2, n - 1} {
		var c caught
		r.into(fox, fmt.Sprintf("/v1/me/catchup?since=%d", at(n-back)), &c)
		next, pages := first(n-back), 0
		for items, more, after := c.Inbox.Items, c.Inbox.More, c.Inbox.After; ; pages++ {
			for _, e := range items {
				if e.At < at(n-back) {
					continue // pages of the inbox have no since
				}
				if e.Seq != next {
					t.Fatalf("since %d events ago: got seq %d, want %d", back, e.Seq, next)
				}
				next++
			}
			if !more {
				break
			}
			var page struct {
				Items []struct{ Seq, At int64 }
				More  bool
				After int64
			}
			r.into(fox, fmt.Sprintf("/v1/me/inbox?limit=200&after=%d", after), &page)
			items, more, after = page.Items, page.More, page.After
		}
		if next != n+1 || int64(pages) > back/200+3 {
			t.Errorf("since %d events ago: got events up to seq %d with %d inbox pages, want up to %d with at most %d", back, next-1, pages, n, back/200+3)
		}
		if back == 200 && len(c.Inbox.Items) < 80 { // a catchup reads 100 events, at most 20 of them before since
			t.Errorf("since %d events ago: got %d events, want 80 or more", back, len(c.Inbox.Items))
		}
		for _, e := range c.Inbox.Items {
			if e.At < c.Since {
				t.Errorf("since %d events ago: an event is older than since", back)
			}
		}
	}
}

// A catchup has at most about 256 KiB, and names every channel and agent with news.
func TestCatchupIsBounded(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	at := r.App.Now().Add(-time.Minute)
	var writes []tables.Write
	follow := func(kind, target string) {
		f := &tables.Follow{ID: id.Event.New(at, r.App.Rand), Agent: fox.ID, Kind: kind, Target: target, Handle: "somebody"}
		writes = append(writes, tables.Put(f.Item()))
	}
	post := func(author, channel string, n int) *tables.Post {
		made := at.Add(time.Duration(n) * time.Millisecond)
		p := &tables.Post{
			ID: id.Post.New(made, r.App.Rand), Channel: channel, Body: fmt.Sprint(n, " ", strings.Repeat("x", 3990)), CreatedAt: made.UnixMilli(),
			Author: tables.Author{ID: author, Handle: "somebody", Emoji: "🦊"},
		}
		writes = append(writes, tables.Put(p.Item()), tables.Put(p.CountersItem()))
		return p
	}
	const channels, agents, each = tables.FollowChannelsMost, 300, 6
	for i := range channels {
		name := fmt.Sprintf("busy-%03d", i)
		follow(tables.FollowChannel, name)
		for n := range each {
			post("ag_x", name, n)
		}
	}
	for range agents {
		author := id.Agent.New(at, r.App.Rand)
		follow(tables.FollowAgent, author)
		p := post(author, "elsewhere", 0)
		writes = append(writes, p.List(9, 9, nil, at))
	}
	r.putAll(writes...)
	for _, full := range []bool{true, false} {
		ans := r.call(fox, "GET", fmt.Sprintf("/v1/me/catchup?full=%v", full), "")
		var c caught
		if err := json.Unmarshal(ans.Body, &c); err != nil {
			t.Fatal(err)
		}
		if n := len(ans.Body); n > 256<<10 || n < 200<<10 {
			t.Errorf("full %v: got %d bytes, want 200 to 256 KiB", full, n)
		}
		if len(c.Channels) != channels || len(c.Agents) != agents {
			t.Errorf("full %v: got %d channels and %d agents, want %d and %d", full, len(c.Channels), len(c.Agents), channels, agents)
		}
		given := 0
		for _, ch := range c.Channels {
			given += len(ch.Items)
			for i, p := range ch.Items {
				if want := fmt.Sprint(each-1-i, " "); !strings.HasPrefix(p.Body, want) || full != (len(p.Body) > 1000) {
					t.Fatalf("full %v: post %d of %s is %.9q, %d characters; want %q…, cut unless full", full, i, ch.Name, p.Body, len(p.Body), want)
				}
			}
			last := ""
			if n := len(ch.Items); n > 0 {
				last = ch.Items[n-1].ID
			}
			if ch.More != (len(ch.Items) < each) || ch.More && ch.NextBefore != last {
				t.Fatalf("full %v: %s: got %d posts of %d, more %v and next_before %q; want more if posts are missing, and the last one as next_before",
					full, ch.Name, len(ch.Items), each, ch.More, ch.NextBefore)
			}
		}
		for _, a := range c.Agents {
			given += len(a.Items)
			if a.More != (len(a.Items) == 0) || a.NextBefore != 0 {
				t.Fatalf("full %v: %s: got %d posts, more %v and next_before %d; want more only without posts, and next_before 0",
					full, a.ID, len(a.Items), a.More, a.NextBefore)
			}
		}
		if !full && given < 250 || full && given < 20 {
			t.Errorf("full %v: got %d posts, want at least 20, or 250 if they are cut", full, given)
		}
	}
}

// The more items a catchup reads, the more it counts against the limit of reads.
func TestCatchupCountsAgainstReads(t *testing.T) {
	settings := generous()
	settings.MaxReads = 300
	r := run(t, service.Config{Settings: settings})
	var writes []tables.Write
	fox, owl := r.join("fox"), r.join("owl")
	for range tables.FollowAgentsMost {
		f := &tables.Follow{Agent: fox.ID, Kind: tables.FollowAgent, Target: id.Agent.New(r.App.Now(), r.App.Rand)}
		writes = append(writes, tables.Put(f.Item()))
	}
	r.putAll(writes...)
	r.toMinute()
	n := 0
	for ; n < 40 && r.call(fox, "GET", "/v1/me/catchup", "").Status == 200; n++ {
	}
	if n < 10 || n > 20 { // each catchup costs about 26 of 300 reads
		t.Errorf("refused after %d catchups of a thousand agents, want 10 to 20", n)
	}
	if ans := r.call(owl, "GET", "/v1/me/catchup", ""); ans.Status != 200 {
		t.Errorf("an agent that has read little: got %d, want 200", ans.Status)
	}
}
