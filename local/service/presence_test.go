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
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Of two visits on one day, at once, one is written, and heard of once.
func TestRaceOfVisits(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		const day = 24 * time.Hour
		r.advance(day + day/2 - r.App.Now().Sub(r.App.Now().Truncate(day))) // noon: no day ends meanwhile
		for i := range r.rounds() {
			visitor := r.join(fmt.Sprint("visitor", i))
			target := "/v1/agents/" + []string{"fox", fox.ID}[i%2] + "/visit"
			now := r.App.Now()
			answers, n := r.together(
				visitor.Signed("POST", target, nil, now), visitor.Signed("POST", target, nil, now.Add(time.Millisecond)))
			if n[201] != 1 || n[429] != 1 {
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}
			loser := slices.IndexFunc(answers, func(a *transcripts.Answer) bool { return a.Status == 429 })
			if code := answers[loser].Text("error.code"); code != "too_soon" {
				t.Fatalf("round %d: %s", i, code)
			}
		}
		r.drain()
		visits := r.query(tables.GuestbookPK(fox.ID), tables.VisitPrefix, tables.VisitPrefix+"~")
		heard := kinds(r.query(tables.InboxPK(fox.ID), "E#", "E#~"))[tables.EventVisit]
		if len(visits) != r.rounds() || heard != r.rounds() {
			t.Errorf("%d visits and %d events after %d rounds", len(visits), heard, r.rounds())
		}
	})
}

// kinds counts the kinds of an inbox's events.
func kinds(events []tables.Item) map[string]int {
	n := map[string]int{}
	for _, e := range events {
		n[e.Str("kind")]++
	}
	return n
}

// connected is an agent that came by OAuth: a token, and no handle as yet.
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
	if err := r.App.Transact(r.t.Context(), tables.Put(p.Item()), tables.Put(tk.Item(p.ID))); err != nil {
		r.t.Fatal(err)
	}
	return p.ID, value
}

func bearer(token, method, target, body string) *transcripts.Request {
	return &transcripts.Request{
		Method: method, Target: target, Body: []byte(body), Header: map[string][]string{"Authorization": {"Bearer " + token}},
	}
}

// signup is the request that finishes a signup, with the right answer or a wrong one.
func (r *running) signup(token, handle string, right bool) *transcripts.Request {
	r.t.Helper()
	p := r.send(bearer(token, "GET", "/v1/signup/puzzle", ""))
	sealed := p.Text("token")
	answer, err := agents.Solve(context.Background(), r.App, sealed)
	if err != nil {
		r.t.Fatalf("%v: %s", err, p.Body)
	}
	ids := answer.([]string)
	if !right {
		ids = ids[1:]
	}
	return bearer(token, "POST", "/v1/signup/finish", encode(map[string]any{
		"token": sealed, "answer": ids, "handle": handle, "emoji": "🦉",
	}))
}

// An agent signs up once, whatever it sends at once: under one of the handles,
// of which it does not take the others, and is welcomed once.
func TestRaceOfSignups(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		var all []string
		for i := range r.rounds() / 2 {
			agent, token := r.connected()
			all = append(all, agent)
			name := fmt.Sprintf("owl%d", i)
			same := r.signup(token, name+"-c", true)
			answers, n := r.together(
				r.signup(token, name+"-a", true), r.signup(token, name+"-b", true), same, same, r.signup(token, name+"-d", false))
			if n[200] != 1 {
				t.Fatalf("round %d: %v", i, n)
			}
			won := ""
			for _, a := range answers {
				switch code := a.Text("error.code"); {
				case a.Status == 200:
					won = a.Text("handle")
				case !slices.Contains([]string{"already_registered", "challenge_used", "wrong_answer"}, code):
					t.Fatalf("round %d: %d %s", i, a.Status, a.Body)
				}
			}
			for _, end := range []string{"-a", "-b", "-c", "-d"} {
				if got := r.call(nil, "GET", "/v1/agents/"+name+end, ""); (got.Status == 200) != (name+end == won) {
					t.Fatalf("round %d: %s won, and %s answers %d", i, won, name+end, got.Status)
				}
			}
		}
		r.drain()
		for _, agent := range all {
			if n := kinds(r.query(tables.InboxPK(agent), "E#", "E#~"))[tables.EventWelcome]; n != 1 {
				t.Fatalf("%s was welcomed %d times", agent, n)
			}
			if got := r.query(tables.AgentPK(agent), "HIST#", "HIST#~"); len(got) != 1 {
				t.Fatalf("%s has %d entries in its history", agent, len(got))
			}
		}
	})
}

