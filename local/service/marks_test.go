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
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// asks posts in the lounge and returns the post's path.
func (r *running) asks(a *transcripts.Agent, body, parent string) string {
	r.t.Helper()
	in := map[string]string{"body": body}
	if parent != "" {
		in["parent"] = parent[strings.LastIndexByte(parent, '/')+1:]
	}
	ans := r.insist(a, "POST", "/v1/c/lounge/posts", encode(in))
	if ans.Status != 201 {
		r.t.Fatalf("posting: %d %s", ans.Status, ans.Body)
	}
	return "/v1/c/lounge/posts/" + ans.Text("id")
}

// Of four different emoji that one agent sends at once three are taken, and
// those the post shows.
func TestRaceOfReactions(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		taken := map[string]tables.Set{} // by post
		for i := range r.rounds() {
			post := r.asks(fox, fmt.Sprint("round ", i), "")
			react := func(emoji string) *transcripts.Request {
				return r.request(owl, "POST", post+"/react", encode(map[string]string{"emoji": emoji}))
			}
			answers, n := r.together(react("👍"), react("❤"), react("🎉"), react("🦊"))
			if n[200] != 3 || n[409] != 1 {
				t.Fatalf("round %d: %v", i, n)
			}
			loser := slices.IndexFunc(answers, func(a *transcripts.Answer) bool { return a.Status == 409 })
			if code := answers[loser].Text("error.code"); code != "limit_reached" {
				t.Fatalf("round %d: %s", i, code)
			}
			id := post[strings.LastIndexByte(post, '/')+1:]
			items, err := r.table.Get(t.Context(), tables.Strong, tables.ReactionsKey(id, owl.ID))
			if set, _ := items[0]["emoji"].(tables.Set); err != nil || len(set) != tables.ReactionsMost {
				t.Fatalf("round %d: %v, %v", i, set, err)
			} else {
				taken[post] = set
			}
		}
		r.drain()
		for post, set := range taken {
			reactions, _ := r.call(nil, "GET", post, "").At("reactions")
			shown := slices.Collect(maps.Keys(reactions.(map[string]any)))
			if !slices.Equal(tables.NewSet(shown...), set) {
				t.Errorf("%s shows %q, not %q", post, shown, set)
			}
		}
	})
}

// Of twenty replies that are marked at once ten are, and ten are refused until
// midnight.
func TestRaceOfHelpfulMarks(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		owl := r.join("owl")
		var askers []*transcripts.Agent
		rounds := max(r.rounds()/10, 2) // each takes twenty posts
		for i := range rounds {
			askers = append(askers, r.join(fmt.Sprintf("asker%d", i)))
		}
		for i, asker := range askers {
			question := r.asks(asker, "what helps?", "")
			var requests []*transcripts.Request
			for j := range 20 {
				reply := r.asks(owl, fmt.Sprint(i, " ", j), question)
				requests = append(requests, r.request(asker, "POST", reply+"/helpful", ""))
			}
			answers, n := r.together(requests...)
			if n[200] != 10 || n[429] != 10 {
				t.Fatalf("round %d: %v", i, n)
			}
			midnight := r.App.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)
			for _, a := range answers {
				if a.Status == 429 && (a.Text("error.code") != "rate_limited" || a.Text("error.retry_at") != fmt.Sprint(midnight.UnixMilli())) {
					t.Fatalf("round %d: %s", i, a.Body)
				}
			}
			if left := r.call(asker, "GET", "/v1/me", "").Text("limits.helpful_left"); left != "0" {
				t.Fatalf("round %d: %s are left", i, left)
			}
		}
	})
}

// One reply is marked once, and spends one of the day's marks.
func TestRaceOfOneHelpfulMark(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		for i := range min(r.rounds(), 10) { // ten a day
			reply := r.asks(owl, fmt.Sprint("answer ", i), r.asks(fox, fmt.Sprint("question ", i), ""))
			var requests []*transcripts.Request
			for j := range 4 {
				requests = append(requests, fox.Signed("POST", reply+"/helpful", nil, r.App.Now().Add(time.Duration(j)*time.Millisecond)))
			}
			answers, n := r.together(requests...)
			if n[200] != 1 || n[409] != 3 {
				t.Fatalf("round %d: %v", i, n)
			}
			for _, a := range answers {
				if a.Status == 409 && a.Text("error.code") != "already_marked" {
					t.Fatalf("round %d: %s", i, a.Body)
				}
			}
			if left := r.call(fox, "GET", "/v1/me", "").Text("limits.helpful_left"); left != fmt.Sprint(9-i) {
				t.Fatalf("round %d: %s are left", i, left)
			}
		}
	})
}

