package service_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// suggests posts an idea unlike all others and returns its ID.
func (r *running) suggests(a *transcripts.Agent) string {
	r.t.Helper()
	ans := r.want(r.call(a, "POST", "/v1/ideas", encode(map[string]any{"title": "What " + a.Name + " wants", "body": "It is its own.", "force": true})), 201, "")
	return ans.Text("id")
}

func (r *running) operator(a *transcripts.Agent) *transcripts.Agent {
	r.t.Helper()
	r.put(tables.Operate(a.ID, true))
	return a
}

// An agent may post one idea a week.
func TestRaceOfIdeas(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() {
			a := r.join(fmt.Sprintf("a%03d", i))
			suggest := func(title string) *transcripts.Request {
				return r.request(a, "POST", "/v1/ideas", encode(map[string]any{"title": title, "body": "Why not.", "force": true}))
			}
			answers, _ := r.together(suggest("one"), suggest("two"), suggest("three"))
			r.decided(i, answers, outcomes{"201": 1, "429 too_soon": 2})
		}
	})
}

// thinIdeas is a table whose pages hold two ideas, as if these had many bytes.
type thinIdeas struct{ tables.Backend }

func (b thinIdeas) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	q.Limit = min(q.Limit, 2)
	return b.Backend.Query(ctx, q)
}

func TestIdeas_Pages(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		r.App.Table = thinIdeas{r.App.Table}
		want := []string{}
		for i := range 6 {
			want = append(want, r.suggests(r.joinDirectly(fmt.Sprint("fox", i))))
			time.Sleep(time.Second)
		}
		slices.Reverse(want)
		for _, sort := range []string{"new", "top"} {
			for limit := 1; limit <= 7; limit++ {
				got, pages := r.walk("/v1/ideas?sort="+sort, limit)
				if !slices.Equal(got, want) || pages != (6+limit-1)/limit {
					t.Errorf("%s, pages of %d: got %v on %d pages, want %v on %d", sort, limit, got, pages, want, (6+limit-1)/limit)
				}
			}
		}
	})
}

// If another change of an idea's status is committed first, the overtaken change is made
// after it.
func TestIdeaStatusOvertaken(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		boss, chief := r.operator(r.join("boss")), r.operator(r.join("chief"))
		original := r.suggests(r.join("fox"))
		for i, status := range []map[string]string{{"status": "planned"}, {"status": "duplicate", "duplicate_of": original}} {
			idea := r.suggests(r.join(fmt.Sprint("owl", i)))
			path := "/v1/ideas/" + idea + "/status"
			m.once(func(tx tables.Tx) bool {
				return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tables.IdeaKey(idea) })
			}, func() { r.want(r.call(chief, "POST", path, `{"status":"done","note":"Look."}`), 200, "") })
			r.has(r.want(r.call(boss, "POST", path, encode(status)), 200, ""), "status", status["status"], "note", "")
			if !m.done() {
				t.Errorf("%s: the overtaken change tried no commit, want one", status)
			}
		}
	})
}

func TestRaceOfSupport(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		idea := r.suggests(fox)
		for i := range r.rounds() {
			say := func(on bool) *transcripts.Request {
				return r.request(owl, "POST", "/v1/ideas/"+idea+"/support", encode(map[string]bool{"on": on}))
			}
			if _, n := r.together(say(true), say(i%2 == 0), say(true)); n[200] != 3 {
				t.Fatalf("round %d: got outcomes %v, want 3 × 200", i, n)
			}
			if i%20 == 0 {
				r.agrees(t, idea)
			}
		}
		r.agrees(t, idea)
	})
}

// agrees drains the stream and checks that an idea's count matches its supporters.
func (r *running) agrees(t *testing.T, idea string) (support int64) {
	t.Helper()
	r.drain()
	for _, item := range r.query("Y#"+idea, "SUPPORT#", "SUPPORT#~") {
		if item.Bool("on") {
			support++
		}
		if item.Str(tables.AttrType) != tables.TypeSupportCounted {
			t.Fatalf("%v is not counted yet", item.Key())
		}
	}
	item := r.item(tables.IdeaCountersKey(idea))
	if item.Int("support") != support || item.Str("rank_sk") != tables.IdeaSK(support, idea) {
		t.Fatalf("counters of the idea: got %v, want support %d and its rank", item, support)
	}
	return support
}

// If two operators mark two ideas as duplicates of each other at once, one succeeds.
func TestRaceOfDuplicates(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		boss, chief := r.operator(r.join("boss")), r.operator(r.join("chief"))
		one, other := r.suggests(r.join("fox")), r.suggests(r.join("owl"))
		set := func(by *transcripts.Agent, idea string, status map[string]string) *transcripts.Request {
			return r.request(by, "POST", "/v1/ideas/"+idea+"/status", encode(status))
		}
		for i := range r.rounds() {
			_, n := r.together(
				set(boss, one, map[string]string{"status": "duplicate", "duplicate_of": other}),
				set(chief, other, map[string]string{"status": "duplicate", "duplicate_of": one}))
			if n[200] != 1 || n[422] != 1 {
				t.Fatalf("round %d: got outcomes %v, want 1 × 200 and 1 × 422", i, n)
			}
			a, b := r.call(nil, "GET", "/v1/ideas/"+one, ""), r.call(nil, "GET", "/v1/ideas/"+other, "")
			if b.Text("status") == "duplicate" {
				a, b = b, a
			}
			if a.Text("duplicate_of") != b.Text("id") || b.Text("duplicates.0") != a.Text("id") || b.Text("status") != "open" {
				t.Fatalf("round %d: got %s %s, want the first to be a duplicate of the second, and the second open", i, a.Body, b.Body)
			}
			if _, n := r.together(set(boss, a.Text("id"), map[string]string{"status": "open"})); n[200] != 1 {
				t.Fatalf("round %d: reopening the duplicate: got outcomes %v, want 1 × 200", i, n)
			}
		}
	})
}

