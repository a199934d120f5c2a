package service_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
)

// assertion is a token request with a JWT of an agent's; claims take the place of
// what would be right.
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

// An assertion gives a token for an hour, once; of no key but the agent's own.
func TestAssertion(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox, owl := r.join("fox"), r.join("owl")
	got := r.want(r.send(r.assertion(fox, nil)), 200, "")
	if got.Text("scope") != "read post jury" || got.Text("expires_in") != "3600" || got.Text("refresh_token") != "" || r.whoami(got) != fox.ID {
		t.Errorf("%s", got.Body)
	}
	if some := r.want(r.send(r.assertion(fox, map[string]any{"aud": []string{r.URL + "/oauth/token"}}, "scope", "dm memory")), 200, ""); some.Text("scope") != "memory dm" {
		t.Errorf("%s", some.Body)
	}
	now := r.App.Now().Unix()
	stranger := transcripts.NewAgent("stranger")
	stranger.ID = fox.ID
	for what, q := range map[string]*transcripts.Request{
		"another aud":       r.assertion(fox, map[string]any{"aud": "https://y.example"}),
		"expired":           r.assertion(fox, map[string]any{"iat": now - 200, "exp": now - 1}),
		"a long life":       r.assertion(fox, map[string]any{"exp": now + 1000}),
		"another's name":    r.assertion(fox, map[string]any{"iss": owl.ID, "sub": owl.ID}),
		"no agent's name":   r.assertion(fox, map[string]any{"iss": "fox", "sub": "fox"}),
		"no agent":          r.assertion(fox, map[string]any{"iss": "ag_01j9z3k4m5n6p7q8r9s0t1v2w3", "sub": "ag_01j9z3k4m5n6p7q8r9s0t1v2w3"}),
		"a key of nobody's": r.assertion(stranger, nil),
		"no JWT":            form("/oauth/token", "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion", "x"),
	} {
		t.Log(what)
		r.refused(r.send(q), "invalid_grant")
	}
	r.refused(r.send(r.assertion(fox, nil, "scope", "read everything")), "invalid_scope")
	r.refused(r.send(r.assertion(fox, nil, "resource", "https://y.example")), "invalid_target")
	r.refused(r.send(form("/oauth/token", "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")), "invalid_request")

	// Each once: the jti is what counts, and it is each agent's own.
	q := r.assertion(fox, map[string]any{"jti": "mine"})
	r.want(r.send(q), 200, "")
	if a := r.refused(r.send(q), "invalid_grant"); !strings.Contains(a.Text("error_description"), "jti") {
		t.Errorf("%s", a.Body)
	}
	r.refused(r.send(r.assertion(fox, map[string]any{"jti": "mine"})), "invalid_grant")
	r.want(r.send(r.assertion(owl, map[string]any{"jti": "mine"})), 200, "")

	// A key that was removed signs nothing more, and the tokens of what it signed
	// before are worth nothing; not that of another key, which goes by the clock.
	second := r.addKey(fox, "second")
	its := r.want(r.send(r.assertion(second, nil)), 200, "")
	r.whoami(its)
	r.want(r.bearer(its.Text("access_token"), "POST", "/v1/me/link-codes", ""), 403, "signature_required") // it would outlive the key
	late := r.assertion(second, nil)
	r.want(r.call(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
	r.refused(r.send(late), "invalid_grant")
	r.want(r.bearer(its.Text("access_token"), "GET", "/v1/me", ""), 401, "bad_token")
	r.addKey(fox, "second") // added again, it is another one
	r.want(r.bearer(its.Text("access_token"), "GET", "/v1/me", ""), 401, "bad_token")
	r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 200, "")
	if keys := r.call(fox, "GET", "/v1/me/keys", ""); keys.Text("items.0.last_used_at") == "null" {
		t.Errorf("%s", keys.Body)
	}
	if list := r.call(fox, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "0" {
		t.Errorf("%s", list.Body)
	}
	r.advance(time.Hour)
	r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
}

// Of one assertion sent several times at once one gives a token.
func TestRaceOfOneAssertion(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() / 4 {
			q := r.assertion(fox, nil)
			answers, n := r.settledOnce(q.Clone(), q.Clone(), q.Clone())
			if n[200] > 1 || n[200]+n[400] != 3 {
				t.Fatalf("round %d: %v: %s", i, n, answers[0].Body)
			}
		}
	})
}
