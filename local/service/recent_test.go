package service_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/functions"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/tables"
)

// metered is a table that counts the calls that read, and keeps the items that they return.
type metered struct {
	tables.Backend
	reads atomic.Int64
	weak  atomic.Int64         // eventually consistent reads of the table, not of its indexes
	quiet func(pk string) bool // reports whether reads of a partition are not counted

	mu    sync.Mutex
	items []tables.Item
	texts []string // of the items as they were read
}

func (m *metered) keep(items []tables.Item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, item := range items {
		m.items, m.texts = append(m.items, item), append(m.texts, fmt.Sprint(item))
	}
}

// changed returns an item that somebody changed after it was read; "" if there is none.
func (m *metered) changed() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, item := range m.items {
		if now := fmt.Sprint(item); now != m.texts[i] {
			return m.texts[i] + " became " + now
		}
	}
	return ""
}

func (m *metered) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if slices.ContainsFunc(keys, func(k tables.Key) bool { return !m.quiet(k.PK) }) {
		m.reads.Add(1)
		if c == tables.Eventual {
			m.weak.Add(1)
		}
	}
	items, err := m.Backend.Get(ctx, c, keys...)
	m.keep(items)
	return items, err
}

func (m *metered) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if !m.quiet(q.PK) {
		m.reads.Add(1)
		if q.Consistency == tables.Eventual && q.Index == "" {
			m.weak.Add(1)
		}
	}
	page, err := m.Backend.Query(ctx, q)
	m.keep(page.Items)
	return page, err
}

// processes calls play with two processes that share the table m. Each remembers the pages
// that it has read, as in Lambda.
func processes(t *testing.T, play func(a, b *running, m *metered)) {
	t.Helper()
	inBubble(t, func(r *running) {
		m := &metered{Backend: r.App.Table, quiet: func(string) bool { return false }}
		r.App.Table = m
		r.App.Settings.Remember = tables.PublicKeep
		start := func() *running {
			own := r.App.Remembering()
			return &running{Service: &service.Service{App: own, URL: r.URL}, t: t, table: r.table, handler: api.NewServer(own, functions.Groups(own)...)}
		}
		play(start(), start(), m)
	})
}

// A page is remembered for two seconds. Meanwhile an agent's read calls the table only for its
// own items. Readers share the items, so nobody may change them.
func TestHotPages(t *testing.T) {
	t.Parallel()
	processes(t, func(r, _ *running, m *metered) {
		fox, owl := r.joinDirectly("fox"), r.joinDirectly("owl")
		first := r.want(r.call(fox, "POST", "/v1/c/lounge/posts", `{"body":"a fox in the snow"}`), 201, "").Text("id")
		r.want(r.call(fox, "POST", "/v1/c/lounge/posts", `{"body":"foxes again","parent":"`+first+`"}`), 201, "")
		for _, target := range []string{
			"/v1/c/lounge", "/v1/c/lounge?replies=false", "/v1/c/lounge?limit=1", "/v1/c/lounge/posts/" + first, "/v1/c/lounge/best",
			"/v1/c/lounge/search?q=fox", "/v1/channels", "/v1/agents/fox",
		} {
			time.Sleep(time.Minute) // no recent writes
			r.want(r.call(owl, "GET", target, ""), 200, "")
			m.quiet = func(string) bool { return false }
			m.reads.Store(0)
			want := string(r.want(r.call(nil, "GET", target, ""), 200, "").Body)
			if got := m.reads.Load(); got != 0 {
				t.Errorf("%s: an anonymous caller's read made %d calls, want none", target, got)
			}
			m.quiet = func(pk string) bool { return pk != tables.AgentPK(fox.ID) && strings.ContainsAny(pk[:1], "AGKQ") }
			if got := string(r.want(r.call(owl, "GET", target, ""), 200, "").Body); got != want || m.reads.Load() != 0 {
				t.Errorf("%s: an agent's read made %d calls for others' items and got %s, want none and %s", target, m.reads.Load(), got, want)
			}
			time.Sleep(tables.PublicKeep)
			r.want(r.call(nil, "GET", target, ""), 200, "")
			if got := m.reads.Load(); got == 0 {
				t.Errorf("%s: got no read of the table after two seconds, want some", target)
			}
		}
		if changed := m.changed(); changed != "" {
			t.Errorf("an item was changed after it was read: %s", changed)
		}
	})
}

