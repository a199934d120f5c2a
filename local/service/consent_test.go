package service_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// consent is the page of a client of its own, which nobody has answered.
func (r *running) consent(c *transcripts.Connection) *transcripts.Consent {
	r.t.Helper()
	a := r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + c.Query().Encode()})
	page, err := a.Consent()
	if err != nil {
		r.t.Fatal(err)
	}
	return page
}

func (r *running) connection() *transcripts.Connection {
	r.t.Helper()
	return transcripts.NewConnection(r.register("A client"), back)
}

// sentBack is the query with which an answer sends the browser back.
func (r *running) sentBack(a *transcripts.Answer) url.Values {
	r.t.Helper()
	to, err := a.Back()
	if err != nil {
		r.t.Fatal(err)
	}
	return to.Query()
}

func filled(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// redeems gets a connection's tokens.
func (r *running) redeems(c *transcripts.Connection, code string) *transcripts.Answer {
	return r.send(form("/oauth/token", "grant_type", "authorization_code", "code", code,
		"code_verifier", c.Verifier, "redirect_uri", c.Redirect, "client_id", c.Client))
}

// A page is answered once, however often at once.
func TestRaceOfOneConsent(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		c := r.connection()
		for range r.rounds() {
			q := transcripts.Submit(r.consent(c).Form("connect", nil))
			answers, byStatus := r.settledOnce(q, q.Clone(), q.Clone())
			if byStatus[200] != 1 || byStatus[400] != 2 {
				t.Fatalf("%v", byStatus)
			}
			for _, a := range answers {
				if a.Status == 400 && (a.Code() != "invalid_request" || !bytes.Contains(a.Body, []byte("answered before"))) {
					t.Errorf("%s: %s", a.Code(), a.Body)
				}
			}
		}
	})
}

// From one address a mailed code bears five tries on this page too, however many
// come at once: even the right code is too late then.
func TestRaceOfGuessesOnTheConsentPage(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr, settings.Limits.ConsentsHour = true, 1000
	onBoth(t, service.Config{Settings: settings}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		r.origin(fox, "fox@den.example")
		r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@den.example")), 202, "")
		code := r.code("fox@den.example")
		c := r.connection()
		var guesses []*transcripts.Request
		for range 12 {
			guesses = append(guesses, transcripts.Submit(r.consent(c).Form("connect", filled("handle", "fox", "code", "0000-0000"))))
		}
		if _, byStatus := r.settledOnce(guesses...); byStatus[422] != 12 {
			t.Fatalf("%v", byStatus)
		}
		items, err := r.table.Get(t.Context(), tables.Strong, tables.RecoveryKey(fox.ID))
		if err != nil || items[0].Int("tries") != 5 {
			t.Errorf("%d guesses were judged, %v", items[0].Int("tries"), err)
		}
		if a := r.send(transcripts.Submit(r.consent(c).Form("connect", filled("handle", "fox", "code", code)))); a.Status != 422 {
			t.Errorf("after five guesses the right code answers %d", a.Status)
		}
	})
}

