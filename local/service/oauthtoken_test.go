package service_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/shared/identity/seal"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// back is the client's redirect URI.
const back = "http://127.0.0.1/callback"

// visitor is a client with an authorization code.
type visitor struct {
	r              *running
	client         string
	code, verifier string
}

func (r *running) box() *seal.Box {
	r.t.Helper()
	box, err := r.App.Box(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return box
}

// visit registers a client and gives it a code. Each change modifies the code.
func (r *running) visit(change ...func(*flow.Code)) *visitor {
	r.t.Helper()
	v := &visitor{r: r}
	var err error
	v.client, err = flow.SealClient(r.box(), &flow.Registration{Redirects: [][]byte{flow.RedirectDigest(back)}, Name: "A client"})
	if err != nil {
		r.t.Fatal(err)
	}
	v.verifier = rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(v.verifier))
	code := &flow.Code{
		ID: rand.Text()[:22], Client: v.client, Name: "A client", Redirect: back, At: r.App.Now().UnixMilli(),
		Challenge: base64.RawURLEncoding.EncodeToString(sum[:]), Scopes: []string{"read", "post"}, Resource: r.URL + "/mcp",
	}
	for _, c := range change {
		c(code)
	}
	if v.code, err = flow.SealCode(r.box(), code); err != nil {
		r.t.Fatal(err)
	}
	return v
}

// linked binds a code to an agent by a link code.
func linked(r *running, a *transcripts.Agent, link string) func(*flow.Code) {
	hash, _ := auth.LinkCodeHash(link)
	return func(c *flow.Code) { c.Bound = &flow.Bound{Agent: a.ID, Epoch: 1, Link: hash} }
}

