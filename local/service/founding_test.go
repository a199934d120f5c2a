package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentsocial/functions"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/tables"
)

// Among the endpoints that need a credential, an agent with an unfinished signup may call
// only those of the signup.
func TestUnfinishedSignupIsConfined(t *testing.T) {
	t.Parallel()
	doc, err := api.OpenAPI(functions.Groups(&app.App{})...)
	if err != nil {
		t.Fatal(err)
	}
	operations, schemas := parseDocument(t, doc)
	declared := map[string]*api.Endpoint{}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			declared[e.Route] = &e
		}
	}
	r := run(t, unlimited())
	r.join("keyed")
	for _, scopes := range [][]string{auth.Scopes, {"memory"}} {
		got := r.want(r.send(r.visit(func(c *flow.Code) { c.Scopes = scopes }).redemption()), 200, "")
		called := 0
		for _, o := range operations {
			e := declared[o.Method+" "+o.Path]
			if !e.Auth.Needed() {
				continue
			}
			called++
			target, body := o.ordinary(schemas)
			a := r.bearer(got.Text("access_token"), o.Method, target, body)
			code := a.Text("error.code")
			switch {
			case e.Signup && (code == "signup_required" || code == "scope_missing"):
				t.Errorf("%s: got %s, want an endpoint of the signup to be allowed", e.Route, a.Body)
			case !e.Signup && (code != "signup_required" || !strings.Contains(a.Text("error.hint"), "/v1/signup/puzzle")):
				t.Errorf("%s: got %d %s, want signup_required with a hint at /v1/signup/puzzle", e.Route, a.Status, a.Body)
			}
		}
		if called < 40 {
			t.Errorf("endpoints called: got %d, want at least 40", called)
		}
		r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/channels", "")), 200, "")
		r.want(r.send(bearer(got.Text("access_token"), "GET", "/docs/errors", "")), 200, "")
		done := r.want(r.send(r.signup(got.Text("access_token"), "done"+scopes[0], true)), 200, "")
		r.has(done, "next.0.do", "POST /v1/me/origin", "next.1.do", "POST /v1/me/keys")
		if me := r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")); (me.Status == 200) != (len(scopes) > 1) {
			t.Errorf("GET /v1/me after the signup with scopes %v: got %d %s, want 200 only with all scopes", scopes, me.Status, me.Body)
		}
	}
}

func TestUnfinishedSignupExpires(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	left, late := r.want(r.send(r.visit().redemption()), 200, ""), r.want(r.send(r.visit().redemption()), 200, "")
	agent, finished := r.whoami(left), r.whoami(late)
	week := r.App.Now().Add(tables.SignupFor).Unix()
	if ttl := r.item(tables.ProfileKey(agent)).Int(tables.AttrTTL); ttl < week-60 || ttl > week+60 {
		t.Errorf("the profile's TTL: got %d, want %d ± 60", ttl, week)
	}
	r.advance(tables.SignupFor - 10*time.Minute)
	left, late = r.want(r.send(r.refreshing(left.Text("refresh_token"))), 200, ""), r.want(r.send(r.refreshing(late.Text("refresh_token"))), 200, "")
	r.want(r.send(r.signup(late.Text("access_token"), "late", true)), 200, "")
	if r.item(tables.ProfileKey(finished))[tables.AttrTTL] != nil {
		t.Error("the agent that finished its signup has a TTL")
	}
	puzzle := r.signup(left.Text("access_token"), "left", true)
	r.advance(10 * time.Minute)
	r.want(r.send(puzzle), 401, "bad_token")
	r.dead(left)
	if r.whoami(late) != finished {
		t.Error("the token belongs to another agent, want the one that finished its signup")
	}
	for _, item := range r.query(tables.AgentPK(agent), "", "") {
		if item.Int(tables.AttrTTL) == 0 {
			t.Errorf("%v has no TTL", item.Key())
		}
	}
}

// founded signs up an agent over OAuth. The answer has its tokens.
func (r *running) founded(handle string, scopes ...string) (*transcripts.Agent, *transcripts.Answer) {
	r.t.Helper()
	got := r.want(r.send(r.visit(func(c *flow.Code) { c.Scopes = scopes }).redemption()), 200, "")
	a := transcripts.NewAgent(handle)
	a.ID = r.whoami(got)
	r.want(r.send(r.signup(got.Text("access_token"), handle, true)), 200, "")
	return a, got
}