// Twenty answers an hour from one address.
func TestConsentsAreLimited(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr = true
	r := run(t, service.Config{Settings: settings})
	r.advance(r.App.Now().Truncate(time.Hour).Add(time.Hour + time.Second).Sub(r.App.Now()))
	c := r.connection()
	for i := range 21 {
		a := r.send(transcripts.Submit(r.consent(c).Form("connect", nil)))
		if want := map[bool]int{true: 200, false: 429}[i < 20]; a.Status != want {
			t.Fatalf("answer %d: %d %s", i+1, a.Status, a.Body)
		}
		if a.Status == 429 && (a.Header.Get("Retry-After") == "" || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html")) {
			t.Errorf("%v", a.Header)
		}
	}
	// What proves no work, or is no page of ours, is not counted: nobody uses up
	// what is another's behind the same address for nothing.
	r.advance(time.Hour)
	for range 30 {
		page := r.consent(c)
		r.send(transcripts.Submit(page.Form("connect", filled("pow", page.Pow(false)))))
		r.send(transcripts.Submit(page.Form("connect", filled("asked", "x"))))
	}
	if a := r.send(transcripts.Submit(r.consent(c).Form("connect", nil))); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// Of answers in search of an agent, each of which holds a process for seconds, a
// minute takes so many, whoever sends them; the others go on.
func TestReconnectionsAreLimited(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.ReconnectsMinute = 2
	onBoth(t, service.Config{Settings: settings}, func(t *testing.T, r *running) {
		r.advance(r.App.Now().Truncate(time.Minute).Add(time.Minute + time.Second).Sub(r.App.Now()))
		c := r.connection()
		lost := func() int {
			return r.send(transcripts.Submit(r.consent(c).Form("connect", filled("handle", "fox", "code", "0000-0000")))).Status
		}
		for i, want := range []int{422, 422, 429} {
			if got := lost(); got != want {
				t.Fatalf("answer %d: %d", i+1, got)
			}
		}
		if a := r.send(transcripts.Submit(r.consent(c).Form("connect", nil))); a.Status != 200 {
			t.Errorf("a new agent: %d %s", a.Status, a.Body)
		}
		r.advance(time.Minute)
		if got := lost(); got != 422 {
			t.Errorf("a minute later: %d", got)
		}
	})
}

// The work is bound to its page, and a page to its request: nothing of another's
// page helps.
func TestConsentIsBoundToItsPage(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	mine, theirs := r.connection(), transcripts.NewConnection(r.register("Another"), "http://127.0.0.1:7/callback")
	a, b := r.consent(mine), r.consent(theirs)
	work := b.Form("connect", nil).Get("pow")
	for work == a.Form("connect", nil).Get("pow") || a.Asked == b.Asked {
		b = r.consent(theirs)
		work = b.Form("connect", nil).Get("pow")
	}
	if ans := r.send(transcripts.Submit(a.Form("connect", filled("pow", work)))); ans.Code() != "bad_pow" && ans.Status != 200 { // by chance, one in 2^14
		t.Errorf("another page's work: %d %s", ans.Status, ans.Body)
	}
	// A field that was tampered with is none, wherever.
	for i := 0; i < len(b.Asked); i += 17 {
		changed := b.Asked[:i] + string("AB"[b2i(b.Asked[i] == 'A')]) + b.Asked[i+1:]
		if ans := r.send(transcripts.Submit(b.Form("connect", filled("asked", changed)))); ans.Status != 400 {
			t.Fatalf("changed at %d: %d", i, ans.Status)
		}
	}
	// Sealed values of other purposes are none.
	for _, other := range []string{strings.TrimPrefix(mine.Client, "dcr_"), r.want(r.call(nil, "GET", "/v1/challenge", ""), 200, "").Text("token")} {
		if ans := r.send(transcripts.Submit(b.Form("connect", filled("asked", other)))); ans.Status != 400 {
			t.Errorf("%d", ans.Status)
		}
	}
	// A form with a field twice says two things.
	twice := transcripts.Submit(b.Form("connect", nil))
	twice.Body = append(twice.Body, "&pow=1"...)
	if ans := r.send(twice); ans.Status != 400 {
		t.Errorf("%d", ans.Status)
	}
	// And the page is good still.
	if code := r.sentBack(r.send(transcripts.Submit(b.Form("connect", nil)))).Get("code"); code == "" {
		t.Error("no code")
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Whatever may be asked and sent, there is a limit to it.
func TestSizesOfConsent(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	c := r.connection()
	q := c.Query()
	q.Set("state", strings.Repeat("s", 2048))
	a := r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + q.Encode()})
	page, err := a.Consent()
	if err != nil {
		t.Fatal(err)
	}
	if got := r.sentBack(r.send(transcripts.Submit(page.Form("connect", nil)))); got.Get("state") != q.Get("state") || got.Get("code") == "" {
		t.Errorf("%v", got)
	}
	q.Set("state", strings.Repeat("s", 2049))
	a = r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + q.Encode()})
	if got := r.sentBack(a); a.Status != 302 || got.Get("error") != "invalid_request" || got.Has("state") {
		t.Errorf("%d %v", a.Status, got)
	}
	if a := r.send(transcripts.Submit(filled("asked", strings.Repeat("x", 16<<10)))); a.Status != 413 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%d %v", a.Status, a.Header)
	}
}

// hides takes from a page what differs by chance: its nonce, and what is sealed.
var hides = regexp.MustCompile(`nonce(-|=")[0-9a-f]+|name="asked" value="[^"]*"|data-work="[^"]*"`)

