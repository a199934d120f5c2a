package service_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/functions"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/auth"
	flow "agentsocial/shared/oauth"
	"agentsocial/shared/seal"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// back is where the client of these tests is sent back to.
const back = "http://127.0.0.1/callback"

// visitor is a client with a code, as the consent page gives it.
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

// visit is a client that registered, and was given consent as change says.
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

// for an agent, with a link code.
func linked(r *running, a *transcripts.Agent, link string) func(*flow.Code) {
	hash, _ := auth.LinkCodeHash(link)
	return func(c *flow.Code) { c.Bound = &flow.Bound{Agent: a.ID, Epoch: 1, Link: hash} }
}

// form is a request of a form; pairs are names and values.
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

// redemption asks for the code's tokens; pairs are changed parameters, "" for none.
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

// refused holds that an answer is a refusal in the form of RFC 6749 5.2.
func (r *running) refused(a *transcripts.Answer, name string) *transcripts.Answer {
	r.t.Helper()
	if want := map[bool]int{true: 401, false: 400}[name == "invalid_client"]; a.Status != want || a.Text("error") != name || a.Text("error_description") == "" || a.Text("error_uri") == "" {
		r.t.Fatalf("%d %s, not %s", a.Status, a.Body, name)
	}
	return a
}

// dead holds that no token of a connection is worth anything.
func (r *running) dead(answers ...*transcripts.Answer) {
	r.t.Helper()
	for _, a := range answers {
		r.want(r.steady(bearer(a.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		r.refused(r.steady(r.refreshing(a.Text("refresh_token"))), "invalid_grant")
	}
}

// whoami is the agent of a token that works.
func (r *running) whoami(a *transcripts.Answer) string {
	r.t.Helper()
	return r.want(r.steady(bearer(a.Text("access_token"), "GET", "/v1/me", "")), 200, "").Text("id")
}

// A code is good for one answer. Shown again, by whoever may redeem it, it ends
// what it gave: at once, and long after it expired too.
func TestCodeReplay(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", `{"uses":20}`), 201, "").Text("code")
	for name, bound := range map[string][]func(*flow.Code){"founding": nil, "linked": {linked(r, fox, link)}} {
		for when, wait := range map[string]time.Duration{"at once": 0, "late": time.Hour} {
			v := r.visit(bound...)
			got := r.want(r.send(v.redemption()), 200, "")
			agent := r.whoami(got)
			if (agent == fox.ID) != (bound != nil) {
				t.Errorf("%s: the token is of %s", name, agent)
			}
			again := r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
			if wait > 0 {
				r.advance(wait - 5*time.Minute)
				again = r.want(r.send(r.refreshing(again.Text("refresh_token"))), 200, "")
				r.advance(5 * time.Minute)
			}
			// Who cannot redeem it ends nothing.
			r.refused(r.send(v.redemption("code_verifier", strings.Repeat("x", 43))), "invalid_grant")
			r.refused(r.send(v.redemption("client_id", "https://client.example/other")), "invalid_grant")
			if r.whoami(again) != agent {
				t.Errorf("%s, %s: another agent", name, when)
			}
			if a := r.refused(r.send(v.redemption()), "invalid_grant"); !strings.Contains(a.Text("error_description"), "used before") {
				t.Errorf("%s, %s: %s", name, when, a.Body)
			}
			r.dead(got, again)
			r.refused(r.send(v.redemption()), "invalid_grant")
		}
	}
	// A code that was never used just expires.
	v := r.visit()
	r.advance(flow.CodeLives)
	if a := r.refused(r.send(v.redemption()), "invalid_grant"); !strings.Contains(a.Text("error_description"), "expired") {
		t.Errorf("%s", a.Body)
	}
}

// Of two redemptions of one code at the same moment one gets tokens, and they are
// worth nothing, since the other came too.
func TestRaceOfTwoRedemptions(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() / 2 {
			var bound []func(*flow.Code)
			if i%2 == 1 {
				link := r.want(r.patient(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
				bound = append(bound, linked(r, fox, link))
			}
			v := r.visit(bound...)
			answers, n := r.settledOnce(v.redemption(), v.redemption())
			if n[200] > 1 || n[200]+n[400] != 2 {
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
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

// settledOnce is settled for what must not be sent again: it waits out what the
// machine was too busy for by leaving the round.
func (r *running) settledOnce(requests ...*transcripts.Request) (answers []*transcripts.Answer, byStatus map[int]int) {
	r.t.Helper()
	for {
		answers, byStatus = r.together(requests...)
		if byStatus[503] == 0 {
			return answers, byStatus
		}
	}
}

// Nobody but who asked for the code redeems it, and none of the others spends it.
func TestWhoMayRedeem(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	v, other := r.visit(), r.visit()
	for _, c := range []struct {
		what, name, value, error string
	}{
		{"the wrong verifier", "code_verifier", other.verifier, "invalid_grant"},
		{"a short verifier", "code_verifier", "x", "invalid_grant"},
		{"the challenge as verifier", "code_verifier", strings.Repeat("a", 43), "invalid_grant"},
		{"no verifier", "code_verifier", "", "invalid_request"},
		{"another client", "client_id", "https://client.example/metadata", "invalid_grant"},
		{"another registered client", "client_id", r.visit().client, "invalid_grant"},
		{"no client of ours", "client_id", "dcr_nonsense", "invalid_client"},
		{"no client", "client_id", "", "invalid_request"},
		{"another redirect", "redirect_uri", "http://127.0.0.1/other", "invalid_grant"},
		{"another port", "redirect_uri", "http://127.0.0.1:81/callback", "invalid_grant"},
		{"no code", "code", "", "invalid_request"},
		{"a damaged code", "code", v.code[:len(v.code)-2] + "AA", "invalid_grant"},
		{"another's code", "code", other.code, "invalid_grant"},
		{"the client as code", "code", strings.TrimPrefix(v.client, "dcr_"), "invalid_grant"},
		{"another resource", "resource", "https://y.example/mcp", "invalid_target"},
		{"half of the resource", "resource", r.URL, "invalid_target"},
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

	// In JSON the same, in this service's own form.
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
		t.Errorf("%v %s", got.Header, got.Body)
	}
	if got.Text("next.0.do") != "GET /v1/signup/puzzle" {
		t.Errorf("next: %s", got.Body)
	}
}

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

// The table's answer to a commit may be lost: nobody is refused or ended for that.
func TestTokenAnswersLostInTheTable(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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
			t.Fatal("another agent")
		}
	}
	fox := r.join("fox")
	r.want(r.send(r.assertion(fox, nil)), 200, "")
	if lost.Load() < 10 {
		t.Errorf("%d commits", lost.Load())
	}
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

// Thirty days without a refresh end a connection; each refresh begins them anew.
func TestConnectionIdles(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
	got := r.want(r.send(r.visit(linked(r, fox, link)).redemption()), 200, "")
	for range 2 {
		r.advance(30*24*time.Hour - 10*time.Minute)
		r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
		if list := r.call(fox, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "1" {
			t.Errorf("%s", list.Body)
		}
	}
	r.advance(30 * 24 * time.Hour)
	r.dead(got)
	if list := r.call(fox, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "0" {
		t.Errorf("%s", list.Body)
	}
}

// However a connection is ended, everything of it is dead at once, access tokens
// of earlier generations included; an access token alone ends alone.
func TestEndsOfAConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		connect := func() (older, newer *transcripts.Answer, id string) {
			t.Helper()
			link := r.want(r.patient(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
			older = r.want(r.steady(r.visit(linked(r, fox, link)).redemption()), 200, "")
			newer = r.want(r.steady(r.refreshing(older.Text("refresh_token"))), 200, "")
			list := r.want(r.patient(fox, "GET", "/v1/me/tokens", ""), 200, "")
			if list.Text("items.-1.kind") != "connection" || list.Text("items.-1.label") != "A client" || list.Text("items.-1.scopes") != `["read","post"]` {
				t.Fatalf("%s", list.Body)
			}
			return older, newer, list.Text("items.-1.id")
		}
		revoke := func(token string) { r.want(r.steady(form("/oauth/revoke", "token", token)), 200, "") }
		gone := func(id string) {
			t.Helper()
			r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+id, ""), 404, "not_found")
			if list := r.patient(fox, "GET", "/v1/me/tokens", ""); strings.Contains(string(list.Body), id) {
				t.Errorf("%s is still listed: %s", id, list.Body)
			}
		}

		older, newer, id := connect()
		r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+id, ""), 200, "")
		r.dead(older, newer)
		gone(id)

		older, newer, id = connect()
		revoke(newer.Text("refresh_token"))
		r.dead(older, newer)
		gone(id)
		revoke(newer.Text("refresh_token")) // again: the answer is the same

		older, newer, id = connect()
		revoke(older.Text("refresh_token")) // of an earlier generation: who has it may be a thief, and may do that
		r.dead(older, newer)
		gone(id)

		older, newer, id = connect()
		revoke(older.Text("access_token"))
		r.want(r.steady(bearer(older.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		if r.whoami(newer) != fox.ID {
			t.Error("the newer token is another's")
		}
		r.want(r.steady(r.refreshing(newer.Text("refresh_token"))), 200, "")
		r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+id, ""), 200, "")

		// A token that was minted is revoked by its value too; and so is nothing else.
		minted := r.want(r.patient(fox, "POST", "/v1/me/tokens", `{"label":"t"}`), 201, "")
		forged, _, err := auth.MintToken(fox.ID, minted.Text("id"), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		for _, none := range []string{forged, "ast_x", "asr_x", "x", minted.Text("id"), fox.ID} {
			revoke(none)
		}
		r.want(r.steady(bearer(minted.Text("token"), "GET", "/v1/me", "")), 200, "")
		revoke(minted.Text("token"))
		r.want(r.steady(bearer(minted.Text("token"), "GET", "/v1/me", "")), 401, "bad_token")
		gone(minted.Text("id"))
		r.refused(r.steady(form("/oauth/revoke")), "invalid_request")
		r.refused(r.steady(form("/oauth/revoke", "token", "x", "token", "y")), "invalid_request")

		// A recovery that revokes takes connections along: they are of an epoch.
		older, newer, _ = connect()
		r.put(tables.Change(tables.ProfileKey(fox.ID), tables.SetAttr("epoch", int64(2))))
		r.dead(older, newer)
	})
}

// What is connected with a link code has none but the code's scopes, and is dead
// with what minted the code: at once, and access tokens too.
func TestConnectionHangsOnItsMinter(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		all := func(c *flow.Code) { c.Scopes = auth.Scopes }
		connect := func(by *transcripts.Request, scopes string) *transcripts.Answer {
			t.Helper()
			link := r.want(r.steady(by), 201, "").Text("code")
			got := r.want(r.steady(r.visit(linked(r, fox, link), all).redemption()), 200, "")
			if got.Text("scope") != scopes || r.whoami(got) != fox.ID {
				t.Errorf("%s", got.Body)
			}
			return got
		}
		const mint = "/v1/me/link-codes"
		everything := strings.Join(auth.Scopes, " ")

		// A token.
		token := r.want(r.patient(fox, "POST", "/v1/me/tokens", `{"label":"t","scopes":["read","post"],"days":3}`), 201, "")
		got := connect(bearer(token.Text("token"), "POST", mint, ""), "read post")
		r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+token.Text("id"), ""), 200, "")
		r.want(r.steady(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		r.refused(r.steady(r.refreshing(got.Text("refresh_token"))), "invalid_grant")
		if list := r.patient(fox, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "0" {
			t.Errorf("%s", list.Body)
		}

		// A key.
		second := r.addKey(fox, "second")
		got = connect(r.request(second, "POST", mint, ""), everything)
		r.want(r.patient(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
		r.dead(got)
		time.Sleep(2 * time.Millisecond)
		r.addKey(fox, "second") // added again, it is another one
		r.dead(got)

		// Another connection.
		parent := connect(r.request(fox, "POST", mint, ""), everything)
		r.want(r.steady(bearer(parent.Text("access_token"), "POST", mint, "")), 403, "signature_required") // it hangs on the key itself
		root := r.want(r.steady(r.visit(all).redemption()), 200, "")
		r.want(r.steady(r.signup(root.Text("access_token"), "owl", true)), 200, "")
		owl := &transcripts.Agent{ID: r.whoami(root)}
		link := r.want(r.steady(bearer(root.Text("access_token"), "POST", mint, "")), 201, "").Text("code")
		child := r.want(r.steady(r.visit(linked(r, owl, link)).redemption()), 200, "")
		if r.whoami(child) != owl.ID {
			t.Error("the child is another's")
		}
		r.want(r.steady(bearer(child.Text("access_token"), "POST", mint, "")), 403, "signature_required")
		child = r.want(r.steady(r.refreshing(child.Text("refresh_token"))), 200, "")
		r.want(r.steady(form("/oauth/revoke", "token", root.Text("refresh_token"))), 200, "")
		r.dead(root, child)
	})
}

// A connection lives no longer than the token that minted its link code; and one
// that minted a code lives as long as what was connected with it.
func TestConnectionEndsWithItsMinter(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	token := r.want(r.call(fox, "POST", "/v1/me/tokens", `{"label":"t","days":2}`), 201, "")
	link := r.want(r.send(bearer(token.Text("token"), "POST", "/v1/me/link-codes", "")), 201, "").Text("code")
	got := r.want(r.send(r.visit(linked(r, fox, link)).redemption()), 200, "")
	r.advance(48*time.Hour - 30*time.Minute)
	got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
	if s := got.Text("expires_in"); len(s) != 4 || s > "1800" {
		t.Errorf("it lives for another %s s", s)
	}
	r.whoami(got)
	r.advance(30 * time.Minute)
	r.dead(got)

	root := r.want(r.send(r.visit().redemption()), 200, "")
	r.want(r.send(r.signup(root.Text("access_token"), "owl", true)), 200, "")
	owl := &transcripts.Agent{ID: r.whoami(root)}
	link = r.want(r.send(bearer(root.Text("access_token"), "POST", "/v1/me/link-codes", "")), 201, "").Text("code")
	child := r.want(r.send(r.visit(linked(r, owl, link)).redemption()), 200, "")
	for range 3 {
		r.advance(29 * 24 * time.Hour)
		child = r.want(r.send(r.refreshing(child.Text("refresh_token"))), 200, "")
		r.whoami(child)
	}
	if list := r.listOf(child); len(list) != 2 {
		t.Errorf("%d connections are listed", len(list))
	}
	r.advance(31 * 24 * time.Hour)
	r.dead(child, root)
}

// listOf are the live connections of a token's agent.
func (r *running) listOf(a *transcripts.Answer) []string {
	r.t.Helper()
	parsed, err := auth.ParseToken(a.Text("access_token"))
	if err != nil {
		r.t.Fatal(err)
	}
	return tables.LiveGrants(parsed.Agent, r.item(tables.GrantsKey(parsed.Agent)), 1, r.App.Now().UnixMilli()).IDs()
}

// A link code's last use is one connection's, whichever comes first, and so is
// the last place there is for connections.
func TestRaceForTheLastConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			fox := r.join(fmt.Sprintf("fox%d", i))
			link := r.want(r.patient(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
			one, two := r.visit(linked(r, fox, link)), r.visit(linked(r, fox, link))
			answers, n := r.settled(one.redemption(), two.redemption())
			if n[200] != 1 || n[400] != 1 {
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}

			live := tables.LiveGrants(fox.ID, r.item(tables.GrantsKey(fox.ID)), 1, r.App.Now().UnixMilli())
			until := r.App.Now().Add(time.Hour).UnixMilli()
			for j := range tables.GrantsMost - 2 {
				other := &tables.Grant{ID: fmt.Sprintf("gr_%d", j), Epoch: 1, ExpiresAt: until}
				list := live.Add(other.ID, until)
				r.put(list)
				r.put(tables.Put(other.Item(fox.ID)))
				live = live.Again(list.Item)
			}
			link = r.want(r.patient(fox, "POST", "/v1/me/link-codes", `{"uses":5}`), 201, "").Text("code")
			one, two = r.visit(linked(r, fox, link)), r.visit(linked(r, fox, link))
			answers, n = r.settled(one.redemption(), two.redemption())
			if n[200] != 1 || n[400] != 1 {
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}
			for _, a := range answers {
				if a.Status == 200 {
					r.whoami(a)
				} else if !strings.Contains(r.refused(a, "invalid_grant").Text("error_description"), "50 connections") {
					t.Fatalf("round %d: %s", i, a.Body)
				}
			}
		}
	})
}

// A minter is taken back while a code is redeemed: either the connection is there
// first, and dead with it, or there is none.
func TestRaceOfRevokingTheMinterOfAConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			fox := r.join(fmt.Sprintf("fox%d", i))
			token := r.want(r.patient(fox, "POST", "/v1/me/tokens", `{"label":"t","scopes":["read","post"]}`), 201, "")
			mint := bearer(token.Text("token"), "POST", "/v1/me/link-codes", "")
			link := r.want(r.steady(mint), 201, "").Text("code")
			answers, _ := r.settled(r.visit(linked(r, fox, link)).redemption(), r.request(fox, "DELETE", "/v1/me/tokens/"+token.Text("id"), ""))
			r.want(answers[1], 200, "")
			if answers[0].Status == 200 {
				r.dead(answers[0])
				continue
			}
			t.Logf("round %d: the revocation came first", i)
			r.refused(answers[0], "invalid_grant")
		}
	})
}

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

// Tokens are writes of their agent, and count as such.
func TestTokensAreLimited(t *testing.T) {
	t.Parallel()
	s := generous()
	s.Limits.WritesPerMinute = 3
	r := run(t, service.Config{Settings: s})
	fox := r.join("fox")
	r.advance(time.Minute)
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
	got := r.want(r.send(r.visit(linked(r, fox, link)).redemption()), 200, "")
	now := r.App.Now()
	r.advance(now.Truncate(time.Minute).Add(time.Minute + time.Second).Sub(now))
	for range 2 {
		r.want(r.send(r.assertion(fox, nil)), 200, "")
	}
	got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
	for _, q := range []*transcripts.Request{r.assertion(fox, nil), r.refreshing(got.Text("refresh_token"))} {
		if a := r.send(q); a.Status != 429 || a.Text("error") != "temporarily_unavailable" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	r.advance(time.Minute)
	r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "") // nothing was lost
}

// What a 401 and a 403 say to a client that connects.
func TestChallengesOfTokens(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	metadata := `resource_metadata="` + r.URL + `/.well-known/oauth-protected-resource/mcp"`
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
	got := r.want(r.send(r.visit(linked(r, fox, link), func(c *flow.Code) { c.Scopes = []string{"read", "jury"} }).redemption()), 200, "")
	header := func(a *transcripts.Answer) string { return a.Header.Get("WWW-Authenticate") }

	none := header(r.want(r.call(nil, "GET", "/v1/me", ""), 401, "unauthenticated"))
	if !strings.HasPrefix(none, "Bearer ") || !strings.Contains(none, metadata) || !strings.Contains(none, `scope="read post jury"`) || strings.Contains(none, "error") {
		t.Errorf("without a token: %s", none)
	}
	r.want(r.send(form("/oauth/revoke", "token", got.Text("access_token"))), 200, "")
	bad := header(r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token"))
	if !strings.Contains(bad, `error="invalid_token"`) || !strings.Contains(bad, metadata) {
		t.Errorf("with a dead token: %s", bad)
	}
	got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
	scope := header(r.want(r.send(bearer(got.Text("access_token"), "POST", "/v1/c/lounge/posts", `{"body":"hi"}`)), 403, "scope_missing"))
	if !strings.Contains(scope, `error="insufficient_scope"`) || !strings.Contains(scope, `scope="read post jury"`) || !strings.Contains(scope, metadata) {
		t.Errorf("without the scope: %s", scope)
	}
	if signed := r.call(transcripts.NewAgent("nobody"), "GET", "/v1/me", ""); signed.Status != 401 || strings.Contains(header(signed), "error=") {
		t.Errorf("with a signature of nobody's: %s", header(signed))
	}
}

// Codes, verifiers, tokens and assertions are answered and stand nowhere: in no
// item, in no line of the log, in no error.
func TestTokensOfConnectionsAreNowhere(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	r := run(t, service.Config{Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	fox := r.join("fox")
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", `{"uses":5}`), 201, "").Text("code")
	v := r.visit(linked(r, fox, link))
	var errors bytes.Buffer
	refuse := func(q *transcripts.Request) { errors.Write(r.send(q).Body) }
	got := r.want(r.send(v.redemption()), 200, "")
	again := r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
	by := r.assertion(fox, nil)
	hour := r.want(r.send(by), 200, "")
	values, err := url.ParseQuery(string(by.Body))
	if err != nil {
		t.Fatal(err)
	}
	r.whoami(again)
	refuse(by)
	refuse(r.refreshing(again.Text("refresh_token"), "client_id", "x"))
	refuse(r.refreshing(again.Text("refresh_token"), "scope", "dm"))
	refuse(v.redemption("redirect_uri", "http://127.0.0.1/x"))
	inURL := r.refreshing(again.Text("refresh_token"))
	inURL.Target += "?refresh_token=" + again.Text("refresh_token")
	refuse(inURL)
	refuse(bearer(got.Text("refresh_token"), "GET", "/v1/me", ""))
	refuse(v.redemption())
	refuse(r.refreshing(again.Text("refresh_token")))
	refuse(form("/oauth/revoke", "token", hour.Text("access_token"), "token", "x"))
	r.drain()

	var items bytes.Buffer
	err = r.table.(tables.Scanner).Scan(context.Background(), func(i tables.Item) error {
		_, err := fmt.Fprintf(&items, "%+v\n", i)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"table": items.String(), "log": log.String(), "errors": errors.String()} {
		if text == "" {
			t.Errorf("the %s is empty", where)
		}
		for what, secret := range map[string]string{
			"code": v.code, "verifier": v.verifier, "access token": got.Text("access_token"), "newer access token": again.Text("access_token"),
			"refresh token": got.Text("refresh_token"), "newer refresh token": again.Text("refresh_token"),
			"assertion": values.Get("assertion"), "token of an assertion": hour.Text("access_token"), "client id": v.client,
		} {
			if tail := secret[len(secret)-20:]; strings.Contains(text, secret) || strings.Contains(text, tail) {
				t.Errorf("the %s stands in the %s", what, where)
			}
		}
	}
}

// A redirect URI need not be sent again (OAuth 2.1); the wrong one is refused
// above.
func TestRedirectURIMayBeLeftOut(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	r.want(r.send(r.visit().redemption("redirect_uri", "")), 200, "")
}

// Each resource that is named must be the right one (RFC 8707 2.2).
func TestSeveralResources(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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

// A bearer token in the header means nothing where tokens are got and given
// back: clients send along what they have, dead or not. Another credential is
// refused, as the client's.
func TestStaleBearerMeansNothing(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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

// A client that names itself gives back its own tokens alone (RFC 7009 2.1).
func TestRevokeOfTheSameClient(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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
	r.want(r.send(form("/oauth/revoke", "token", got.Text("refresh_token"), "client_id", v.client)), 200, "") // as ever
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

// A connection that mints a link code lives as long as what is connected with it
// from the first day on, not from when that is refreshed.
func TestConnectionLivesAsLongAsItsChild(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		owl, root := r.founded("owl", "read", "post")
		link := r.want(r.steady(bearer(root.Text("access_token"), "POST", "/v1/me/link-codes", `{"days":30}`)), 201, "").Text("code")
		r.advance(29 * 24 * time.Hour)
		child := r.want(r.steady(r.visit(linked(r, owl, link)).redemption()), 200, "")
		r.advance(20 * 24 * time.Hour)
		if list := r.listOf(child); len(list) != 2 {
			t.Errorf("%d connections are listed", len(list))
		}
		r.whoami(r.want(r.steady(r.refreshing(root.Text("refresh_token"))), 200, ""))
		r.whoami(r.want(r.steady(r.refreshing(child.Text("refresh_token"))), 200, ""))
	})
}

// Nobody registers, or shows credentials that are none, without end: an address
// has a limit for it, which others that it is the address of are not held to.
func TestForgeriesAreLimited(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr, settings.MaxReads = true, 50
	r := run(t, service.Config{Settings: settings})
	fox, owl := r.join("fox"), r.join("owl")
	r.advance(r.App.Now().Truncate(time.Minute).Add(time.Minute).Sub(r.App.Now()))
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
					t.Errorf("%s: refused after %d", what, n)
				}
				return
			} else if a.Status != status {
				t.Fatalf("%s: %d %s", what, a.Status, a.Body)
			}
		}
		t.Errorf("%s: never refused", what)
	}
	until("forged tokens", forged, 401)
	for range 20 {
		r.want(forged(), 429, "rate_limited")
	}
	r.want(r.call(fox, "GET", "/v1/me", ""), 200, "") // seen before
	for range 500 {
		forged()
	}
	r.want(r.call(nil, "GET", "/v1/channels", ""), 200, "") // who shows nothing is counted apart
	r.advance(time.Minute)
	r.want(r.call(owl, "GET", "/v1/me", ""), 200, "")
	r.want(forged(), 401, "bad_token")

	until("registrations", func() *transcripts.Answer {
		return r.send(&transcripts.Request{Method: "POST", Target: "/oauth/register", Body: []byte(`{"redirect_uris":["` + back + `"]}`), Header: map[string][]string{"Content-Type": {"application/json"}}})
	}, 201)
}

// Connections that are dead with what minted their link codes do not count among
// the live ones when it comes to it.
func TestDeadConnectionsTakeNoRoom(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		second := r.addKey(fox, "second")
		live := tables.LiveGrants(fox.ID, nil, 1, r.App.Now().UnixMilli())
		until := r.App.Now().Add(time.Hour).UnixMilli()
		for j := range tables.GrantsMost {
			other := &tables.Grant{ID: fmt.Sprintf("gr_%d", j), Epoch: 1, ExpiresAt: until}
			if j < 3 {
				other.On = tables.Minter{Key: second.Pub(), By: r.App.Now().UnixMilli()}
			}
			list := live.Add(other.ID, until)
			r.put(list)
			r.put(tables.Put(other.Item(fox.ID)))
			live = live.Again(list.Item)
		}
		link := r.want(r.patient(fox, "POST", "/v1/me/link-codes", `{"uses":9}`), 201, "").Text("code")
		join := func() *transcripts.Answer { return r.steady(r.visit(linked(r, fox, link)).redemption()) }
		r.refused(join(), "invalid_grant")
		r.want(r.patient(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
		for range 3 {
			r.whoami(r.want(join(), 200, ""))
		}
		r.refused(join(), "invalid_grant")
	})
}
