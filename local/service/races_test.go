package service_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// rounds is how often a race is run. DynamoDB Local takes some 5 ms for what
// the embedded table does in 50 µs: `make both` runs all of them there. The race
// detector, which needs to see two accesses once, runs with -short.
func (r *running) rounds() int {
	_, embedded := r.table.(*embedded.Table)
	switch {
	case testing.Short():
		return 30
	case embedded || os.Getenv("BOTH") != "":
		return 200
	}
	return 10
}

// crowd is how many of n take part at once: fewer where rounds are.
func (r *running) crowd(n int) int { return max(1, n*min(r.rounds(), 40)/40) }

// together sends requests at the same moment, and tells the answers by status.
func (r *running) together(requests ...*transcripts.Request) (answers []*transcripts.Answer, byStatus map[int]int) {
	answers, byStatus = make([]*transcripts.Answer, len(requests)), map[int]int{}
	var ready, done sync.WaitGroup
	ready.Add(1)
	for i, q := range requests {
		done.Go(func() {
			ready.Wait()
			answers[i] = r.send(q)
		})
	}
	ready.Done()
	done.Wait()
	for _, a := range answers {
		byStatus[a.Status]++
	}
	return answers, byStatus
}

// Of two agents that want one handle exactly one gets it; the other's
// challenge is not spent.
func TestRaceForAHandle(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
			answers, n := r.together(requests...)
			if n[201] != 1 || n[409] != 1 {
				t.Fatalf("round %d: %v", i, n)
			}
			loser := slices.IndexFunc(answers, func(a *transcripts.Answer) bool { return a.Status == 409 })
			if code := answers[loser].Text("error.code"); code != "handle_taken" {
				t.Fatalf("round %d: %s", i, code)
			}
			a := r.send(r.registration(rivals[loser], challenges[loser], handle+"-too"))
			if a.Status != 201 {
				t.Fatalf("round %d: the loser's challenge does not serve: %d %s", i, a.Status, a.Body)
			}
			if got := r.call(nil, "GET", "/v1/agents/"+handle, "").Text("id"); got != answers[1-loser].Text("id") {
				t.Fatalf("round %d: the handle belongs to %s", i, got)
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

// One challenge makes one agent, whatever is sent at once.
func TestRaceForAChallenge(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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
				t.Fatalf("round %d: %d %s", i, ans.Status, ans.Body)
			}
		}
		if len(ids) != 1 {
			t.Fatalf("round %d: %d agents of one challenge: %v", i, len(ids), n)
		}
	}
}

// A key makes one agent, however many challenges are answered with it at once.
func TestRaceForAKey(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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
		answers, n := r.together(requests...)
		if n[201] != 1 || n[409] != 1 {
			t.Fatalf("round %d: %v", i, n)
		}
		for j, ans := range answers {
			if ans.Status == 409 && ans.Text("error.code") != "already_registered" {
				t.Fatalf("round %d: %s", i, ans.Body)
			}
			want := map[int]int{201: 200, 409: 404}[ans.Status]
			if got := r.call(nil, "GET", fmt.Sprintf("/v1/agents/keyed%d.%d", i, j), ""); got.Status != want {
				t.Fatalf("round %d: after %d the handle answers %d", i, ans.Status, got.Status)
			}
		}
	}
}

// The same signed bytes, eight times at once, are one post.
func TestRaceOfTheSameBytes(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	for i := range r.rounds() {
		q := r.request(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("round ", i)}))
		requests := slices.Repeat([]*transcripts.Request{q}, 8)
		answers, n := r.together(requests...)
		if n[201] != 8 {
			t.Fatalf("round %d: %v", i, n)
		}
		first := 0
		for _, a := range answers {
			if a.Text("id") != answers[0].Text("id") {
				t.Fatalf("round %d: two ids, %s and %s", i, a.Text("id"), answers[0].Text("id"))
			}
			if a.Header.Get("Idempotent-Replayed") == "" {
				first++
			}
		}
		if first != 1 {
			t.Fatalf("round %d: %d answers say that they are the first", i, first)
		}
	}
	r.drain()
	if got := r.call(fox, "GET", "/v1/me", "").Text("posts"); got != fmt.Sprint(r.rounds()) {
		t.Errorf("%s posts after %d rounds", got, r.rounds())
	}
}

// Of two deletions at once one deletes.
func TestRaceOfDeletions(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	for i := range r.rounds() {
		post := r.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("round ", i)}))
		target := "/v1/c/lounge/posts/" + post.Text("id")
		now := r.App.Now()
		_, n := r.together(
			fox.Signed("DELETE", target, nil, now), fox.Signed("DELETE", target, nil, now.Add(time.Millisecond)))
		if n[200] != 1 || n[410] != 1 {
			t.Fatalf("round %d: %v", i, n)
		}
	}
	r.drain()
	if got := r.call(fox, "GET", "/v1/me", "").Text("posts"); got != "0" {
		t.Errorf("%s posts are left", got)
	}
}

// At a limit of six, six of ten get through.
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
		if _, n := r.settled(requests...); n[201] != 6 || n[429] != 4 {
			t.Fatalf("round %d: %v", i, n)
		}
	}
}

// However updates meet, an agent is listed under the tags that it has.
func TestRaceOfTags(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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
			t.Fatalf("round %d: %v", i, n)
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
			t.Fatalf("round %d: the profile has %v, listed are %v", i, tags, listed)
		}
	}
}

// A channel is made once; an agent makes one a week.
func TestRaceOfChannels(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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
		answers, by := r.together(create(three[0], name), create(three[1], name))
		if by[201] != 1 || by[409] != 1 {
			t.Fatalf("round %d: %v", i, by)
		}
		loser := slices.IndexFunc(answers, func(a *transcripts.Answer) bool { return a.Status == 409 })
		if code := answers[loser].Text("error.code"); code != "channel_exists" {
			t.Fatalf("round %d: %s", i, code)
		}
		if left := r.call(three[loser], "GET", "/v1/me", "").Text("limits.channels_left"); left != "3" {
			t.Fatalf("round %d: the loser has %s channels left", i, left)
		}
		answers, by = r.together(create(three[2], name+"-a"), create(three[2], name+"-b"))
		if by[201] != 1 || by[429] != 1 {
			t.Fatalf("round %d: one agent, two channels: %v: %s, %s", i, by, answers[0].Body, answers[1].Body)
		}
	}
}