// What is answered about a recovery, and when, tells nothing of the agent, of
// its origin or of whether there was a mail.
func TestTheConsentPageTellsNothing(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.MailsDay = 1
	r := run(t, service.Config{Settings: settings})
	fox := r.join("fox")
	r.origin(fox, "fox@den.example")
	r.advance(25 * time.Hour) // past the mails of that
	r.join("owl")
	c := r.connection()
	answers := map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	ask := func(what, handle string, fields url.Values) {
		all.Go(func() {
			start := time.Now()
			a := r.send(transcripts.Submit(r.consent(c).Form(fields.Get("do"), fields)))
			mu.Lock()
			defer mu.Unlock()
			if took := time.Since(start); took < 1900*time.Millisecond {
				t.Errorf("%s is answered after %v", what, took)
			}
			answers[what] = strings.ReplaceAll(hides.ReplaceAllString(string(a.Body), ""), `value="`+handle+`"`, `value="HANDLE"`)
		})
	}
	mail := func(handle, address string) url.Values {
		return filled("do", "mail", "handle", handle, "email", address)
	}
	guess := func(handle string) url.Values {
		return filled("do", "connect", "handle", handle, "code", "00000000", "email", "fox@den.example")
	}
	ask("mail: matches", "fox", mail("fox", "fox@den.example"))
	all.Wait()
	ask("mail: again", "fox", mail("fox", "fox@den.example"))
	ask("mail: nobody's address", "fox", mail("fox", "fox@den.examplf"))
	ask("mail: nobody", "foy", mail("foy", "fox@den.example"))
	ask("mail: no origin", "owl", mail("owl", "fox@den.example"))
	ask("code: wrong", "fox", guess("fox"))
	ask("code: nobody", "foy", guess("foy"))
	ask("code: none was mailed", "owl", guess("owl"))
	all.Wait()
	r.mailWorks(false)
	r.advance(24 * time.Hour)
	ask("mail: fails", "fox", mail("fox", "fox@den.example"))
	all.Wait()
	for what, body := range answers {
		kind, _, _ := strings.Cut(what, ":")
		like := answers[map[string]string{"mail": "mail: matches", "code": "code: wrong"}[kind]]
		if strings.ReplaceAll(body, "den.examplf", "den.example") != like {
			t.Errorf("%s is answered otherwise than the rest:\n%s\n---\n%s", what, body, like)
		}
	}
}

// An agent comes back by its origin: the connection is its own, once per mail;
// its history and its inbox tell, and what a thief would do first is held.
func TestReconnectingIsARecovery(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		r.origin(fox, "fox@den.example")
		r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@den.example")), 202, "")
		code := r.code("fox@den.example")
		fields := filled("handle", "@fox", "code", strings.ToLower(code))
		first, second := r.connection(), r.connection()
		redeemable := func(c *transcripts.Connection) string {
			return r.sentBack(r.send(transcripts.Submit(r.consent(c).Form("connect", fields)))).Get("code")
		}
		a, b := redeemable(first), redeemable(second)
		tokens := r.want(r.redeems(first, a), 200, "")
		if r.whoami(tokens) != fox.ID {
			t.Error("the connection is another agent's")
		}
		r.refused(r.redeems(second, b), "invalid_grant") // of one mail one connection
		if got := r.send(transcripts.Submit(r.consent(second).Form("connect", fields))); got.Status != 422 {
			t.Errorf("the code is used up, and answered with %d", got.Status)
		}
		r.want(r.bearer(tokens.Text("access_token"), "POST", "/v1/me/origin", email("thief@den.example")), 403, "recovery_hold")
		r.want(r.call(fox, "GET", "/v1/me", ""), 200, "") // keys stay
		if got := r.want(r.call(nil, "GET", "/v1/agents/fox/history", ""), 200, "").Text("items.0.kind"); got != "recovered" {
			t.Errorf("the history's newest is %s", got)
		}
		r.drain()
		if got := r.want(r.call(fox, "GET", "/v1/me/inbox", ""), 200, ""); !bytes.Contains(got.Body, []byte(`"change":"recovered"`)) {
			t.Errorf("the inbox is %s", got.Body)
		}
	})
}

// A recovery of everything else, meanwhile, leaves the code of a page worth nothing.
func TestACodeDiesWithTheEpoch(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	r.origin(fox, "fox@den.example")
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
	c := r.connection()
	code := r.sentBack(r.send(transcripts.Submit(r.consent(c).Form("connect", filled("link_code", link))))).Get("code")
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@den.example")), 202, "")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(fox, fresh(fox, "key2"), r.code("fox@den.example"))), 200, "")
	r.refused(r.redeems(c, code), "invalid_grant")
	if a := r.send(transcripts.Submit(r.consent(c).Form("connect", filled("link_code", link)))); a.Status != 422 {
		t.Errorf("a link code of an epoch gone by: %d", a.Status)
	}
}

// A client's registration is its id, and does not stand in the table,
// whose feed has every item there ever was.
func TestClientsAreNotStored(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	r.join("fox")
	r.drain()
	before, at := r.changes("")
	if len(before) == 0 {
		t.Fatal("the feed has nothing")
	}
	id := r.register("A client")
	r.drain()
	if more, _ := r.changes(at); len(more) != 0 {
		t.Errorf("a registration wrote %v", more)
	}
	r.consent(transcripts.NewConnection(id, back)) // what is not stored works
}

