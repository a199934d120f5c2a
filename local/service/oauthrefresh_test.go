package service_test

import (
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/tables"
)

// A refresh token whose answer was lost, or that two of a client's processes
// sent at once, gets one and the same answer; shown any later, it is a thief's or
// a thief has its successor, and the connection ends, access tokens included.
func TestRefreshReplay(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	first := r.want(r.send(r.visit().redemption()), 200, "")
	agent := r.whoami(first)
	r.advance(10 * time.Minute)
	second := r.want(r.send(r.refreshing(first.Text("refresh_token"))), 200, "")
	if second.Text("access_token") == first.Text("access_token") || second.Text("expires_in") != "3600" || second.Text("scope") != "read post" {
		t.Errorf("%s", second.Body)
	}
	r.advance(15 * time.Second)
	lost := r.want(r.send(r.refreshing(first.Text("refresh_token"))), 200, "")
	if lost.Text("access_token") != second.Text("access_token") {
		t.Errorf("the answer again is another: %s, %s", second.Body, lost.Body)
	}
	if n := len(lost.Text("expires_in")); n != 4 || lost.Text("expires_in") > "3585" {
		t.Errorf("it lives for another %s s", lost.Text("expires_in"))
	}
	for _, a := range []*transcripts.Answer{first, second, lost} { // the first for the rest of its hour
		if r.whoami(a) != agent {
			t.Error("a token of another agent")
		}
	}
	// Both are of one generation: whichever of the refresh tokens goes on, the other may too.
	third := r.want(r.send(r.refreshing(lost.Text("refresh_token"))), 200, "")
	if again := r.want(r.send(r.refreshing(second.Text("refresh_token"))), 200, ""); again.Text("access_token") != third.Text("access_token") {
		t.Errorf("%s, %s", third.Body, again.Body)
	}
	r.advance(31 * time.Second)
	if a := r.refused(r.send(r.refreshing(second.Text("refresh_token"))), "invalid_grant"); !strings.Contains(a.Text("error_description"), "used before") {
		t.Errorf("%s", a.Body)
	}
	r.dead(first, second, lost, third)

	// Two generations back there is no grace.
	a := r.want(r.send(r.visit().redemption()), 200, "")
	b := r.want(r.send(r.refreshing(a.Text("refresh_token"))), 200, "")
	c := r.want(r.send(r.refreshing(b.Text("refresh_token"))), 200, "")
	r.refused(r.send(r.refreshing(a.Text("refresh_token"))), "invalid_grant")
	r.dead(a, b, c)
}

// How long the answer is given again is a setting.
func TestRefreshReplayIsASetting(t *testing.T) {
	t.Parallel()
	s := generous()
	s.RefreshAgain = 0
	r := run(t, service.Config{Settings: s})
	first := r.want(r.send(r.visit().redemption()), 200, "")
	second := r.want(r.send(r.refreshing(first.Text("refresh_token"))), 200, "")
	r.refused(r.send(r.refreshing(first.Text("refresh_token"))), "invalid_grant")
	r.dead(first, second)
}

// Parallel refreshes all get tokens that live, and all go on; what is shown later
// ends all of it.
func TestRaceOfRefreshes(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 2 {
			first := r.want(r.steady(r.visit().redemption()), 200, "")
			agent := r.whoami(first)
			q := r.refreshing(first.Text("refresh_token"))
			answers, n := r.settled(q.Clone(), q.Clone(), q.Clone())
			if n[200] != 3 {
				t.Fatalf("round %d: %v: %s", i, n, answers[0].Body)
			}
			for _, a := range answers {
				if r.whoami(a) != agent || a.Text("access_token") != answers[0].Text("access_token") {
					t.Fatalf("round %d: %s", i, a.Body)
				}
			}
			next := make([]*transcripts.Request, len(answers))
			for j, a := range answers {
				next[j] = r.refreshing(a.Text("refresh_token"))
			}
			later, n := r.settled(next...)
			if n[200] != 3 || r.whoami(later[2]) != agent {
				t.Fatalf("round %d, later: %v", i, n)
			}
			var grant tables.Grant
			parsed, err := auth.ParseToken(later[0].Text("access_token"))
			if err != nil {
				t.Fatal(err)
			}
			if err := tables.Unmarshal(r.item(tables.GrantKey(agent, parsed.On.Grant)), &grant); err != nil || grant.Generation != 3 {
				t.Fatalf("round %d: generation %d, %v", i, grant.Generation, err)
			}
			r.refused(r.steady(q), "invalid_grant")
			r.dead(first, answers[1], later[0])
		}
	})
}

