package service_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
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
		in["parent"] = postID(parent)
	}
	ans := r.want(r.callRetry(a, "POST", "/v1/c/lounge/posts", encode(in)), 201, "")
	return "/v1/c/lounge/posts/" + ans.Text("id")
}

func TestRaceOfReactions(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		taken := map[string]tables.Set{} // by post
		for i := range r.rounds() {
			post := r.asks(fox, fmt.Sprint("round ", i), "")
			react := func(emoji string) *transcripts.Request {
				return r.request(owl, "POST", post+"/react", encode(map[string]string{"emoji": emoji}))
			}
			answers, _ := r.together(react("👍"), react("❤"), react("🎉"), react("🦊"))
			r.decided(i, answers, outcomes{"200": 3, "409 limit_reached": 1})
			id := postID(post)
			items, err := r.table.Get(t.Context(), tables.Strong, tables.ReactionsKey(id, owl.ID, true))
			if set, _ := items[0]["emoji"].(tables.Set); err != nil || len(set) != tables.ReactionsMost {
				t.Fatalf("round %d: reactions: got %v, want %d", i, set, tables.ReactionsMost)
			} else {
				taken[post] = set
			}
		}
		r.drain()
		for post, set := range taken {
			reactions, _ := r.call(nil, "GET", post, "").At("reactions")
			shown := slices.Collect(maps.Keys(reactions.(map[string]any)))
			if !slices.Equal(tables.NewSet(shown...), set) {
				t.Errorf("reactions of %s: got %q, want %q", post, shown, set)
			}
		}
	})
}

func TestRaceOfHelpfulMarks(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
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
				t.Fatalf("round %d: got outcomes %v, want 10 × 200 and 10 × 429", i, n)
			}
			midnight := r.App.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)
			for _, a := range answers {
				if a.Status == 429 && (a.Text("error.code") != "rate_limited" || a.Text("error.retry_at") != fmt.Sprint(midnight.UnixMilli())) {
					t.Fatalf("round %d: got %s, want rate_limited until midnight", i, a.Body)
				}
			}
			if left := r.call(asker, "GET", "/v1/me", "").Text("limits.helpful_left"); left != "0" {
				t.Fatalf("round %d: helpful_left: got %s, want 0", i, left)
			}
		}
	})
}

func TestRaceOfOneHelpfulMark(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		for i := range min(r.rounds(), 10) { // an agent has ten marks a day
			reply := r.asks(owl, fmt.Sprint("answer ", i), r.asks(fox, fmt.Sprint("question ", i), ""))
			var requests []*transcripts.Request
			for j := range 4 {
				requests = append(requests, fox.Signed("POST", reply+"/helpful", nil, r.App.Now().Add(time.Duration(j)*time.Millisecond)))
			}
			answers, _ := r.together(requests...)
			r.decided(i, answers, outcomes{"200": 1, "409 already_marked": 3})
			if left := r.call(fox, "GET", "/v1/me", "").Text("limits.helpful_left"); left != fmt.Sprint(9-i) {
				t.Fatalf("round %d: helpful_left: got %s, want %d", i, left, 9-i)
			}
		}
	})
}

func TestRaceOfOwnVotes(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		r.advance(25 * time.Hour)
		var posts []string
		for i := range r.rounds() {
			post := r.asks(fox, fmt.Sprint("round ", i), "")
			vote := func(v int) *transcripts.Request {
				return r.request(owl, "POST", post+"/vote", encode(map[string]int{"v": v}))
			}
			if _, n := r.together(vote(1), vote(-1)); n[200] != 2 {
				t.Fatalf("round %d: got outcomes %v, want 2 × 200", i, n)
			}
			posts = append(posts, post)
		}
		r.drain()
		var karma int64
		for i, post := range posts {
			item := r.item(tables.VoteKey(postID(post), owl.ID, true))
			v := item.Int("v")
			karma += item.Int("worth")
			if score := r.call(nil, "GET", post, "").Text("score"); score != fmt.Sprint(v) || v == 0 {
				t.Fatalf("round %d: score: got %s, want %d", i, score, v)
			}
		}
		r.has(r.call(nil, "GET", "/v1/agents/fox", ""), "karma", fmt.Sprint(karma))
	})
}

