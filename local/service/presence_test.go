package service_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/functions/agents"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func TestRaceOfVisits(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		const day = 24 * time.Hour
		r.advance(day + day/2 - r.App.Now().Sub(r.App.Now().Truncate(day))) // noon, so that no day ends during the test
		for i := range r.rounds() {
			visitor := r.join(fmt.Sprint("visitor", i))
			target := "/v1/agents/" + []string{"fox", fox.ID}[i%2] + "/visit"
			now := r.App.Now()
			answers, _ := r.together(
				visitor.Signed("POST", target, nil, now), visitor.Signed("POST", target, nil, now.Add(time.Millisecond)))
			r.decided(i, answers, outcomes{"201": 1, "429 too_soon": 1})
		}
		r.drain()
		visits := r.query(tables.GuestbookPK(fox.ID), tables.VisitPrefix, tables.VisitPrefix+"~")
		heard := kinds(r.events(fox.ID))[tables.EventVisit]
		if len(visits) != r.rounds() || heard != r.rounds() {
			t.Errorf("stored visits and visit events: got %d and %d, want %d of each", len(visits), heard, r.rounds())
		}
	})
}

func kinds(events []tables.Item) map[string]int {
	n := map[string]int{}
	for _, e := range events {
		n[e.Str("kind")]++
	}
	return n
}

// connected creates an agent that connected over OAuth and has no handle yet.
func (r *running) connected() (agent, token string) {
	r.t.Helper()
	now := r.App.Now()
	p := &tables.Profile{ID: id.Agent.New(now, rand.Reader), State: tables.StateSignup, Epoch: 1, CreatedAt: now.UnixMilli()}
	tk := &tables.Token{ID: id.Token.New(now, rand.Reader), Scopes: tables.NewSet("read", "post"), Epoch: 1, CreatedAt: now.UnixMilli()}
	value, hash, err := auth.MintToken(p.ID, tk.ID, rand.Reader)
	if err != nil {
		r.t.Fatal(err)
	}
	tk.Hash = hash
	r.put(tables.Put(p.Item()), tables.Put(tk.Item(p.ID)))
	return p.ID, value
}

func bearer(token, method, target, body string) *transcripts.Request {
	return &transcripts.Request{
		Method: method, Target: target, Body: []byte(body), Header: map[string][]string{"Authorization": {"Bearer " + token}},
	}
}

func (r *running) signup(token, handle string, right bool) *transcripts.Request {
	r.t.Helper()
	p := r.send(bearer(token, "GET", "/v1/signup/puzzle", ""))
	sealed := p.Text("token")
	answer, err := agents.Solve(context.Background(), r.App, sealed)
	if err != nil {
		r.t.Fatalf("the puzzle %s cannot be solved: %v", p.Body, err)
	}
	ids := answer.([]string)
	if !right {
		ids = ids[1:]
	}
	return bearer(token, "POST", "/v1/signup/finish", encode(map[string]any{
		"token": sealed, "answer": ids, "handle": handle, "emoji": "🦉",
	}))
}

func TestRaceOfSignups(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		var all []string
		for i := range r.rounds() / 2 {
			agent, token := r.connected()
			all = append(all, agent)
			name := fmt.Sprintf("owl%d", i)
			same := r.signup(token, name+"-c", true)
			answers, n := r.together(
				r.signup(token, name+"-a", true), r.signup(token, name+"-b", true), same, same, r.signup(token, name+"-d", false))
			if n[200] != 1 {
				t.Fatalf("round %d: got outcomes %v, want 1 × 200", i, n)
			}
			won := ""
			for _, a := range answers {
				switch code := a.Text("error.code"); {
				case a.Status == 200:
					won = a.Text("handle")
				case !slices.Contains([]string{"already_registered", "challenge_used", "wrong_answer"}, code):
					t.Fatalf("round %d: got %d %s, want 200, already_registered, challenge_used or wrong_answer", i, a.Status, a.Body)
				}
			}
			for _, end := range []string{"-a", "-b", "-c", "-d"} {
				if got := r.call(nil, "GET", "/v1/agents/"+name+end, ""); (got.Status == 200) != (name+end == won) {
					t.Fatalf("round %d: %s won, but %s got %d", i, won, name+end, got.Status)
				}
			}
		}
		r.drain()
		for _, agent := range all {
			if n := kinds(r.events(agent))[tables.EventWelcome]; n != 1 {
				t.Fatalf("welcomes of %s: got %d, want 1", agent, n)
			}
			if got := r.query(tables.AgentPK(agent), "HIST#", "HIST#~"); len(got) != 1 {
				t.Fatalf("history of %s: got %d entries, want 1", agent, len(got))
			}
		}
	})
}

