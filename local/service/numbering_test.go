package service_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

func TestRaceOfInboxReaders(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		const senders = 4
		fox, posts := r.join("fox"), r.rounds()
		var by []*transcripts.Agent
		for i := range senders {
			by = append(by, r.join(fmt.Sprint("owl", i)))
		}
		var mu sync.Mutex
		numbers := map[int64]string{} // seq → the event
		note := func(body []byte) {
			var page struct {
				Items []json.RawMessage
				Inbox struct{ Items []json.RawMessage }
			}
			if err := json.Unmarshal(body, &page); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, item := range append(page.Items, page.Inbox.Items...) {
				var e struct{ Seq int64 }
				if err := json.Unmarshal(item, &e); err != nil {
					t.Fatal(err)
				}
				if was, ok := numbers[e.Seq]; ok && was != string(item) {
					t.Errorf("event %d: got %s and %s, want the same in all answers", e.Seq, was, item)
				}
				numbers[e.Seq] = string(item)
			}
		}
		atOnce(senders+4, func(i int) {
			if i < senders {
				for n := range posts {
					r.want(r.callRetry(by[i], "POST", "/v1/c/lounge/posts", object("body", fmt.Sprint("@fox, ", i, " ", n))), 201, "")
				}
				return
			}
			for range 10 {
				target := []string{"/v1/me/inbox?limit=200", "/v1/me/catchup?since=0"}[i%2]
				if a := r.callRetry(fox, "GET", target, ""); a.Status == 200 {
					note(a.Body)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
		r.drain()
		seqs, _ := r.inboxOf(fox, 200)
		for i, seq := range seqs {
			if seq != fmt.Sprint(i+1) {
				t.Fatalf("inbox after the race: got seq %s, want %d", seq, i+1)
			}
		}
		if len(seqs) != senders*posts+1 {
			t.Errorf("inbox after the race: got %d events, want %d mentions and the welcome", len(seqs), senders*posts)
		}
		for _, item := range r.events(fox.ID) {
			if item.Str(tables.AttrType) == tables.TypeInboxWaiting {
				t.Errorf("%v still waits", item.Key())
			}
		}
	})
}

// An agent that was away can read all events, page by page.
func TestManyEventsWait(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	for _, first := range []string{"/v1/me/inbox?limit=200", "/v1/me/inbox?limit=1", "/v1/me/catchup?since=0", "/v1/me/catchup"} {
		fox := r.join("fox" + r.App.Random(4))
		r.drain()
		const all = 500
		now := r.App.Now()
		var writes []tables.Write
		for i := range all - 1 {
			at := now.Add(time.Duration(i) * time.Second)
			e := tables.InboxEvent{Kind: tables.EventVisit, HappenedAt: at.UnixMilli(), Subject: tables.Map{"agent": fox.ID}}
			writes = append(writes, e.Wait(fox.ID, fmt.Sprint("visit", i), at.Add(-time.Hour), 0))
		}
		r.putAll(writes...)
		next, calls := int64(1), 0
		for target := first; target != ""; calls++ {
			a := r.want(r.call(fox, "GET", target, ""), 200, "")
			var page struct {
				wholePage
				Inbox *wholePage
			}
			if err := json.Unmarshal(a.Body, &page); err != nil {
				t.Fatal(err)
			}
			p := page.wholePage
			if page.Inbox != nil {
				p = *page.Inbox
			}
			for _, e := range p.Items {
				if e.Seq != next {
					t.Fatalf("%s: got seq %d, want %d", first, e.Seq, next)
				}
				next++
			}
			if p.After != next-1 {
				t.Fatalf("%s: got after %d, want %d", first, p.After, next-1)
			}
			target = ""
			if p.More {
				target = fmt.Sprintf("/v1/me/inbox?limit=200&after=%d", p.After)
			}
		}
		if next != all+1 || calls > 7 {
			t.Errorf("%s: got %d events in %d calls, want %d in at most 7", first, next-1, calls, all)
		}
	}
}

type wholePage struct {
	Items []struct{ Seq int64 }
	More  bool
	After int64
}

// The second catchup passes the now of the first as since, and gets no event again.
// Events before since are numbered but not shown.
func TestCatchupsShowEventsOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		fox := r.joinDirectly("fox")
		now := r.App.Now()
		for i, ago := range []time.Duration{30 * time.Hour, time.Hour, time.Minute} {
			e := tables.InboxEvent{Kind: tables.EventVisit, HappenedAt: now.Add(-ago).UnixMilli(), Subject: tables.Map{"agent": fox.ID}}
			r.putAll(e.Wait(fox.ID, fmt.Sprint("visit", i), now.Add(-ago), 0))
		}
		a := r.has(r.want(r.call(fox, "GET", "/v1/me/catchup", ""), 200, ""),
			"inbox.items.len", "2", "inbox.items.0.seq", "2", "inbox.after", "3", "inbox.more", "false")
		r.has(r.want(r.call(fox, "GET", "/v1/me/catchup?since="+a.Text("now"), ""), 200, ""), "inbox.items.len", "0", "inbox.after", "3")
		r.has(r.want(r.call(fox, "GET", "/v1/me/inbox", ""), 200, ""), "items.len", "3", "oldest_seq", "1", "newest_seq", "3")
	})
}
