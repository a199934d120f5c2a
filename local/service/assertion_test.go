package service_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
)

// assertion returns a token request with a JWT that the agent signed. claims overrides the
// valid claims.
func (r *running) assertion(a *transcripts.Agent, claims map[string]any, more ...string) *transcripts.Request {
	now := r.moment()
	all := map[string]any{"iss": a.ID, "sub": a.ID, "aud": r.URL, "iat": now.Unix(), "exp": now.Unix() + 120, "jti": rand.Text()}
	for name, v := range claims {
		all[name] = v
	}
	return form("/oauth/token", append([]string{
		"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion", a.JWT(all),
	}, more...)...)
}

func TestAssertion(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := r.join("fox"), r.join("owl")
	got := r.want(r.send(r.assertion(fox, nil)), 200, "")
	if got.Text("scope") != "read post jury" || got.Text("expires_in") != "3600" || got.Text("refresh_token") != "" || r.whoami(got) != fox.ID {
		t.Errorf("got %s, want scope read post jury, expires_in 3600, refresh_token empty, agent fox", got.Body)
	}
	r.has(r.want(r.send(r.assertion(fox, map[string]any{"aud": []string{r.URL + "/oauth/token"}}, "scope", "dm memory")), 200, ""), "scope", "memory dm")
	now := r.App.Now().Unix()
	stranger := transcripts.NewAgent("stranger")
	stranger.ID = fox.ID
	for what, q := range map[string]*transcripts.Request{
		"another aud":    r.assertion(fox, map[string]any{"aud": "https://y.example"}),
		"expired":        r.assertion(fox, map[string]any{"iat": now - 200, "exp": now - 1}),
		"a long life":    r.assertion(fox, map[string]any{"exp": now + 1000}),
		"another's ID":   r.assertion(fox, map[string]any{"iss": owl.ID, "sub": owl.ID}),
		"a handle":       r.assertion(fox, map[string]any{"iss": "fox", "sub": "fox"}),
		"an unknown ID":  r.assertion(fox, map[string]any{"iss": "ag_01j9z3k4m5n6p7q8r9s0t1v2w3", "sub": "ag_01j9z3k4m5n6p7q8r9s0t1v2w3"}),
		"an unknown key": r.assertion(stranger, nil),
		"no JWT":         form("/oauth/token", "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion", "x"),
	} {
		t.Log(what)
		r.refused(r.send(q), "invalid_grant")
	}
	r.refused(r.send(r.assertion(fox, nil, "scope", "read everything")), "invalid_scope")
	r.refused(r.send(r.assertion(fox, nil, "resource", "https://y.example")), "invalid_target")
	r.refused(r.send(form("/oauth/token", "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")), "invalid_request")

	// A jti is good once per agent.
	q := r.assertion(fox, map[string]any{"jti": "mine"})
	r.want(r.send(q), 200, "")
	if a := r.refused(r.send(q), "invalid_grant"); !strings.Contains(a.Text("error_description"), "jti") {
		t.Errorf("got %s, want 'jti' in error_description", a.Body)
	}
	r.refused(r.send(r.assertion(fox, map[string]any{"jti": "mine"})), "invalid_grant")
	r.want(r.send(r.assertion(owl, map[string]any{"jti": "mine"})), 200, "")

	// Removing a key revokes only the tokens of its own assertions.
	second := r.addKey(fox, "second")
	its := r.want(r.send(r.assertion(second, nil)), 200, "")
	r.whoami(its)
	r.want(r.bearer(its.Text("access_token"), "POST", "/v1/me/link-codes", ""), 403, "signature_required") // a link code would outlive the key
	late := r.assertion(second, nil)
	r.want(r.call(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
	r.refused(r.send(late), "invalid_grant")
	r.want(r.bearer(its.Text("access_token"), "GET", "/v1/me", ""), 401, "bad_token")
	r.addKey(fox, "second") // the same key added again revives nothing
	r.want(r.bearer(its.Text("access_token"), "GET", "/v1/me", ""), 401, "bad_token")
	r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 200, "")
	if keys := r.call(fox, "GET", "/v1/me/keys", ""); keys.Text("items.0.last_used_at") == "null" {
		t.Errorf("got %s, want items.0.last_used_at set", keys.Body)
	}
	r.has(r.call(fox, "GET", "/v1/me/tokens", ""), "items.len", "0")
	r.advance(time.Hour)
	r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
}

func TestRaceOfOneAssertion(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() / 4 {
			q := r.assertion(fox, nil)
			answers, n := r.settledOnce(q.Clone(), q.Clone(), q.Clone())
			if n[200] > 1 || n[200]+n[400] != 3 {
				t.Fatalf("round %d: got statuses %v, want at most one 200, and 400 for the rest; the first answer is %s", i, n, answers[0].Body)
			}
		}
	})
}