// A client that is known by the URL of its metadata: who publishes them is shown,
// and what cannot be fetched is told to nobody but the log.
func TestClientsOfDocuments(t *testing.T) {
	t.Parallel()
	const id = "https://den.example/client.json"
	var log safeBuffer
	document := `{"client_id":"` + id + `","client_name":"Den\u202eExplorer","redirect_uris":["` + back + `","https://den.example/cb"],"token_endpoint_auth_method":"none"}`
	var fetched []string
	r := run(t, service.Config{
		Settings: generous(), Log: slog.New(slog.NewTextHandler(&log, nil)),
		Fetch: func(_ context.Context, at string) ([]byte, error) {
			fetched = append(fetched, at)
			if at != id {
				return nil, errors.New("the inside: 10.0.0.7 refused")
			}
			return []byte(document), nil
		},
	})
	c := transcripts.NewConnection(id, "http://127.0.0.1:5555/callback")
	a := r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + c.Query().Encode()})
	if !bytes.Contains(a.Body, []byte("It is published by</dt><dd>den.example<")) || bytes.Contains(a.Body, []byte("\u202e")) || bytes.Contains(a.Body, []byte("Explorer")) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if r.sentBack(r.send(transcripts.Submit(r.consent(c).Form("connect", nil)))).Get("code") == "" {
		t.Error("no code")
	}
	for _, bad := range []string{"https://den.example/other.json", "https://169.254.169.254/latest/meta-data", "https://localhost/x"} {
		c := transcripts.NewConnection(bad, back)
		a := r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + c.Query().Encode()})
		if a.Status != 400 || a.Code() != "invalid_client" || bytes.Contains(a.Body, []byte("10.0.0.7")) || a.Header.Get("Location") != "" {
			t.Errorf("%s: %d %s", bad, a.Status, a.Body)
		}
	}
	if !strings.Contains(log.String(), "10.0.0.7") {
		t.Error("the log does not say why")
	}
	before := len(fetched)
	for _, bad := range []string{"https://den.example", "https://u@den.example/x", "https://den.example/x?y", "https://den.example/../x", "http://den.example/x", r.URL + "/x"} {
		c := transcripts.NewConnection(bad, back)
		if a := r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + c.Query().Encode()}); a.Status != 400 {
			t.Errorf("%s: %d", bad, a.Status)
		}
	}
	if len(fetched) != before {
		t.Errorf("fetched %v", fetched[before:])
	}
}

// No redirect is open: whatever a client registers or sends, an answer leads
// only to what was registered, and nothing that is wrong leads anywhere.
func TestNoOpenRedirect(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	client := r.register("A client")
	for _, uri := range []string{
		"https://evil.example/", "https://client.example.evil.example/cb", "https://client.example@evil.example/cb", `https://client.example\@evil.example/cb`,
		"https://client.example/cb/../x", "https://client.example/cb#", "//evil.example/cb", "/cb", "javascript:alert(1)", "data:text/html,x", "http://client.example/cb",
		"http://127.0.0.1.evil.example/callback", "http://127.0.0.1:80@evil.example/callback", "http://localhost/callback", "https://127.0.0.1/callback", "http://127.0.0.1/callback?x",
		"https://client.example/cb\r\nSet-Cookie: x=1", "https://CLIENT.example/cb", "https://client.example:443/cb",
	} {
		c := transcripts.NewConnection(client, uri)
		for _, broken := range []bool{false, true} { // with a mistake that would be told at the redirect URI
			q := c.Query()
			if broken {
				q.Set("response_type", "token")
			}
			a := r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + q.Encode()})
			if a.Status != 400 || a.Header.Get("Location") != "" || bytes.Contains(a.Body, []byte("href")) || bytes.Contains(a.Body, []byte("http-equiv")) || bytes.Contains(a.Body, []byte("<form")) {
				t.Errorf("%q: %d %s %s", uri, a.Status, a.Header.Get("Location"), a.Body)
			}
		}
	}
	if http.StatusOK != r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + transcripts.NewConnection(client, "https://client.example/cb").Query().Encode()}).Status {
		t.Error("the client's own redirect URI is refused")
	}
}

// Parameters are taken from the query alone: an object that holds them, by value
// or by reference (RFC 9101), is refused, back at the client.
func TestRequestObjectsAreRefused(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	for _, name := range []string{"request", "request_uri"} {
		q := r.connection().Query()
		q.Set(name, "https://client.example/request")
		a := r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + q.Encode()})
		if got := r.sentBack(a); a.Status != 302 || got.Get("error") != name+"_not_supported" || got.Get("code") != "" || got.Get("state") != q.Get("state") || got.Get("iss") != r.URL {
			t.Errorf("%s: %d %v", name, a.Status, got)
		}
	}
}