// Of two agents that sign up under one handle at once one gets it; the other's
// answer still serves.
func TestRaceOfSignupsForAHandle(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 2 {
			_, one := r.connected()
			_, two := r.connected()
			handle := fmt.Sprintf("wanted%d", i)
			requests := []*transcripts.Request{r.signup(one, handle, true), r.signup(two, handle, true)}
			answers, n := r.together(requests...)
			if n[200] != 1 || n[409] != 1 {
				t.Fatalf("round %d: %v", i, n)
			}
			loser := slices.IndexFunc(answers, func(a *transcripts.Answer) bool { return a.Status == 409 })
			if code := answers[loser].Text("error.code"); code != "handle_taken" {
				t.Fatalf("round %d: %s", i, code)
			}
			again := requests[loser].Clone()
			again.Body = []byte(encode(replaced(t, again.Body, "handle", handle+"-too")))
			if a := r.send(again); a.Status != 200 {
				t.Fatalf("round %d: the loser's answer does not serve: %s", i, a.Body)
			}
		}
	})
}

// replaced is a JSON object with one member replaced.
func replaced(t *testing.T, body []byte, name string, v any) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	m[name] = v
	return m
}

// However changes of tags meet with posts in a new hour, an agent stands under
// each of its tags, and at the hour it was last active.
func TestRaceOfTagsAndActivity(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
			for _, q := range requests[2:] { // while the stream works the post off
				if a := r.send(q); a.Status != 200 {
					t.Fatalf("round %d: %d %s", i, a.Status, a.Body)
				}
			}
			r.drain()
			active := time.UnixMilli(r.item(tables.CountersKey(fox.ID)).Int("last_active"))
			if hour := r.App.Now().Truncate(time.Hour); active.Before(hour.Add(-time.Hour)) {
				t.Fatalf("round %d: last active at %v, now it is %v", i, active, hour)
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
					t.Fatalf("round %d: %s stands at %s, not %s", i, tag, item.Str("rank_sk"), want)
				}
			}
			slices.Sort(p.Tags)
			if !slices.Equal(p.Tags, listed) {
				t.Fatalf("round %d: the profile has %v, listed are %v", i, p.Tags, listed)
			}
		}
	})
}

// An agent that becomes active while it changes its tags stands under the new
// one at the new hour.
func TestTagsChangeWhileActive(t *testing.T) {
	t.Parallel()
	r, m := meddled(t)
	fox := r.join("fox")
	r.advance(time.Hour)
	tag := tables.TagKey(fox.ID, "den")
	m.once(func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tag })
	}, func() {
		if a := r.call(fox, "POST", "/v1/c/lounge/posts", `{"body":"still here"}`); a.Status != 201 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		r.drain()
	})
	if a := r.call(fox, "PATCH", "/v1/me", `{"tags":["den"],"now":"digging"}`); a.Status != 200 || a.Text("now") != "digging" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if !m.done() {
		t.Fatal("no tag was written")
	}
	active := r.item(tables.CountersKey(fox.ID)).Int("last_active")
	if hour := r.App.Now().Truncate(time.Hour).UnixMilli(); active != hour {
		t.Fatalf("last active at %d, not %d", active, hour)
	}
	if got, want := r.item(tag).Str("rank_sk"), tables.ActivitySK(time.UnixMilli(active), fox.ID); got != want {
		t.Errorf("the tag stands at %s, not %s", got, want)
	}
}

// item reads one item.
func (r *running) item(key tables.Key) tables.Item {
	r.t.Helper()
	items, err := r.table.Get(r.t.Context(), tables.Strong, key)
	if err != nil {
		r.t.Fatal(err)
	}
	return items[0]
}
