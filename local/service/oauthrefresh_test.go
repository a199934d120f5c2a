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

// A client may repeat a refresh within a minute, as after a lost answer. A later repetition counts
// as theft.
func TestRefreshReplay(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	first := r.want(r.send(r.visit().redemption()), 200, "")
	agent := r.whoami(first)
	r.advance(10 * time.Minute)
	second := r.want(r.send(r.refreshing(first.Text("refresh_token"))), 200, "")
	if second.Text("access_token") == first.Text("access_token") || second.Text("expires_in") != "3600" || second.Text("scope") != "read post" {
		t.Errorf("first refresh: got %s, want a new access_token, expires_in 3600, scope read post", second.Body)
	}
	r.advance(15 * time.Second)
	lost := r.want(r.send(r.refreshing(first.Text("refresh_token"))), 200, "")
	if lost.Text("access_token") != second.Text("access_token") {
		t.Errorf("repeated refresh: got %s, want the access_token of %s", lost.Body, second.Body)
	}
	if n := len(lost.Text("expires_in")); n != 4 || lost.Text("expires_in") > "3585" {
		t.Errorf("repeated refresh: expires_in: got %s, want 1000 to 3585", lost.Text("expires_in"))
	}
	for _, a := range []*transcripts.Answer{first, second, lost} { // the first is still within its hour
		if r.whoami(a) != agent {
			t.Error("the token belongs to another agent")
		}
	}
	// second and lost are of one generation.
	third := r.want(r.send(r.refreshing(lost.Text("refresh_token"))), 200, "")
	if again := r.want(r.send(r.refreshing(second.Text("refresh_token"))), 200, ""); again.Text("access_token") != third.Text("access_token") {
		t.Errorf("refreshes with two tokens of one generation: got %s and %s, want the same access token", third.Body, again.Body)
	}
	r.advance(61 * time.Second)
	if a := r.refused(r.send(r.refreshing(second.Text("refresh_token"))), "invalid_grant"); !strings.Contains(a.Text("error_description"), "used before") {
		t.Errorf("repetition after a minute: got %s, want 'used before' in error_description", a.Body)
	}
	r.dead(first, second, lost, third)

	// A token two generations old is refused at once.
	a := r.want(r.send(r.visit().redemption()), 200, "")
	b := r.want(r.send(r.refreshing(a.Text("refresh_token"))), 200, "")
	c := r.want(r.send(r.refreshing(b.Text("refresh_token"))), 200, "")
	r.refused(r.send(r.refreshing(a.Text("refresh_token"))), "invalid_grant")
	r.dead(a, b, c)
}

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

// The replay does not return an access token that was revoked.
func TestRefreshReplayAfterRevocation(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		first := r.want(r.retry(r.visit().redemption()), 200, "")
		again := r.refreshing(first.Text("refresh_token"))
		second := r.want(r.retry(again), 200, "")
		r.want(r.retry(form("/oauth/revoke", "token", second.Text("access_token"))), 200, "")
		r.refused(r.retry(again.Clone()), "invalid_grant")
		r.want(r.retry(r.refreshing(second.Text("refresh_token"))), 200, "")
	})
}

func TestRaceOfRefreshes(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 2 {
			first := r.want(r.retry(r.visit().redemption()), 200, "")
			agent := r.whoami(first)
			q := r.refreshing(first.Text("refresh_token"))
			answers, n := r.settled(q.Clone(), q.Clone(), q.Clone())
			if n[200] != 3 {
				t.Fatalf("round %d: got outcomes %v, want 3 × 200; the first answer is %s", i, n, answers[0].Body)
			}
			for _, a := range answers {
				if r.whoami(a) != agent || a.Text("access_token") != answers[0].Text("access_token") {
					t.Fatalf("round %d: got %s, want the same access token in all answers", i, a.Body)
				}
			}
			next := make([]*transcripts.Request, len(answers))
			for j, a := range answers {
				next[j] = r.refreshing(a.Text("refresh_token"))
			}
			later, n := r.settled(next...)
			if n[200] != 3 || r.whoami(later[2]) != agent {
				t.Fatalf("round %d: got outcomes %v of the next refreshes, want 3 × 200 and the same agent", i, n)
			}
			var grant tables.Grant
			parsed, err := auth.ParseToken(later[0].Text("access_token"))
			if err != nil {
				t.Fatal(err)
			}
			if err := tables.Unmarshal(r.item(tables.GrantKey(agent, parsed.On.Grant)), &grant); err != nil || grant.Generation != 3 {
				t.Fatalf("round %d: got generation %d, %v; want 3", i, grant.Generation, err)
			}
			r.refused(r.retry(q), "invalid_grant")
			r.dead(first, answers[1], later[0])
		}
	})
}

// No token works afterwards.
func TestRaceOfRefreshAndReuse(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			a := r.want(r.retry(r.visit().redemption()), 200, "")
			b := r.want(r.retry(r.refreshing(a.Text("refresh_token"))), 200, "")
			c := r.want(r.retry(r.refreshing(b.Text("refresh_token"))), 200, "")
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

// Only the new access token has fewer scopes.
func TestRefreshNarrows(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	link := r.linkCode(fox, "")
	got := r.want(r.send(r.visit(linked(r, fox, link), func(c *flow.Code) { c.Scopes = []string{"read", "post", "memory"} }).redemption()), 200, "")
	for _, wide := range []string{"read dm", "dm", "everything", "read post memory jury"} {
		r.refused(r.send(r.refreshing(got.Text("refresh_token"), "scope", wide)), "invalid_scope")
	}
	less := r.want(r.send(r.refreshing(got.Text("refresh_token"), "scope", "memory  post")), 200, "")
	r.has(less, "scope", "post memory")
	r.has(r.want(r.send(bearer(less.Text("access_token"), "GET", "/v1/me", "")), 403, "scope_missing"), "error.scope", "read")
	// A repeated refresh gets the same narrow answer.
	r.has(r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, ""), "scope", "post memory", "access_token", less.Text("access_token"))
	if all := r.want(r.send(r.refreshing(less.Text("refresh_token"))), 200, ""); all.Text("scope") != "read post memory" || r.whoami(all) != fox.ID {
		t.Errorf("the next refresh: got %s, want scope read post memory, agent fox", all.Body)
	}
}

// A refresh needs no client_id. A refused refresh does not end the connection.
func TestRefreshChecksTheClient(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
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