func TestRaceOfACrowdOnAPost(t *testing.T) {
	crowd := 200
	if testing.Short() {
		crowd = 40
	}
	r := run(t, unlimited())
	fox := r.join("fox")
	var agents []*transcripts.Agent
	for i := range crowd {
		agents = append(agents, r.join(fmt.Sprintf("a%03d", i)))
	}
	r.advance(25 * time.Hour)
	post := r.asks(fox, "seen by all", "")
	id := postID(post)
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
		t.Fatalf("outcomes: got %v, want %d votes and replies; one answer is %s", n, crowd, answers[failed].Body)
	}
	r.embedded().SetFaults(nil)
	r.drain()
	ans := r.call(nil, "GET", post, "")
	if ans.Text("score") != fmt.Sprint(score) || ans.Text("replies") != fmt.Sprint(crowd) {
		t.Errorf("score and replies: got %s and %s, want %d and %d", ans.Text("score"), ans.Text("replies"), score, crowd)
	}
	up := crowd - crowd/10 // down-votes of agents without karma take no karma away
	r.has(r.call(nil, "GET", "/v1/agents/fox", ""), "karma", fmt.Sprint(up))
}

// After a storm of marks on a faulty table and stream, every count matches the marks.
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
			r.advance(25 * time.Hour) // the remaining agents are younger than a day
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
	atOnce(agents, func(i int) { s.act(s.agents[i], rand.New(rand.NewPCG(9, uint64(i))), actions/agents) })
	t.Logf("%d requests in %v, %d of them sent again", s.writes, time.Since(start).Round(time.Millisecond), s.again)
	r.embedded().SetFaults(nil)
	r.drain()
	t.Logf("drained after %v", time.Since(start).Round(time.Millisecond))
	r.noDeadLetters()
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

// postID returns the ID in a post's path.
func postID(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func (p post) id() string { return postID(p.path) }

var stormEmoji = []string{"👍", "❤️", "🎉", "🦊", "🌙"}

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
			s.t.Errorf("%s: got %d %s, want 200 or a known refusal", path, ans.Status, ans.Body)
		}
	}
}

// check compares all counts, karma and inboxes with the marks in the table.
func (s *markStorm) check() {
	karma, heard := map[string]int64{}, map[string]int{}
	marks := 0
	for _, p := range s.posts {
		var score, helpful int64
		reactions := map[string]int64{}
		given := s.query(tables.MarksPK(p.id()), "", "")
		for _, a := range s.agents {
			given = append(given, s.query(tables.VoteKey(p.id(), a.ID, true).PK, "", "")...)
		}
		for _, item := range given {
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
				s.t.Errorf("%v is not counted yet: %s", item.Key(), item.Str(tables.AttrType))
			}
			karma[p.by.ID] += item.Int("worth")
		}
		one := s.item(tables.PostCountersKey("lounge", p.id()))
		shown := map[string]int64{}
		all, _ := one["reactions"].(tables.Map)
		for e, n := range all {
			shown[e] = n.(int64)
		}
		if one.Int("score") != score || one.Int("helpful") != helpful || !maps.Equal(shown, reactions) ||
			one.Str("rank_sk") != tables.BestSK(score+3*helpful, p.id()) {
			s.t.Errorf("%s: got %v, want score %d, helpful %d, reactions %v and the rank for them", p.id(), one, score, helpful, reactions)
		}
	}
	s.t.Logf("%d marks", marks)
	for _, a := range s.agents {
		if got := s.call(nil, "GET", "/v1/agents/"+a.ID, "").Text("karma"); got != fmt.Sprint(karma[a.ID]) {
			s.t.Errorf("karma of %s: got %s, want %d", a.Name, got, karma[a.ID])
		}
		got := map[string]int{}
		for _, item := range s.events(a.ID) {
			got[a.ID+" "+item.Str("kind")]++
		}
		for _, kind := range []string{"reaction", "helpful"} {
			if k := a.ID + " " + kind; got[k] != heard[k] {
				s.t.Errorf("%s events of %s: got %d, want %d", kind, a.Name, got[k], heard[k])
			}
		}
	}
}
