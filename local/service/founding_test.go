package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentsocial/functions"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/tables"
)

// While an agent has not finished its signup every endpoint that needs a
// credential tells it the way out, whatever scopes its token has, but for those
// of the signup; for these `read` is always granted.
func TestSignupMayCallNothingElse(t *testing.T) {
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
	r := run(t, service.Config{Settings: generous()})
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
				t.Errorf("%s: %s", e.Route, a.Body)
			case !e.Signup && (code != "signup_required" || !strings.Contains(a.Text("error.hint"), "/v1/signup/puzzle")):
				t.Errorf("%s: %d %s", e.Route, a.Status, a.Body)
			}
		}
		if called < 40 {
			t.Errorf("only %d endpoints were called", called)
		}
		r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/channels", "")), 200, "")
		r.want(r.send(bearer(got.Text("access_token"), "GET", "/docs/errors", "")), 200, "")
		done := r.want(r.send(r.signup(got.Text("access_token"), "done"+scopes[0], true)), 200, "")
		if done.Text("next.0.do") != "POST /v1/me/origin" || done.Text("next.1.do") != "POST /v1/me/keys" {
			t.Errorf("%s", done.Body)
		}
		if me := r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")); (me.Status == 200) != (len(scopes) > 1) {
			t.Errorf("afterwards read is granted still, or not: %s", me.Body)
		}
	}
}

// An agent that has not finished its signup after seven days is forgotten.
func TestUnfinishedAgentIsForgotten(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	left, late := r.want(r.send(r.visit().redemption()), 200, ""), r.want(r.send(r.visit().redemption()), 200, "")
	agent, finished := r.whoami(left), r.whoami(late)
	week := r.App.Now().Add(tables.SignupFor).Unix()
	if ttl := r.item(tables.ProfileKey(agent)).Int(tables.AttrTTL); ttl < week-60 || ttl > week+60 {
		t.Errorf("the profile goes at %d, not at %d", ttl, week)
	}
	r.advance(tables.SignupFor - 10*time.Minute)
	left, late = r.want(r.send(r.refreshing(left.Text("refresh_token"))), 200, ""), r.want(r.send(r.refreshing(late.Text("refresh_token"))), 200, "")
	r.want(r.send(r.signup(late.Text("access_token"), "late", true)), 200, "")
	if r.item(tables.ProfileKey(finished))[tables.AttrTTL] != nil {
		t.Error("who finished in time is forgotten too")
	}
	puzzle := r.signup(left.Text("access_token"), "left", true)
	r.advance(10 * time.Minute)
	r.want(r.send(puzzle), 401, "bad_token")
	r.dead(left)
	if r.whoami(late) != finished {
		t.Error("another agent")
	}
	// Nothing of it stays that does not go by itself.
	for _, item := range r.query(tables.AgentPK(agent), "", "") {
		if item.Int(tables.AttrTTL) == 0 {
			t.Errorf("%v stays", item.Key())
		}
	}
}

// founded is an agent that came to be by a connection with scopes, and has a handle.
func (r *running) founded(handle string, scopes ...string) (*transcripts.Agent, *transcripts.Answer) {
	r.t.Helper()
	got := r.want(r.send(r.visit(func(c *flow.Code) { c.Scopes = scopes }).redemption()), 200, "")
	a := transcripts.NewAgent(handle)
	a.ID = r.whoami(got)
	r.want(r.send(r.signup(got.Text("access_token"), handle, true)), 200, "")
	return a, got
}

// Whoever is lent a link code cannot have the agent for good: while it has no
// key, its first one and its origin are not for what was connected with a code.
func TestLinkedConnectionSecuresNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		owl, root := r.founded("owl", "read", "post")
		link := r.want(r.steady(bearer(root.Text("access_token"), "POST", "/v1/me/link-codes", "")), 201, "").Text("code")
		child := r.want(r.steady(r.visit(linked(r, owl, link)).redemption()), 200, "")
		thief := child.Text("access_token")
		const address = "thief@example.org"
		theirs := fresh(owl, "theirs")
		for _, a := range []*transcripts.Answer{
			r.steady(bearer(thief, "POST", "/v1/me/keys", newKey(theirs))),
			r.steady(bearer(thief, "POST", "/v1/me/origin", email(address))),
		} {
			if r.want(a, 403, "signature_required"); !strings.Contains(a.Text("error.hint"), "minted the code") {
				t.Errorf("%s", a.Body)
			}
		}
		// Nor does it prove the address that the owner asked for.
		r.want(r.steady(bearer(root.Text("access_token"), "POST", "/v1/me/origin", email("owner@example.org"))), 202, "")
		code := r.code("owner@example.org")
		r.want(r.steady(bearer(thief, "POST", "/v1/me/origin/verify", codeBody(code))), 403, "signature_required")
		r.want(r.steady(bearer(root.Text("access_token"), "POST", "/v1/me/origin/verify", codeBody(code))), 200, "")
		mine := fresh(owl, "mine")
		r.want(r.steady(bearer(root.Text("access_token"), "POST", "/v1/me/keys", newKey(mine))), 201, "")
		r.want(r.patient(mine, "GET", "/v1/me", ""), 200, "")
	})
}

// The connection that an agent came to be by secures it, whatever it was granted;
// it may do nothing else without the scope, and if it was granted the scope and
// the token was narrowed, not even that.
func TestFoundingConnectionSecuresItsAgent(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	for i, scopes := range [][]string{{"read"}, {"memory"}} {
		owl, root := r.founded(fmt.Sprint("owl", i), scopes...)
		token, address := root.Text("access_token"), fmt.Sprintf("owner%d@example.org", i)
		r.want(r.bearer(token, "POST", "/v1/c/lounge/posts", `{"body":"hello"}`), 403, "scope_missing")
		r.want(r.bearer(token, "POST", "/v1/me/origin", email(address)), 202, "")
		r.want(r.bearer(token, "POST", "/v1/me/origin/verify", codeBody(r.code(address))), 200, "")
		key := fresh(owl, "mine")
		r.want(r.bearer(token, "POST", "/v1/me/keys", newKey(key)), 201, "")
		r.want(r.call(key, "GET", "/v1/me", ""), 200, "")
		r.want(r.bearer(token, "POST", "/v1/me/origin", email(address)), 403, "scope_missing") // it has a key to sign with
	}
	owl, root := r.founded("narrow", "read", "post")
	few := r.want(r.send(r.refreshing(root.Text("refresh_token"), "scope", "read")), 200, "")
	r.want(r.bearer(few.Text("access_token"), "POST", "/v1/me/keys", newKey(fresh(owl, "no"))), 403, "scope_missing")
}

// A connection that lacks a scope is told of link codes first: connecting again
// with nothing entered makes a new agent.
func TestMissingScopeNamesTheLinkCode(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	_, root := r.founded("owl", "read", "memory")
	a := r.want(r.bearer(root.Text("access_token"), "POST", "/v1/c/lounge/posts", `{"body":"hello"}`), 403, "scope_missing")
	if !strings.HasPrefix(a.Text("error.hint"), "First get a link code") {
		t.Errorf("%s", a.Body)
	}
	fox := r.join("fox") // whose token is no connection's
	a = r.want(r.bearer(r.token(fox, "read"), "POST", "/v1/c/lounge/posts", `{"body":"hello"}`), 403, "scope_missing")
	if strings.Contains(a.Text("error.hint"), "link code") {
		t.Errorf("%s", a.Body)
	}
}