// The deadlines schedule seals the index of ideas even if no more ideas are posted.
func TestScheduleSealsIdeas(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	const n = 16 // the smallest segment
	for i := range n {
		r.suggests(r.join(fmt.Sprintf("a%02d", i)))
	}
	r.drain()
	sealed := func() (posts int) {
		t.Helper()
		heads, err := index.OfIdeas(r.App).Heads(t.Context(), search.Newest, 100, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			posts += h.Posts
		}
		return posts
	}
	if got := sealed(); got != 0 {
		t.Fatalf("ideas sealed before they are due: got %d, want 0", got)
	}
	if err := index.OfIdeas(r.App).TendBy(t.Context(), r.App.Now()); err != nil { // due now
		t.Fatal(err)
	}
	r.advance(10 * time.Minute)
	r.tick()
	if got := sealed(); got != n {
		t.Errorf("ideas sealed by the schedule: got %d, want %d", got, n)
	}
}

// After a storm of changes on a faulty table and stream, every count matches the support,
// and every author got each event once.
func TestStormOfIdeas(t *testing.T) {
	t.Parallel()
	agents, each := 40, 60
	if testing.Short() {
		agents, each = 14, 20
	}
	r := run(t, service.Config{
		Settings:     generous(),
		StreamFaults: service.StreamFaults{Seed: 5, Redeliver: .3, Shuffle: .5, Split: .5, Crash: .3},
	})
	s := &storm{running: r}
	var ideas []string
	author := map[string]*transcripts.Agent{}
	for i := range agents {
		a := r.join(fmt.Sprintf("a%02d", i))
		s.agents = append(s.agents, a)
		if i < 5 {
			ideas = append(ideas, r.suggests(a))
			author[ideas[i]] = a
		}
	}
	boss := r.operator(r.join("boss"))
	r.embedded().SetFaults(embedded.Random(8, embedded.Probabilities{
		Conflict: .03, Throttled: .01, LostRequest: .01, LostAnswer: .03, Stale: .3,
	}))
	var work sync.WaitGroup
	for i, a := range s.agents {
		work.Go(func() {
			rng := rand.New(rand.NewPCG(9, uint64(i)))
			for range each {
				idea := ideas[rng.IntN(len(ideas))]
				ans := s.insist(a, "POST", "/v1/ideas/"+idea+"/support", encode(map[string]bool{"on": rng.IntN(4) > 0}))
				if code := ans.Text("error.code"); ans.Status != 200 && code != "self_refused" {
					t.Errorf("support: got %d %s, want 200 or self_refused", ans.Status, ans.Body)
				}
			}
		})
	}
	statuses := map[string]int{} // changes, by author
	work.Go(func() {
		rng := rand.New(rand.NewPCG(9, 1000))
		for i := range 60 {
			idea, status := ideas[rng.IntN(len(ideas))], []string{"open", "planned", "done", "declined"}[rng.IntN(4)]
			note := fmt.Sprint(i)
			if ans := s.insist(boss, "POST", "/v1/ideas/"+idea+"/status", encode(map[string]string{"status": status, "note": note})); ans.Status != 200 {
				t.Errorf("change of status: got %d %s, want 200", ans.Status, ans.Body)
			}
			statuses[author[idea].ID]++
		}
	})
	work.Wait()
	r.embedded().SetFaults(nil)
	var total int64
	for _, idea := range ideas {
		n := r.agrees(t, idea)
		total += n
		var told []int64
		heard := 0
		for _, item := range r.events(author[idea].ID) {
			switch item.Str("kind") {
			case "idea_supported":
				told = append(told, tables.Item(item["subject"].(tables.Map)).Int("support"))
			case "idea_status":
				heard++
			}
		}
		slices.Sort(told)
		if len(told) == 0 || !slices.Equal(told, []int64{1, 10}[:len(told)]) || n >= 10 && len(told) < 2 {
			t.Errorf("%s with support %d: its author got events at %v, want one at 1, and one at 10 if the support reached it", idea, n, told)
		}
		if heard != statuses[author[idea].ID] {
			t.Errorf("status events to the author of %s: got %d, want %d", idea, heard, statuses[author[idea].ID])
		}
	}
	list := r.call(nil, "GET", "/v1/ideas?status=all", "")
	var order, sum int64 = 1 << 40, 0
	for i := range ideas {
		var n int64
		if _, err := fmt.Sscan(list.Text(fmt.Sprintf("items.%d.support", i)), &n); err != nil {
			t.Fatal(err)
		}
		if n > order {
			t.Errorf("ideas: got %s, want them sorted by support", list.Body)
		}
		order, sum = n, sum+n
	}
	if sum != total {
		t.Errorf("support in the list: got %d, want %d", sum, total)
	}
	r.noDeadLetters()
	t.Logf("%d requests, %d of them sent again, support %d", s.writes, s.again, total)
}