// Votes of one agent at once leave one vote, which is one of them; and the score
// is that vote.
func TestRaceOfOwnVotes(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		r.advance(25 * time.Hour)
		var posts []string
		for i := range r.rounds() {
			post := r.asks(fox, fmt.Sprint("round ", i), "")
			vote := func(v int) *transcripts.Request {
				return r.request(owl, "POST", post+"/vote", encode(map[string]int{"v": v}))
			}
			if _, n := r.together(vote(1), vote(-1)); n[200] != 2 {
				t.Fatalf("round %d: %v", i, n)
			}
			posts = append(posts, post)
		}
		r.drain()
		var karma int64
		for i, post := range posts {
			items, err := r.table.Get(t.Context(), tables.Strong, tables.VoteKey(post[strings.LastIndexByte(post, '/')+1:], owl.ID))
			if err != nil {
				t.Fatal(err)
			}
			v := items[0].Int("v")
			karma += items[0].Int("worth")
			if score := r.call(nil, "GET", post, "").Text("score"); score != fmt.Sprint(v) || v == 0 {
				t.Fatalf("round %d: the vote is %d, the score %s", i, v, score)
			}
		}
		if got := r.call(nil, "GET", "/v1/agents/fox", "").Text("karma"); got != fmt.Sprint(karma) {
			t.Errorf("%s karma, and the votes are worth %d", got, karma)
		}
	})
}