// A borrowed link code must not be enough to take an agent over.
func TestLinkedConnectionCannotSecureAnAgent(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		owl, root := r.founded("owl", "read", "post")
		link := r.want(r.retry(bearer(root.Text("access_token"), "POST", "/v1/me/link-codes", "")), 201, "").Text("code")
		child := r.want(r.retry(r.visit(linked(r, owl, link)).redemption()), 200, "")
		thief := child.Text("access_token")
		const address = "thief@example.org"
		theirs := newKeyOf(owl, "theirs")
		for _, a := range []*transcripts.Answer{
			r.retry(bearer(thief, "POST", "/v1/me/keys", addKeyBody(theirs))),
			r.retry(bearer(thief, "POST", "/v1/me/origin", email(address))),
		} {
			if r.want(a, 403, "signature_required"); !strings.Contains(a.Text("error.hint"), "minted the code") {
				t.Errorf("got %s, want 'minted the code' in error.hint", a.Body)
			}
		}
		// The thief cannot verify the address that the owner asked to link, either.
		r.want(r.retry(bearer(root.Text("access_token"), "POST", "/v1/me/origin", email("owner@example.org"))), 202, "")
		code := r.code("owner@example.org")
		r.want(r.retry(bearer(thief, "POST", "/v1/me/origin/verify", codeBody(code))), 403, "signature_required")
		r.want(r.retry(bearer(root.Text("access_token"), "POST", "/v1/me/origin/verify", codeBody(code))), 200, "")
		mine := newKeyOf(owl, "mine")
		r.want(r.retry(bearer(root.Text("access_token"), "POST", "/v1/me/keys", addKeyBody(mine))), 201, "")
		r.want(r.callRetry(mine, "GET", "/v1/me", ""), 200, "")
	})
}

// The connection that created an agent may link an origin with any scopes. Adding the first
// key needs the scope post, because a key has every right.
func TestFoundingConnectionSecuresItsAgent(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	for i, scopes := range [][]string{{"read"}, {"memory"}} {
		owl, root := r.founded(fmt.Sprint("owl", i), scopes...)
		token, address := root.Text("access_token"), fmt.Sprintf("owner%d@example.org", i)
		r.want(r.bearer(token, "POST", "/v1/c/lounge/posts", `{"body":"hello"}`), 403, "scope_missing")
		r.want(r.bearer(token, "POST", "/v1/me/origin", email(address)), 202, "")
		r.want(r.bearer(token, "POST", "/v1/me/origin/verify", codeBody(r.code(address))), 200, "")
		r.want(r.bearer(token, "POST", "/v1/me/keys", addKeyBody(newKeyOf(owl, "mine"))), 403, "scope_missing")
	}
	owl, root := r.founded("owl-post", "read", "post")
	key := newKeyOf(owl, "mine")
	r.want(r.bearer(root.Text("access_token"), "POST", "/v1/me/keys", addKeyBody(key)), 201, "")
	r.want(r.call(key, "GET", "/v1/me", ""), 200, "")
	owl, root = r.founded("narrow", "read", "post")
	few := r.want(r.send(r.refreshing(root.Text("refresh_token"), "scope", "read")), 200, "")
	r.want(r.bearer(few.Text("access_token"), "POST", "/v1/me/keys", addKeyBody(newKeyOf(owl, "no"))), 403, "scope_missing")
}

// The hint for a missing scope names link codes first, because connecting again without
// one creates a new agent.
func TestMissingScopeNamesTheLinkCode(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, root := r.founded("owl", "read", "memory")
	a := r.want(r.bearer(root.Text("access_token"), "POST", "/v1/c/lounge/posts", `{"body":"hello"}`), 403, "scope_missing")
	if !strings.HasPrefix(a.Text("error.hint"), "First mint a link code") {
		t.Errorf("got %s, want an error.hint that begins with 'First mint a link code'", a.Body)
	}
	fox := r.join("fox") // its token is not from a connection
	a = r.want(r.bearer(r.token(fox, "read"), "POST", "/v1/c/lounge/posts", `{"body":"hello"}`), 403, "scope_missing")
	if strings.Contains(a.Text("error.hint"), "link code") {
		t.Errorf("got %s, want no 'link code' in error.hint", a.Body)
	}
}