// A refresh meets a reuse: whatever comes first, nothing lives afterwards.
func TestRaceOfRefreshAndReuse(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			a := r.want(r.steady(r.visit().redemption()), 200, "")
			b := r.want(r.steady(r.refreshing(a.Text("refresh_token"))), 200, "")
			c := r.want(r.steady(r.refreshing(b.Text("refresh_token"))), 200, "")
			answers, _ := r.settled(r.refreshing(c.Text("refresh_token")), r.refreshing(a.Text("refresh_token")))
			r.refused(answers[1], "invalid_grant")
			if answers[0].Status == 200 {
				r.dead(answers[0])
			} else {
				t.Logf("round %d: the reuse came first", i)
				r.refused(answers[0], "invalid_grant")
			}
			r.dead(a, b, c)
		}
	})
}

// Scopes asked for at a refresh may be fewer, for that one access token.
func TestRefreshNarrows(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
	got := r.want(r.send(r.visit(linked(r, fox, link), func(c *flow.Code) { c.Scopes = []string{"read", "post", "memory"} }).redemption()), 200, "")
	for _, wide := range []string{"read dm", "dm", "everything", "read post memory jury"} {
		r.refused(r.send(r.refreshing(got.Text("refresh_token"), "scope", wide)), "invalid_scope")
	}
	less := r.want(r.send(r.refreshing(got.Text("refresh_token"), "scope", "memory  post")), 200, "")
	if less.Text("scope") != "post memory" {
		t.Errorf("%s", less.Body)
	}
	if e := r.want(r.send(bearer(less.Text("access_token"), "GET", "/v1/me", "")), 403, "scope_missing"); e.Text("error.scope") != "read" {
		t.Errorf("%s", e.Body)
	}
	// The answer again is the narrow one, whatever is asked for now.
	if again := r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, ""); again.Text("scope") != "post memory" || again.Text("access_token") != less.Text("access_token") {
		t.Errorf("%s", again.Body)
	}
	if all := r.want(r.send(r.refreshing(less.Text("refresh_token"))), 200, ""); all.Text("scope") != "read post memory" || r.whoami(all) != fox.ID {
		t.Errorf("%s", all.Body)
	}
}

// client_id need not be sent with a refresh; sent, it must be the right one, and
// so must the resource. A wrong one ends nothing.
func TestRefreshOfTheSameClient(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	v := r.visit()
	got := r.want(r.send(v.redemption("resource", r.URL+"/mcp")), 200, "")
	r.refused(r.send(r.refreshing(got.Text("refresh_token"), "client_id", r.visit().client)), "invalid_grant")
	r.refused(r.send(r.refreshing(got.Text("refresh_token"), "resource", "https://y.example")), "invalid_target")
	r.refused(r.send(r.refreshing("")), "invalid_request")
	r.refused(r.send(r.refreshing("asr_x")), "invalid_grant")
	r.refused(r.send(r.refreshing(got.Text("access_token"))), "invalid_grant")
	r.refused(r.send(r.refreshing(strings.TrimPrefix(got.Text("refresh_token"), "asr_"))), "invalid_grant")
	r.want(r.send(bearer(got.Text("refresh_token"), "GET", "/v1/me", "")), 401, "bad_token")
	r.want(r.send(r.refreshing(got.Text("refresh_token"), "client_id", v.client, "resource", r.URL+"/mcp/", "unknown", "x")), 200, "")
}