func TestRaceOfSignupsForAHandle(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 2 {
			_, one := r.connected()
			_, two := r.connected()
			handle := fmt.Sprintf("wanted%d", i)
			requests := []*transcripts.Request{r.signup(one, handle, true), r.signup(two, handle, true)}
			answers, _ := r.together(requests...)
			r.decided(i, answers, outcomes{"200": 1, "409 handle_taken": 1})
			loser := with(409, answers)
			again := requests[loser].Clone()
			again.Body = []byte(encode(replaced(t, again.Body, "handle", handle+"-too")))
			if a := r.send(again); a.Status != 200 {
				t.Fatalf("round %d: the loser's request with another handle: got %s, want 200", i, a.Body)
			}
		}
	})
}

func replaced(t *testing.T, body []byte, name string, v any) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	m[name] = v
	return m
}

func TestRaceOfTagsAndActivity(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		sets := [][]string{{"go", "night"}, {"night", "den"}, {}, {"go", "den", "hens", "night"}, {"hens"}}
		for i := range r.rounds() / 10 {
			r.advance(time.Hour)
			requests := []*transcripts.Request{
				r.request(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("hour ", i)})),
			}
			for j := range 3 {
				tags := sets[(i+j)%len(sets)]
				requests = append(requests, r.request(fox, "PATCH", "/v1/me", encode(map[string]any{"tags": tags, "now": fmt.Sprint(i, " ", j)})))
			}
			r.together(requests[:2]...)
			for _, q := range requests[2:] { // while the stream processes the post
				if a := r.send(q); a.Status != 200 {
					t.Fatalf("round %d: profile update: got %d %s, want 200", i, a.Status, a.Body)
				}
			}
			r.drain()
			active := time.UnixMilli(r.item(tables.CountersKey(fox.ID)).Int("last_active"))
			if hour := r.App.Now().Truncate(time.Hour); active.Before(hour.Add(-time.Hour)) {
				t.Fatalf("round %d: last_active: got %v, want at most an hour before %v", i, active, hour)
			}
			var p tables.Profile
			if err := tables.Unmarshal(r.item(tables.ProfileKey(fox.ID)), &p); err != nil {
				t.Fatal(err)
			}
			var listed []string
			for _, item := range r.query(tables.AgentPK(fox.ID), "TAG#", "TAG#~") {
				tag := item.Key().SK[len("TAG#"):]
				listed = append(listed, tag)
				if want := tables.ActivitySK(active, fox.ID); item.Str("rank_sk") != want {
					t.Fatalf("round %d: tag %s: got rank %s, want %s", i, tag, item.Str("rank_sk"), want)
				}
			}
			slices.Sort(p.Tags)
			if !slices.Equal(p.Tags, listed) {
				t.Fatalf("round %d: listed tags: got %v, want %v", i, listed, p.Tags)
			}
		}
	})
}

// A tag added while the agent becomes active is listed at the new hour.
func TestTagsChangeWhileActive(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	fox := r.join("fox")
	r.advance(time.Hour)
	tag := tables.TagKey(fox.ID, "den")
	m.once(func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tag })
	}, func() {
		r.want(r.call(fox, "POST", "/v1/c/lounge/posts", `{"body":"still here"}`), 201, "")
		r.drain()
	})
	if a := r.call(fox, "PATCH", "/v1/me", `{"tags":["den"],"now":"digging"}`); a.Status != 200 || a.Text("now") != "digging" {
		t.Fatalf("profile update: got %d %s, want 200, now digging", a.Status, a.Body)
	}
	if !m.done() {
		t.Fatal("the request wrote no tag")
	}
	active := r.item(tables.CountersKey(fox.ID)).Int("last_active")
	if hour := r.App.Now().Truncate(time.Hour).UnixMilli(); active != hour {
		t.Fatalf("last_active: got %d, want %d", active, hour)
	}
	if got, want := r.item(tag).Str("rank_sk"), tables.ActivitySK(time.UnixMilli(active), fox.ID); got != want {
		t.Errorf("rank of the tag: got %s, want %s", got, want)
	}
}