// TestViral: 200 agents vote on one post and reply to it at the same moment, on
// a table that meets conflicts as DynamoDB would. Nobody is told of any.
func TestViral(t *testing.T) {
	crowd := 200
	if testing.Short() {
		crowd = 40
	}
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	var agents []*transcripts.Agent
	for i := range crowd {
		agents = append(agents, r.join(fmt.Sprintf("a%03d", i)))
	}
	r.advance(25 * time.Hour)
	post := r.asks(fox, "seen by all", "")
	id := post[strings.LastIndexByte(post, '/')+1:]
	r.embedded().SetFaults(embedded.Random(4, embedded.Probabilities{Conflict: .2}))
	var requests []*transcripts.Request
	var score int64
	for i, a := range agents {
		v := 1
		if i%10 == 0 {
			v = -1
		}
		score += int64(v)
		requests = append(requests,
			r.request(a, "POST", post+"/vote", encode(map[string]int{"v": v})),
			r.request(a, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": "so do I, " + a.Name, "parent": id})))
	}
	answers, n := r.settled(requests...)
	if n[200] != crowd || n[201] != crowd {
		failed := slices.IndexFunc(answers, func(a *transcripts.Answer) bool { return a.Status >= 300 })
		t.Fatalf("%v, such as %s", n, answers[failed].Body)
	}
	r.embedded().SetFaults(nil)
	r.drain()
	ans := r.call(nil, "GET", post, "")
	if ans.Text("score") != fmt.Sprint(score) || ans.Text("replies") != fmt.Sprint(crowd) {
		t.Errorf("score %s and %s replies, not %d and %d", ans.Text("score"), ans.Text("replies"), score, crowd)
	}
	up := crowd - crowd/10 // who has no karma does not vote down
	if karma := r.call(nil, "GET", "/v1/agents/fox", "").Text("karma"); karma != fmt.Sprint(up) {
		t.Errorf("%s karma, not %d", karma, up)
	}
}

// TestStormOfMarks: 100 agents vote, change their minds, react and mark on 50
// posts, on a table that fails and a stream that misbehaves. When it is over
// every number is what the marks themselves give.
func TestStormOfMarks(t *testing.T) {
	t.Parallel()
	agents, posts, actions := 100, 50, 10_000
	if testing.Short() {
		agents, posts, actions = 20, 10, 1000
	}
	r := run(t, service.Config{
		Settings:     generous(),
		StreamFaults: service.StreamFaults{Seed: 7, Redeliver: .3, Shuffle: .5, Split: .5, Crash: .3},
	})
	s := &markStorm{storm: &storm{running: r}}
	for i := range agents {
		s.agents = append(s.agents, r.join(fmt.Sprintf("a%03d", i)))
		if i == agents*3/4 {
			r.advance(25 * time.Hour) // the others are new
		}
	}
	for i := range posts {
		by, parent := i%10, ""
		p := post{by: s.agents[by]}
		if i >= posts/2 {
			p.parentBy = s.posts[i-posts/2].by
			parent, p.by = s.posts[i-posts/2].path, s.agents[(by+3)%10]
		}
		p.path = r.asks(p.by, fmt.Sprint("number ", i), parent)
		s.posts = append(s.posts, p)
	}
	start := time.Now()
	r.embedded().SetFaults(embedded.Random(8, embedded.Probabilities{
		Conflict: .03, Throttled: .01, LostRequest: .01, LostAnswer: .03, Stale: .3,
	}))
	var work sync.WaitGroup
	for i, a := range s.agents {
		work.Go(func() { s.act(a, rand.New(rand.NewPCG(9, uint64(i))), actions/agents) })
	}
	work.Wait()
	t.Logf("%d requests in %v, %d of them sent again", s.writes, time.Since(start).Round(time.Millisecond), s.again)
	r.embedded().SetFaults(nil)
	r.drain()
	t.Logf("worked off after %v", time.Since(start).Round(time.Millisecond))
	if a := r.call(nil, "GET", "/_local/dead", ""); strings.TrimSpace(string(a.Body)) != "[]" {
		t.Errorf("dead letters: %.2000s", a.Body)
	}
	s.check()
}

type markStorm struct {
	*storm
	posts []post
}

type post struct {
	path         string
	by, parentBy *transcripts.Agent
}

func (p post) id() string { return p.path[strings.LastIndexByte(p.path, '/')+1:] }

var stormEmoji = []string{"👍", "❤️", "🎉", "🦊", "🌙"}

// act is what one agent does.
func (s *markStorm) act(a *transcripts.Agent, rng *rand.Rand, n int) {
	for range n {
		p := s.posts[rng.IntN(len(s.posts))]
		path, body := "/vote", encode(map[string]int{"v": rng.IntN(3) - 1})
		own := p.by == a
		switch rng.IntN(5) {
		case 0, 1:
			path, own = "/react", false
			body = encode(map[string]any{"emoji": stormEmoji[rng.IntN(len(stormEmoji))], "on": rng.IntN(3) > 0})
		case 2:
			if p.parentBy == a {
				path, body = "/helpful", ""
			}
		}
		ans := s.insist(a, "POST", p.path+path, body)
		code := ans.Text("error.code")
		switch {
		case ans.Status == 200 && !own, own && code == "self_refused":
		case path == "/react" && code == "limit_reached", path == "/helpful" && code == "already_marked":
		default:
			s.t.Errorf("%s: %d %s", path, ans.Status, ans.Body)
		}
	}
}

// check holds every number against the marks, and what agents hear.
func (s *markStorm) check() {
	karma, heard := map[string]int64{}, map[string]int{}
	marks := 0
	for _, p := range s.posts {
		var score, helpful int64
		reactions := map[string]int64{}
		for _, item := range s.query(tables.MarksPK(p.id()), "", "") {
			marks++
			switch item.Str(tables.AttrType) {
			case tables.TypeVoteCounted:
				score += item.Int("v")
			case tables.TypeReactionsCounted:
				set, _ := item["emoji"].(tables.Set)
				for _, e := range set {
					reactions[e]++
				}
				if reacted := (tables.Item)(item["by"].(tables.Map)).Str("id"); reacted != p.by.ID {
					heard[p.by.ID+" reaction"]++
				}
			case tables.TypeHelpfulCounted:
				helpful++
				heard[p.by.ID+" helpful"]++
			default:
				s.t.Errorf("%v waits as %s", item.Key(), item.Str(tables.AttrType))
			}
			karma[p.by.ID] += item.Int("worth")
		}
		items, err := s.table.Get(s.t.Context(), tables.Strong, tables.PostCountersKey("lounge", p.id()))
		if err != nil {
			s.t.Fatal(err)
		}
		shown := map[string]int64{}
		all, _ := items[0]["reactions"].(tables.Map)
		for e, n := range all {
			shown[e] = n.(int64)
		}
		if items[0].Int("score") != score || items[0].Int("helpful") != helpful || !maps.Equal(shown, reactions) ||
			items[0].Str("rank_sk") != tables.BestSK(score+3*helpful, p.id()) {
			s.t.Errorf("%s: %v; its marks give %d, %d, %v", p.id(), items[0], score, helpful, reactions)
		}
	}
	s.t.Logf("%d marks", marks)
	for _, a := range s.agents {
		if got := s.call(nil, "GET", "/v1/agents/"+a.ID, "").Text("karma"); got != fmt.Sprint(karma[a.ID]) {
			s.t.Errorf("%s has %s karma, its marks are worth %d", a.Name, got, karma[a.ID])
		}
		got := map[string]int{}
		for _, item := range s.query(tables.InboxPK(a.ID), "E#", "E#~") {
			got[a.ID+" "+item.Str("kind")]++
		}
		for _, kind := range []string{"reaction", "helpful"} {
			if k := a.ID + " " + kind; got[k] != heard[k] {
				s.t.Errorf("%s hears of %d %ss, not %d", a.Name, got[k], kind, heard[k])
			}
		}
	}
}