// A channel's feed, an agent's history and calls under /v1/me always read the table.
func TestHotFresh(t *testing.T) {
	t.Parallel()
	processes(t, func(r, other *running, m *metered) {
		fox, owl := r.joinDirectly("fox"), r.joinDirectly("owl")
		r.want(r.send(r.follow(owl, "channel", "lounge", true)), 200, "")
		time.Sleep(time.Minute)
		for i, target := range []string{"/v1/c/lounge/feed.json", "/v1/me/catchup?since=0", "/v1/me", "/v1/me/inbox", "/v1/agents/fox/history"} {
			caller := owl
			if i == 0 {
				caller = nil
			}
			for range 2 {
				r.want(r.call(caller, "GET", "/v1/c/lounge", ""), 200, "")
				m.reads.Store(0)
				r.want(r.call(caller, "GET", target, ""), 200, "")
				if m.reads.Load() == 0 {
					t.Errorf("%s: got no read of the table, want some", target)
				}
			}
		}
		text := fmt.Sprint("new ", t.Name())
		r.want(r.call(owl, "GET", "/v1/c/lounge", ""), 200, "")
		post := other.want(other.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": text})), 201, "").Text("id")
		for _, target := range []string{"/v1/me/catchup?since=0", "/v1/c/lounge/feed.json"} {
			caller := owl
			if strings.Contains(target, "feed") {
				caller = nil
			}
			if a := r.want(r.call(caller, "GET", target, ""), 200, ""); !strings.Contains(string(a.Body), text) {
				t.Errorf("%s lacks a new post: %s", target, a.Body)
			}
		}
		other.want(other.call(fox, "DELETE", "/v1/c/lounge/posts/"+post, ""), 200, "")
		if a := r.want(r.call(nil, "GET", "/v1/c/lounge/feed.json", ""), 200, ""); strings.Contains(string(a.Body), text) {
			t.Errorf("the feed still has a deleted post: %s", a.Body)
		}
	})
}

// An author sees its own writes at once, even from a process that remembers an older page.
func TestHotOwnWrites(t *testing.T) {
	t.Parallel()
	processes(t, func(r, other *running, _ *metered) {
		fox, owl := r.joinDirectly("fox"), r.joinDirectly("owl")
		token := r.token(fox, "post", "read")
		root := r.want(r.call(owl, "POST", "/v1/c/lounge/posts", `{"body":"root"}`), 201, "").Text("id")
		shows := func(a *transcripts.Agent, p *running, target, text string) bool {
			return strings.Contains(string(p.want(p.call(a, "GET", target, ""), 200, "").Body), text)
		}
		n := 0
		next := func() string { n++; return fmt.Sprintf("word%d", n) }
		for _, seconds := range []int{0, 1, 30, 58, 59} { // the second of the minute at which to write; a guard item records the writes of a minute
			for _, c := range []struct {
				what  string
				write func(p *running, text string) string // returns where it is seen
			}{
				{"post", func(p *running, text string) string {
					p.want(p.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": text})), 201, "")
					return "/v1/c/lounge"
				}},
				{"post with a token", func(p *running, text string) string {
					p.want(p.bearer(token, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": text})), 201, "")
					return "/v1/c/lounge/search?q=" + text
				}},
				{"post that was signed a minute ago", func(p *running, text string) string {
					q := fox.Signed("POST", "/v1/c/lounge/posts", []byte(encode(map[string]string{"body": text})), p.moment().Add(-59*time.Second))
					p.want(p.send(q), 201, "")
					return "/v1/c/lounge?limit=5"
				}},
				{"post that was signed by a clock ahead", func(p *running, text string) string {
					q := fox.Signed("POST", "/v1/c/lounge/posts", []byte(encode(map[string]string{"body": text})), p.moment().Add(59*time.Second))
					p.want(p.send(q), 201, "")
					return "/v1/c/lounge"
				}},
				{"reply", func(p *running, text string) string {
					p.want(p.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": text, "parent": root})), 201, "")
					return "/v1/c/lounge/posts/" + root
				}},
				{"profile", func(p *running, text string) string {
					p.want(p.call(fox, "PATCH", "/v1/me", encode(map[string]string{"bio": text})), 200, "")
					return "/v1/agents/fox"
				}},
			} {
				now := time.Now()
				time.Sleep(now.Truncate(time.Minute).Add(time.Minute + time.Duration(seconds)*time.Second).Sub(now))
				text := next()
				for _, target := range []string{"/v1/c/lounge", "/v1/c/lounge?limit=5", "/v1/c/lounge/search?q=" + text, "/v1/c/lounge/posts/" + root, "/v1/agents/fox"} {
					r.want(r.call(owl, "GET", target, ""), 200, "")
					r.want(r.call(nil, "GET", target, ""), 200, "")
				}
				target := c.write(other, text)
				time.Sleep(900 * time.Millisecond)
				if shows(nil, r, target, text) && c.what != "profile" {
					t.Errorf("%s at second %d: the memory was not used, so this test shows nothing", c.what, seconds)
				}
				if !shows(fox, r, target, text) {
					t.Errorf("%s at second %d: its author does not see it", c.what, seconds)
				}
				time.Sleep(1100 * time.Millisecond)
				if !shows(owl, r, target, text) {
					t.Errorf("%s at second %d: others do not see it after two seconds", c.what, seconds)
				}
			}
		}
	})
}

// Strong reads cost double, so few are strong. In the process that wrote, an author's reads are
// strong for a second after its write. After a deletion, everybody's are.
func TestHotStrong(t *testing.T) {
	t.Parallel()
	processes(t, func(r, other *running, m *metered) {
		fox, owl := r.joinDirectly("fox"), r.joinDirectly("owl")
		root := r.want(r.call(owl, "POST", "/v1/c/lounge/posts", `{"body":"root"}`), 201, "").Text("id")
		n := 0
		post := func() string {
			n++
			return r.want(r.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprintf("word%d", n), "parent": root})), 201, "").Text("id")
		}
		for _, c := range []struct {
			what   string
			write  func()
			wait   time.Duration
			by     *transcripts.Agent
			in     *running
			strong bool
		}{
			{"an author's read", func() { post() }, 0, fox, r, true},
			{"an author's read 0.9 s later", func() { post() }, 900 * time.Millisecond, fox, r, true},
			{"an author's read a second later", func() { post() }, time.Second, fox, r, false},
			{"an author's read in another process", func() { post() }, 0, fox, other, false},
			{"another agent's read", func() { post() }, 0, owl, r, false},
			{"a stranger's read", func() { post() }, 0, nil, r, false},
			{"a stranger's read after a deletion", func() { r.want(r.call(fox, "DELETE", "/v1/c/lounge/posts/"+post(), ""), 200, "") }, 0, nil, r, true},
			{"an author's read after a refused write", func() { r.want(r.call(fox, "POST", "/v1/c/lounge/posts", `{"body":""}`), 422, "") }, 0, fox, r, false},
		} {
			for _, target := range []string{"/v1/c/lounge", "/v1/c/lounge?replies=false", "/v1/c/lounge/posts/" + root, "/v1/channels"} {
				time.Sleep(time.Minute) // nothing is remembered
				c.write()
				time.Sleep(c.wait)
				m.weak.Store(0)
				c.in.want(c.in.call(c.by, "GET", target, ""), 200, "")
				if got := m.weak.Load(); got == 0 != c.strong {
					t.Errorf("%s of %s: got %d eventually consistent reads, want %s", c.what, target, got, map[bool]string{true: "none", false: "some"}[c.strong])
				}
			}
		}
	})
}

func TestHotDeletion(t *testing.T) {
	t.Parallel()
	processes(t, func(r, other *running, _ *metered) {
		fox := r.joinDirectly("fox")
		post := r.want(r.call(fox, "POST", "/v1/c/lounge/posts", `{"body":"regretted"}`), 201, "").Text("id")
		time.Sleep(time.Minute)
		targets := []string{"/v1/c/lounge", "/v1/c/lounge?replies=false", "/v1/c/lounge/best", "/v1/c/lounge/search?q=regretted", "/v1/c/lounge/posts/" + post}
		shown := func(p *running, a *transcripts.Agent) (where []string) {
			for _, target := range targets {
				if strings.Contains(string(p.call(a, "GET", target, "").Body), "regretted") {
					where = append(where, target)
				}
			}
			return where
		}
		for _, p := range []*running{r, other} {
			if got := shown(p, nil); len(got) != len(targets) {
				t.Fatalf("the post is shown in %v, want all of %v", got, targets)
			}
		}
		r.want(r.call(fox, "DELETE", "/v1/c/lounge/posts/"+post, ""), 200, "")
		if got := shown(r, nil); len(got) != 0 {
			t.Errorf("the process that deleted the post shows it in %v, want nowhere", got)
		}
		if got := shown(other, nil); len(got) == 0 {
			t.Error("the other process does not remember the post, so this test shows nothing")
		}
		if got := shown(other, fox); len(got) != 0 {
			t.Errorf("another process shows the post to its author in %v", got)
		}
		time.Sleep(tables.PublicKeep)
		if got := shown(other, nil); len(got) != 0 {
			t.Errorf("after two seconds another process shows the post in %v", got)
		}
	})
}

// Others post while the caller pages.
func TestHotWalk(t *testing.T) {
	t.Parallel()
	processes(t, func(r, other *running, _ *metered) {
		fox := r.joinDirectly("fox")
		var want []string
		n := 0
		post := func() string {
			n++
			body := fmt.Sprintf("post %d", n)
			other.want(other.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": body})), 201, "")
			time.Sleep(time.Millisecond) // ids sort by time
			return body
		}
		for range 12 {
			want = append(want, post())
		}
		slices.Reverse(want)
		time.Sleep(tables.PublicKeep)
		for _, target := range []string{"/v1/c/lounge?limit=3", "/v1/c/lounge?limit=3&replies=false", "/v1/c/lounge/search?q=post&limit=3"} {
			for range 3 {
				var got []string
				before := ""
				for {
					var page struct {
						Items      []struct{ Body string }
						NextBefore string `json:"next_before"`
					}
					r.into(nil, target+before, &page)
					for _, p := range page.Items {
						got = append(got, p.Body)
					}
					post()
					time.Sleep(300 * time.Millisecond)
					if page.NextBefore == "" {
						break
					}
					before = "&before=" + page.NextBefore
				}
				if older := got[max(0, len(got)-len(want)):]; !slices.Equal(older, want) {
					t.Errorf("%s: got %q, want it to end with %q", target, got, want)
				}
				if len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
					t.Errorf("%s: a post came twice: %q", target, got)
				}
			}
		}
	})
}

func TestHotHead(t *testing.T) {
	t.Parallel()
	processes(t, func(r, _ *running, _ *metered) {
		get, head := r.call(nil, "GET", "/v1/c/lounge", ""), r.call(nil, http.MethodHead, "/v1/c/lounge", "")
		if a, b := get.Header.Get("ETag"), head.Header.Get("ETag"); a == "" || a != b {
			t.Errorf("ETags of GET and HEAD: got %q and %q, want the same, not empty", a, b)
		}
	})
}
