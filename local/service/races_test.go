package service_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

func TestRaceForAHandle(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() {
			handle := fmt.Sprintf("wanted%d", i)
			var rivals [2]*transcripts.Agent
			var challenges [2]*transcripts.Challenge
			var requests []*transcripts.Request
			for j := range rivals {
				a := transcripts.NewAgent(fmt.Sprintf("rival%d.%d", i, j))
				c, _, err := transcripts.GetChallenge(r.URL, a.Pub())
				if err != nil {
					t.Fatal(err)
				}
				rivals[j], challenges[j] = a, c
				requests = append(requests, r.registration(a, c, handle))
			}
			answers, _ := r.together(requests...)
			r.decided(i, answers, outcomes{"201": 1, "409 handle_taken": 1})
			loser := with(409, answers)
			a := r.send(r.registration(rivals[loser], challenges[loser], handle+"-too"))
			if a.Status != 201 {
				t.Fatalf("round %d: the loser's challenge with another handle: got %d %s, want 201", i, a.Status, a.Body)
			}
			if got := r.call(nil, "GET", "/v1/agents/"+handle, "").Text("id"); got != answers[1-loser].Text("id") {
				t.Fatalf("round %d: agent of the handle: got %s, want the winner", i, got)
			}
		}
	})
}

func (r *running) registration(a *transcripts.Agent, c *transcripts.Challenge, handle string) *transcripts.Request {
	body, err := a.Join(r.URL, c, handle, "🦊")
	if err != nil {
		r.t.Fatal(err)
	}
	return r.request(nil, "POST", "/v1/agents", encode(body))
}

func TestRaceForAChallenge(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	for i := range r.rounds() {
		a := transcripts.NewAgent(fmt.Sprintf("twin%d", i))
		c, _, err := transcripts.GetChallenge(r.URL, "")
		if err != nil {
			t.Fatal(err)
		}
		b := transcripts.NewAgent(fmt.Sprintf("other%d", i))
		one, other := r.registration(a, c, a.Name), r.registration(b, c, b.Name)
		answers, n := r.together(one, other, one)
		ids := map[string]bool{}
		for _, ans := range answers {
			if ans.Status == 201 {
				ids[ans.Text("id")] = true
			} else if ans.Text("error.code") != "challenge_used" {
				t.Fatalf("round %d: got %d %s, want challenge_used", i, ans.Status, ans.Body)
			}
		}
		if len(ids) != 1 {
			t.Fatalf("round %d: agents of one challenge: got %d, want 1; the statuses are %v", i, len(ids), n)
		}
	}
}

func TestRaceForAKey(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	for i := range r.rounds() {
		a := transcripts.NewAgent(fmt.Sprintf("keyed%d", i))
		var requests []*transcripts.Request
		for j := range 2 {
			c, _, err := transcripts.GetChallenge(r.URL, a.Pub())
			if err != nil {
				t.Fatal(err)
			}
			requests = append(requests, r.registration(a, c, fmt.Sprintf("keyed%d.%d", i, j)))
		}
		answers, _ := r.together(requests...)
		r.decided(i, answers, outcomes{"201": 1, "409 already_registered": 1})
		for j, ans := range answers {
			want := map[int]int{201: 200, 409: 404}[ans.Status]
			if got := r.call(nil, "GET", fmt.Sprintf("/v1/agents/keyed%d.%d", i, j), ""); got.Status != want {
				t.Fatalf("round %d: the handle of a registration answered %d: got %d, want %d", i, ans.Status, got.Status, want)
			}
		}
	}
}

// An agent may add the key as a further key, as its first key, or by registering.
func TestRaceForAKeyOfTwoAgents(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() {
			fox, owl := r.join(fmt.Sprintf("fox%d", i)), r.join(fmt.Sprintf("owl%d", i))
			token := r.token(owl, "post", "read")
			r.put(tables.Delete(tables.AgentKeyKey(owl.ID, owl.Pub())),
				tables.Change(tables.ProfileKey(owl.ID), tables.SetAttr("keys", int64(0))))
			wanted := newKeyOf(fox, fmt.Sprintf("wanted%d", i))
			forOwl := *wanted
			forOwl.ID = owl.ID
			alone := transcripts.Agent{Name: wanted.Name, Key: wanted.Key}
			c, _, err := transcripts.GetChallenge(r.URL, alone.Pub())
			if err != nil {
				t.Fatal(err)
			}
			first := bearer(token, "POST", "/v1/me/keys", addKeyBody(&forOwl))
			first.Header.Set("Idempotency-Key", wanted.Name)
			requests := []*transcripts.Request{
				r.request(fox, "POST", "/v1/me/keys", addKeyBody(wanted)), first, r.registration(&alone, c, wanted.Name),
			}
			requests = append(requests[i%3:], requests[:i%3]...)[:2]
			var answers []*transcripts.Answer
			if i%2 == 0 { // at once; else one after the other
				answers, _ = r.settled(requests...)
			} else {
				answers = append(answers, r.retry(requests[0]), r.retry(requests[1]))
			}
			r.decided(i, answers, outcomes{"201": 1, "409 already_registered": 1})
			if i%2 == 1 && answers[0].Status != 201 {
				t.Fatalf("round %d: the first request: got %d %s, want 201", i, answers[0].Status, answers[0].Body)
			}
			acts := 0
			for _, k := range []*transcripts.Agent{wanted, &forOwl, &alone} {
				switch got := r.callRetry(k, "GET", "/v1/me", ""); got.Status {
				case 200:
					acts++
				default:
					r.want(got, 401, "unknown_key")
				}
			}
			if acts != 1 {
				t.Fatalf("round %d: the key acts for %d agents, want 1", i, acts)
			}
		}
	})
}

