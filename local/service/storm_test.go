package service_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// Many agents post, reply, mention and delete at once, on a faulty table and stream.
func TestStorm(t *testing.T) {
	t.Parallel()
	agents, each := 50, 40
	if testing.Short() {
		agents, each = 12, 25
	}
	r := run(t, service.Config{
		Settings:     generous(),
		StreamFaults: service.StreamFaults{Seed: 1, Redeliver: .3, Shuffle: .5, Split: .5, Crash: .3},
	})
	s := &storm{running: r, inbox: map[string]map[string]string{}, deleted: map[string]bool{}}
	for i := range agents {
		a := r.join(fmt.Sprintf("a%02d", i))
		s.agents = append(s.agents, a)
		s.inbox[a.ID] = map[string]string{a.ID: "welcome"}
	}
	start := time.Now()
	r.embedded().SetFaults(embedded.Random(2, embedded.Probabilities{
		Conflict: .05, Throttled: .02, LostRequest: .03, LostAnswer: .05, Stale: .3,
	}))
	atOnce(agents, func(i int) { s.talk(s.agents[i], rand.New(rand.NewPCG(3, uint64(i))), each) })
	t.Logf("%d writes in %v, %d of them sent again", s.writes, time.Since(start).Round(time.Millisecond), s.again)
	r.embedded().SetFaults(nil)
	r.drain()
	t.Logf("drained after %v", time.Since(start).Round(time.Millisecond))
	r.noDeadLetters()
	s.checkInboxes()
	s.checkNumbers(agents * each)
}

var stormChannels = []string{"lounge", "golang", "dreams"}

type storm struct {
	*running
	agents []*transcripts.Agent

	mu            sync.Mutex
	posts         []posted
	inbox         map[string]map[string]string // agent → source → kind of the event
	deleted       map[string]bool
	writes, again int
}

type posted struct{ id, channel, author string }

func (s *storm) talk(a *transcripts.Agent, rng *rand.Rand, n int) {
	for i := range n {
		channel := stormChannels[rng.IntN(len(stormChannels))]
		var parent posted
		s.mu.Lock()
		if len(s.posts) > 0 && rng.IntN(3) > 0 {
			// Often a recent post, so that it gets replies while it is being counted.
			parent = s.posts[len(s.posts)-1-rng.IntN(min(len(s.posts), 40))]
			channel = parent.channel
		}
		s.mu.Unlock()
		body := fmt.Sprintf("%s says %d", a.Name, i)
		var named []*transcripts.Agent
		for range rng.IntN(4) {
			m := s.agents[rng.IntN(len(s.agents))]
			named = append(named, m)
			body += ", @" + m.Name
		}
		if rng.IntN(10) == 0 {
			body += " and @nobody-here, @" + strings.ToUpper(a.Name)
		}
		in := map[string]string{"body": body}
		if parent.id != "" {
			in["parent"] = parent.id
		}
		ans := s.insist(a, "POST", "/v1/c/"+channel+"/posts", encode(in))
		if ans.Status == 410 { // the parent was deleted: post without it
			delete(in, "parent")
			parent = posted{}
			ans = s.insist(a, "POST", "/v1/c/"+channel+"/posts", encode(in))
		}
		if ans.Status != 201 {
			s.t.Errorf("posting: got %d %s, want 201", ans.Status, ans.Body)
			return
		}
		p := posted{ans.Text("id"), channel, a.ID}
		s.mu.Lock()
		s.posts = append(s.posts, p)
		if parent.id != "" && parent.author != a.ID {
			s.inbox[parent.author][p.id] = "reply"
		}
		for _, m := range named {
			if m.ID != a.ID && s.inbox[m.ID][p.id] == "" {
				s.inbox[m.ID][p.id] = "mention"
			}
		}
		s.mu.Unlock()
		if rng.IntN(12) == 0 {
			if ans := s.insist(a, "DELETE", "/v1/c/"+channel+"/posts/"+p.id, ""); ans.Status != 200 {
				s.t.Errorf("deleting: got %d %s, want 200", ans.Status, ans.Body)
			}
			s.mu.Lock()
			s.deleted[p.id] = true
			s.mu.Unlock()
		}
	}
}

const insistFor = 3 * time.Minute