// form returns a form request. pairs are names and values.
func form(path string, pairs ...string) *transcripts.Request {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return &transcripts.Request{
		Method: "POST", Target: path, Body: []byte(v.Encode()),
		Header: map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
}

// redemption returns a request for the tokens of the code. pairs override parameters.
func (v *visitor) redemption(pairs ...string) *transcripts.Request {
	q := map[string]string{
		"grant_type": "authorization_code", "code": v.code, "code_verifier": v.verifier, "redirect_uri": back, "client_id": v.client,
	}
	for i := 0; i < len(pairs); i += 2 {
		q[pairs[i]] = pairs[i+1]
	}
	var all []string
	for name, value := range q {
		all = append(all, name, value)
	}
	return form("/oauth/token", all...)
}

func (r *running) refreshing(token string, pairs ...string) *transcripts.Request {
	return form("/oauth/token", append([]string{"grant_type", "refresh_token", "refresh_token", token}, pairs...)...)
}

// refused fails the test unless an answer is an error in the form of RFC 6749 5.2.
func (r *running) refused(a *transcripts.Answer, name string) *transcripts.Answer {
	r.t.Helper()
	if want := map[bool]int{true: 401, false: 400}[name == "invalid_client"]; a.Status != want || a.Text("error") != name || a.Text("error_description") == "" || a.Text("error_uri") == "" {
		r.t.Fatalf("a refused request: got %d %s, want %d %s with a description and a URI", a.Status, a.Body, want, name)
	}
	return a
}

// dead fails the test if any token of the answers still works.
func (r *running) dead(answers ...*transcripts.Answer) {
	r.t.Helper()
	for _, a := range answers {
		r.want(r.retry(bearer(a.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		r.refused(r.retry(r.refreshing(a.Text("refresh_token"))), "invalid_grant")
	}
}

// whoami returns the agent of an answer's access token, which must work.
func (r *running) whoami(a *transcripts.Answer) string {
	r.t.Helper()
	return r.want(r.retry(bearer(a.Text("access_token"), "GET", "/v1/me", "")), 200, "").Text("id")
}

// If the client redeems its code again, the connection ends.
func TestCodeReplay(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	link := r.linkCode(fox, `{"uses":20}`)
	for name, bound := range map[string][]func(*flow.Code){"unlinked": nil, "linked": {linked(r, fox, link)}} {
		for when, wait := range map[string]time.Duration{"at once": 0, "late": time.Hour} {
			v := r.visit(bound...)
			got := r.want(r.send(v.redemption()), 200, "")
			agent := r.whoami(got)
			if (agent == fox.ID) != (bound != nil) {
				t.Errorf("%s: agent of the token: got %s, want %s only if linked", name, agent, fox.ID)
			}
			again := r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
			if wait > 0 {
				r.advance(wait - 5*time.Minute)
				again = r.want(r.send(r.refreshing(again.Text("refresh_token"))), 200, "")
				r.advance(5 * time.Minute)
			}
			// Others cannot end the connection with the code.
			r.refused(r.send(v.redemption("code_verifier", strings.Repeat("x", 43))), "invalid_grant")
			r.refused(r.send(v.redemption("client_id", "https://client.example/other")), "invalid_grant")
			if r.whoami(again) != agent {
				t.Errorf("%s, %s: the token belongs to another agent", name, when)
			}
			if a := r.refused(r.send(v.redemption()), "invalid_grant"); !strings.Contains(a.Text("error_description"), "used before") {
				t.Errorf("%s, %s: got %s, want 'used before' in error_description", name, when, a.Body)
			}
			r.dead(got, again)
			r.refused(r.send(v.redemption()), "invalid_grant")
		}
	}
	v := r.visit()
	r.advance(flow.CodeLives)
	if a := r.refused(r.send(v.redemption()), "invalid_grant"); !strings.Contains(a.Text("error_description"), "expired") {
		t.Errorf("an expired code: got %s, want 'expired' in error_description", a.Body)
	}
}

// At most one redemption gets tokens. The other revokes them.
func TestRaceOfTwoRedemptions(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() / 2 {
			var bound []func(*flow.Code)
			if i%2 == 1 {
				link := r.linkCode(fox, "")
				bound = append(bound, linked(r, fox, link))
			}
			v := r.visit(bound...)
			answers, n := r.settledOnce(v.redemption(), v.redemption())
			if n[200] > 1 || n[200]+n[400] != 2 {
				t.Fatalf("round %d: got outcomes %v, want 200 and 400, or 400 twice; the answers are %s and %s", i, n, answers[0].Body, answers[1].Body)
			}
			for _, a := range answers {
				if a.Status == 200 {
					r.dead(a)
				} else {
					r.refused(a, "invalid_grant")
				}
			}
		}
	})
}

// A refused redemption does not use the code up.
func TestRedemptionRefusals(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	v, other := r.visit(), r.visit()
	for _, c := range []struct {
		what, name, value, error string
	}{
		{"the wrong verifier", "code_verifier", other.verifier, "invalid_grant"},
		{"a short verifier", "code_verifier", "x", "invalid_grant"},
		{"an invented verifier", "code_verifier", strings.Repeat("a", 43), "invalid_grant"},
		{"no verifier", "code_verifier", "", "invalid_request"},
		{"another client", "client_id", "https://client.example/metadata", "invalid_grant"},
		{"another registered client", "client_id", r.visit().client, "invalid_grant"},
		{"an unknown client", "client_id", "dcr_nonsense", "invalid_client"},
		{"no client", "client_id", "", "invalid_request"},
		{"another redirect", "redirect_uri", "http://127.0.0.1/other", "invalid_grant"},
		{"another port", "redirect_uri", "http://127.0.0.1:81/callback", "invalid_grant"},
		{"no code", "code", "", "invalid_request"},
		{"a damaged code", "code", v.code[:9] + string("AB"[b2i(v.code[9] == 'A')]) + v.code[10:], "invalid_grant"},
		{"another client's code", "code", other.code, "invalid_grant"},
		{"the client as code", "code", strings.TrimPrefix(v.client, "dcr_"), "invalid_grant"},
		{"another resource", "resource", "https://y.example/mcp", "invalid_target"},
		{"the resource without its path", "resource", r.URL, "invalid_target"},
		{"another grant type", "grant_type", "password", "unsupported_grant_type"},
		{"no grant type", "grant_type", "", "invalid_request"},
	} {
		t.Log(c.what)
		r.refused(r.send(v.redemption(c.name, c.value)), c.error)
	}
	twice := v.redemption()
	twice.Body = append(twice.Body, "&code=x"...)
	r.refused(r.send(twice), "invalid_request")
	inURL := v.redemption()
	inURL.Target += "?client_id=x"
	r.refused(r.send(inURL), "invalid_request")
	basic := v.redemption()
	basic.Header.Set("Authorization", "Basic eDp5")
	r.refused(r.send(basic), "invalid_client")

	// The endpoint also takes JSON, with errors in the form of this service.
	body := map[string]string{
		"grant_type": "authorization_code", "code": v.code, "code_verifier": other.verifier, "redirect_uri": back, "client_id": v.client,
	}
	asJSON := func() *transcripts.Request {
		return &transcripts.Request{Method: "POST", Target: "/oauth/token", Body: []byte(encode(body)), Header: map[string][]string{"Content-Type": {"application/json"}}}
	}
	r.want(r.send(asJSON()), 400, "invalid_grant")
	body["code_verifer"] = "misspelt"
	r.want(r.send(asJSON()), 400, "invalid_request")
	delete(body, "code_verifer")
	body["code_verifier"] = v.verifier
	got := r.want(r.send(asJSON()), 200, "")
	if got.Text("token_type") != "Bearer" || got.Text("expires_in") != "3600" || got.Text("scope") != "read post" ||
		!strings.HasPrefix(got.Text("access_token"), "ast_") || !strings.HasPrefix(got.Text("refresh_token"), "asr_") ||
		!strings.Contains(got.Header.Get("Cache-Control"), "no-store") || got.Header.Get("Pragma") != "no-cache" ||
		got.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("redemption in JSON: got headers %v and %s, want both tokens for an hour, the scopes, no caching, and any origin allowed", got.Header, got.Body)
	}
	if got.Text("next.0.do") != "GET /v1/signup/puzzle" {
		t.Errorf("next: got %s, want next.0.do GET /v1/signup/puzzle", got.Body)
	}
}

func TestTokensSurviveLostCommitAnswers(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	var lost atomic.Int64
	r.embedded().SetFaults(func(kind string, keys []tables.Key) embedded.Fault {
		if kind == embedded.KindCommit && lost.Add(1)%2 == 1 {
			return embedded.LostAnswer
		}
		return embedded.None
	})
	got := r.want(r.send(r.visit().redemption()), 200, "")
	for range 5 {
		agent := r.whoami(got)
		got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
		if r.whoami(got) != agent {
			t.Fatal("the token belongs to another agent")
		}
	}
	fox := r.join("fox")
	r.want(r.send(r.assertion(fox, nil)), 200, "")
	if lost.Load() < 10 {
		t.Errorf("commits: got %d, want at least 10", lost.Load())
	}
}

// Getting tokens counts against the agent's limit of writes.
func TestTokensAreLimited(t *testing.T) {
	t.Parallel()
	s := generous()
	s.Limits.WritesPerMinute = 3
	r := run(t, service.Config{Settings: s})
	fox := r.join("fox")
	r.advance(time.Minute)
	link := r.linkCode(fox, "")
	got := r.want(r.send(r.visit(linked(r, fox, link)).redemption()), 200, "")
	now := r.App.Now()
	r.advance(now.Truncate(time.Minute).Add(time.Minute + time.Second).Sub(now))
	for range 2 {
		r.want(r.send(r.assertion(fox, nil)), 200, "")
	}
	got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
	for _, q := range []*transcripts.Request{r.assertion(fox, nil), r.refreshing(got.Text("refresh_token"))} {
		if a := r.send(q); a.Status != 429 || a.Text("error") != "temporarily_unavailable" || a.Header.Get("Retry-After") == "" {
			t.Errorf("at the limit: got %d %s, want 429, error temporarily_unavailable, Retry-After", a.Status, a.Body)
		}
	}
	r.advance(time.Minute)
	r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
}

func TestWWWAuthenticate(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	metadata := `resource_metadata="` + r.URL + `/.well-known/oauth-protected-resource/mcp"`
	link := r.linkCode(fox, "")
	got := r.want(r.send(r.visit(linked(r, fox, link), func(c *flow.Code) { c.Scopes = []string{"read", "jury"} }).redemption()), 200, "")
	header := func(a *transcripts.Answer) string { return a.Header.Get("WWW-Authenticate") }

	none := header(r.want(r.call(nil, "GET", "/v1/me", ""), 401, "unauthenticated"))
	if !strings.HasPrefix(none, "Bearer ") || !strings.Contains(none, metadata) || !strings.Contains(none, `scope="read post memory jury"`) || strings.Contains(none, "error") {
		t.Errorf("without a token: got %s, want the metadata and scopes, and no error", none)
	}
	r.want(r.send(form("/oauth/revoke", "token", got.Text("access_token"))), 200, "")
	bad := header(r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token"))
	if !strings.Contains(bad, `error="invalid_token"`) || !strings.Contains(bad, metadata) {
		t.Errorf("with a revoked token: got %s, want the metadata and invalid_token", bad)
	}
	got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
	scope := header(r.want(r.send(bearer(got.Text("access_token"), "POST", "/v1/c/lounge/posts", `{"body":"hi"}`)), 403, "scope_missing"))
	if !strings.Contains(scope, `error="insufficient_scope"`) || !strings.Contains(scope, `scope="read post jury"`) || !strings.Contains(scope, metadata) {
		t.Errorf("without the scope: got %s, want the metadata, insufficient_scope and the scopes to ask for", scope)
	}
	if signed := r.call(transcripts.NewAgent("nobody"), "GET", "/v1/me", ""); signed.Status != 401 || strings.Contains(header(signed), "error=") {
		t.Errorf("with a signature by an unknown key: got %d %s, want 401 and no error", signed.Status, header(signed))
	}
}

// redirect_uri may be omitted at the token endpoint (OAuth 2.1).
func TestRedirectURIMayBeLeftOut(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	r.want(r.send(r.visit().redemption("redirect_uri", "")), 200, "")
}

// Every resource must belong to this service and match the code's resource (RFC 8707).
func TestSeveralResources(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	with := func(v *visitor, resources ...string) *transcripts.Request {
		q := v.redemption()
		for _, resource := range resources {
			q.Body = append(q.Body, "&resource="+url.QueryEscape(resource)...)
		}
		return q
	}
	v := r.visit()
	for _, bad := range [][]string{{r.URL + "/mcp", "https://y.example"}, {"https://y.example", r.URL + "/mcp"}, {r.URL + "/mcp", r.URL}} {
		r.refused(r.send(with(v, bad...)), "invalid_target")
	}
	r.want(r.send(with(v, r.URL+"/mcp", r.URL+"/mcp/")), 200, "")
	any := r.visit(func(c *flow.Code) { c.Resource = "" })
	r.want(r.send(with(any, r.URL+"/mcp", r.URL)), 200, "")
}

// Some clients send a bearer token with every request. The OAuth endpoints ignore it.
func TestStaleBearerIsIgnored(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	registration := func() *transcripts.Request {
		return &transcripts.Request{Method: "POST", Target: "/oauth/register", Body: []byte(`{"redirect_uris":["` + back + `"]}`), Header: map[string][]string{"Content-Type": {"application/json"}}}
	}
	dead, _, err := auth.MintToken("ag_01j9z3k4m5n6p7q8r9s0t1v2w3", "tk_01j9z3k4m5n6p7q8r9s0t1v2w3", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var got *transcripts.Answer
	for _, header := range []string{"Bearer " + dead, "bearer nonsense", "Bearer"} {
		got = r.want(r.send(withHeader(r.visit().redemption(), "Authorization", header)), 200, "")
		got = r.want(r.send(withHeader(r.refreshing(got.Text("refresh_token")), "Authorization", header)), 200, "")
		r.want(r.send(withHeader(form("/oauth/revoke", "token", got.Text("refresh_token")), "Authorization", header)), 200, "")
		r.dead(got)
		r.want(r.send(withHeader(registration(), "Authorization", header)), 201, "")
	}
	for _, q := range []*transcripts.Request{r.visit().redemption(), form("/oauth/revoke", "token", "x"), registration()} {
		r.refused(r.send(withHeader(q, "Authorization", "Basic eDp5")), "invalid_client")
	}
}

// A client that sends its client_id can revoke only its own tokens (RFC 7009 2.1).
func TestRevokeChecksTheClient(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	v := r.visit()
	got := r.want(r.send(v.redemption()), 200, "")
	for _, kind := range []string{"access_token", "refresh_token"} {
		r.refused(r.send(form("/oauth/revoke", "token", got.Text(kind), "client_id", "https://client.example/another")), "invalid_grant")
		r.whoami(got)
	}
	r.want(r.send(form("/oauth/revoke", "token", got.Text("access_token"), "client_id", v.client)), 200, "")
	r.want(r.bearer(got.Text("access_token"), "GET", "/v1/me", ""), 401, "bad_token")
	r.want(r.send(form("/oauth/revoke", "token", got.Text("refresh_token"), "client_id", v.client)), 200, "")
	r.dead(got)
	r.want(r.send(form("/oauth/revoke", "token", got.Text("refresh_token"), "client_id", v.client)), 200, "") // a revoked token gets 200, too
}

// Forged credentials have a limit of their own for each address. Above it, credentials that were
// accepted that day still work, and so do requests without one.
func TestForgedCredentialsAreLimited(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr, settings.MaxReads = true, 50
	r := run(t, service.Config{Settings: settings})
	fox, owl := r.join("fox"), r.join("owl")
	r.toMinute()
	r.want(r.call(fox, "GET", "/v1/me", ""), 200, "")
	forged := func() *transcripts.Answer {
		value, _, err := auth.MintToken(fox.ID, "tk_01j9z3k4m5n6p7q8r9s0t1v2w3", rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return r.bearer(value, "GET", "/v1/me", "")
	}
	until := func(what string, ask func() *transcripts.Answer, status int) {
		t.Helper()
		for n := range 2000 {
			if a := ask(); a.Status == 429 {
				if n < 6 {
					t.Errorf("%s: refused after %d requests, want at least 6", what, n)
				}
				return
			} else if a.Status != status {
				t.Fatalf("%s: got %d %s, want %d", what, a.Status, a.Body, status)
			}
		}
		t.Errorf("%s: got no 429 for 2000 requests, want one", what)
	}
	until("forged tokens", forged, 401)
	for range 20 {
		r.want(forged(), 429, "rate_limited")
	}
	r.want(r.call(fox, "GET", "/v1/me", ""), 200, "") // this process has accepted its key today
	for range 500 {
		forged()
	}
	r.want(r.call(nil, "GET", "/v1/channels", ""), 200, "") // requests without a credential are counted separately
	r.advance(time.Minute)
	r.want(r.call(owl, "GET", "/v1/me", ""), 200, "")
	r.want(forged(), 401, "bad_token")

	until("registrations", func() *transcripts.Answer {
		return r.send(&transcripts.Request{Method: "POST", Target: "/oauth/register", Body: []byte(`{"redirect_uris":["` + back + `"]}`), Header: map[string][]string{"Content-Type": {"application/json"}}})
	}, 201)
}