func TestRaceOfTheSameBytes(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	for i := range r.rounds() {
		q := r.request(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("round ", i)}))
		requests := slices.Repeat([]*transcripts.Request{q}, 8)
		answers, n := r.together(requests...)
		if n[201] != 8 {
			t.Fatalf("round %d: got outcomes %v, want 8 × 201", i, n)
		}
		first := 0
		for _, a := range answers {
			if a.Text("id") != answers[0].Text("id") {
				t.Fatalf("round %d: id: got %s, want %s", i, a.Text("id"), answers[0].Text("id"))
			}
			if a.Header.Get("Idempotent-Replayed") == "" {
				first++
			}
		}
		if first != 1 {
			t.Fatalf("round %d: answers that are no replay: got %d, want 1", i, first)
		}
	}
	r.drain()
	r.has(r.call(fox, "GET", "/v1/me", ""), "posts", fmt.Sprint(r.rounds()))
}

func TestRaceOfDeletions(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	for i := range r.rounds() {
		post := r.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("round ", i)}))
		target := "/v1/c/lounge/posts/" + post.Text("id")
		now := r.App.Now()
		answers, _ := r.together(
			fox.Signed("DELETE", target, nil, now), fox.Signed("DELETE", target, nil, now.Add(time.Millisecond)))
		r.decided(i, answers, outcomes{"200": 1, "410 deleted": 1})
	}
	r.drain()
	r.has(r.call(fox, "GET", "/v1/me", ""), "posts", "0")
}

func TestRaceAtALimit(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.PostsPerMinute = 6
	r := run(t, service.Config{Settings: settings})
	for i := range r.rounds() {
		a := r.join(fmt.Sprintf("poster%d", i))
		minute := r.App.Now().Truncate(time.Minute)
		if r.App.Now().Sub(minute) > 50*time.Second {
			minute = minute.Add(time.Minute)
		}
		var requests []*transcripts.Request
		for j := range 10 {
			body := encode(map[string]string{"body": fmt.Sprint(i, " ", j)})
			requests = append(requests, a.Signed("POST", "/v1/c/lounge/posts", []byte(body), minute.Add(time.Duration(j)*time.Millisecond)))
		}
		answers, _ := r.settled(requests...)
		r.decided(i, answers, outcomes{"201": 6, "429 rate_limited": 4})
	}
}

func TestRaceOfTags(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	sets := [][]string{{"go", "night"}, {"night", "den"}, {}, {"go", "den", "hens", "night"}, {"hens"}}
	for i := range r.rounds() {
		var requests []*transcripts.Request
		for j, tags := range sets {
			body := map[string]any{"tags": tags, "now": fmt.Sprint(i, " ", j)}
			requests = append(requests, r.request(fox, "PATCH", "/v1/me", encode(body)))
		}
		_, n := r.together(requests...)
		if n[200] == 0 || n[200]+n[409] != len(sets) {
			t.Fatalf("round %d: got outcomes %v, want 200 and 409, and at least one 200", i, n)
		}
		var listed []string
		for _, item := range r.query(tables.AgentPK(fox.ID), "TAG#", "TAG#~") {
			listed = append(listed, item.Key().SK[len("TAG#"):])
		}
		var tags []string
		if err := json.Unmarshal([]byte(r.call(fox, "GET", "/v1/me", "").Text("tags")), &tags); err != nil {
			t.Fatal(err)
		}
		slices.Sort(tags)
		if !slices.Equal(tags, listed) {
			t.Fatalf("round %d: listed tags: got %v, want %v", i, listed, tags)
		}
	}
}

// An agent can create one channel a week.
func TestRaceOfChannels(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	n := r.rounds() / 2
	var agents [][3]*transcripts.Agent
	for i := range n {
		var three [3]*transcripts.Agent
		for j := range three {
			three[j] = r.join(fmt.Sprintf("maker%d.%d", i, j))
		}
		agents = append(agents, three)
	}
	r.advance(25 * time.Hour)
	create := func(a *transcripts.Agent, name string) *transcripts.Request {
		return r.request(a, "POST", "/v1/channels", encode(map[string]string{"name": name, "kind": "work"}))
	}
	for i, three := range agents {
		name := fmt.Sprintf("made-%d", i)
		answers, _ := r.together(create(three[0], name), create(three[1], name))
		r.decided(i, answers, outcomes{"201": 1, "409 channel_exists": 1})
		loser := with(409, answers)
		if left := r.call(three[loser], "GET", "/v1/me", "").Text("limits.channels_left"); left != "3" {
			t.Fatalf("round %d: channels_left of the loser: got %s, want 3", i, left)
		}
		answers, _ = r.together(create(three[2], name+"-a"), create(three[2], name+"-b"))
		r.decided(i, answers, outcomes{"201": 1, "429 too_soon": 1})
	}
}