// insist sends the same request until it is decided, like a client that lost the answer. It signs
// with the latest time that the service accepts: a busy machine may need more than a minute.
func (s *storm) insist(a *transcripts.Agent, method, target, body string) *transcripts.Answer {
	q := a.Signed(method, target, []byte(body), s.moment().Add(auth.Skew-5*time.Second))
	start := time.Now()
	for try := 0; ; try++ {
		ans := s.send(q)
		s.mu.Lock()
		s.writes++
		s.again += min(try, 1)
		s.mu.Unlock()
		if ans.Status != 503 && ans.Text("error.code") != "busy" || time.Since(start) > insistFor {
			return ans
		}
		time.Sleep(time.Duration(min(try, 20)) * 5 * time.Millisecond)
	}
}

func (s *storm) checkInboxes() {
	for _, a := range s.agents {
		want := maps.Clone(s.inbox[a.ID])
		var seq, at int64
		for more := true; more; {
			ans := s.call(a, "GET", fmt.Sprintf("/v1/me/inbox?after=%d&limit=37", seq), "")
			if ans.Status != 200 {
				s.t.Fatalf("inbox: got %d %s, want 200", ans.Status, ans.Body)
			}
			items, _ := ans.At("items")
			for i := range items.([]any) {
				item := fmt.Sprintf("items.%d.", i)
				seq++
				if got := ans.Text(item + "seq"); got != fmt.Sprint(seq) {
					s.t.Fatalf("%s: seq: got %s, want %d", a.Name, got, seq)
				}
				var now int64
				_, _ = fmt.Sscan(ans.Text(item+"at"), &now)
				if now < at {
					s.t.Errorf("%s: event %d is older than the one before it", a.Name, seq)
				}
				at = now
				source, kind := ans.Text(item+"subject.post"), ans.Text(item+"kind")
				if kind == "welcome" {
					source = ans.Text(item + "subject.agent")
				}
				if want[source] != kind {
					s.t.Errorf("%s: event of %s: got %q, want %q once", a.Name, source, kind, want[source])
				}
				delete(want, source)
			}
			more = ans.Text("more") == "true"
		}
		if len(want) > 0 {
			s.t.Errorf("%s: %d missing events: %v", a.Name, len(want), want)
		}
		if got := s.call(a, "GET", "/v1/me", "").Text("inbox_seq"); got != fmt.Sprint(seq) {
			s.t.Errorf("%s: inbox_seq: got %s, want %d", a.Name, got, seq)
		}
	}
}

// checkNumbers compares all counters with the posts in the table.
func (s *storm) checkNumbers(most int) {
	ofAgent, ofChannel, ofPost := map[string]int64{}, map[string]int64{}, map[string]int64{}
	var all []string
	for _, ch := range stormChannels {
		for _, item := range s.query(tables.ChannelPK(ch), tables.PostPrefix, tables.PostPrefix+"~") {
			if item.Str(tables.AttrType) != tables.TypePost {
				continue
			}
			var p tables.Post
			if err := tables.Unmarshal(item, &p); err != nil {
				s.t.Fatal(err)
			}
			all = append(all, p.ID)
			if p.Deleted != s.deleted[p.ID] {
				s.t.Errorf("%s: deleted: got %v, want %v", p.ID, p.Deleted, s.deleted[p.ID])
			}
			if p.Deleted && (p.Body != "" || item["author_pk"] != nil) {
				s.t.Errorf("%s is deleted but has a body or is listed by author", p.ID)
			}
			if !p.Deleted {
				ofAgent[p.Author.ID]++
				ofChannel[ch]++
				ofPost[p.Parent]++
			}
		}
	}
	var want []string
	for _, p := range s.posts {
		want = append(want, p.id)
	}
	slices.Sort(want)
	slices.Sort(all)
	if !slices.Equal(all, want) || len(want) != most {
		s.t.Errorf("posts in the table and accepted: got %d and %d, want %d each: got %q, want %q", len(all), len(want), most, all, want)
	}
	number := func(k tables.Key, attr string) int64 { return s.item(k).Int(attr) }
	for _, a := range s.agents {
		if got := number(tables.CountersKey(a.ID), "posts"); got != ofAgent[a.ID] {
			s.t.Errorf("posts of %s: got %d, want %d", a.Name, got, ofAgent[a.ID])
		}
	}
	for _, ch := range stormChannels {
		if got := number(tables.ChannelKey(ch), "posts"); got != ofChannel[ch] {
			s.t.Errorf("posts in %s: got %d, want %d", ch, got, ofChannel[ch])
		}
	}
	for _, p := range s.posts {
		if got := number(tables.PostCountersKey(p.channel, p.id), "replies"); got != ofPost[p.id] {
			s.t.Errorf("replies to %s: got %d, want %d", p.id, got, ofPost[p.id])
		}
	}
}
