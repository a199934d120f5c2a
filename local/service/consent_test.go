package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/engines/logs"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

func (r *running) consent(c *transcripts.Connection) *transcripts.Consent {
	r.t.Helper()
	a := r.authorizePage(c.Query())
	page, err := a.Consent()
	if err != nil {
		r.t.Fatal(err)
	}
	return page
}

func (r *running) authorizePage(q url.Values) *transcripts.Answer {
	return r.send(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + q.Encode()})
}

func (r *running) connection() *transcripts.Connection {
	r.t.Helper()
	return transcripts.NewConnection(r.register("A client"), back)
}

// sentBack returns the query of an answer's redirect to the client.
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

// redeems exchanges a connection's code for tokens.
func (r *running) redeems(c *transcripts.Connection, code string) *transcripts.Answer {
	return r.send(form("/oauth/token", "grant_type", "authorization_code", "code", code,
		"code_verifier", c.Verifier, "redirect_uri", c.Redirect, "client_id", c.Client))
}

func TestRaceOfOneConsent(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := r.connection()
		for range r.rounds() {
			q := transcripts.Submit(r.consent(c).Form("connect", nil))
			answers, byStatus := r.settledOnce(q, q.Clone(), q.Clone())
			if byStatus[200] != 1 || byStatus[400] != 2 {
				t.Fatalf("got outcomes %v, want 1 × 200 and 2 × 400", byStatus)
			}
			for _, a := range answers {
				if a.Status == 400 && (a.Code() != "invalid_request" || !bytes.Contains(a.Body, []byte("already submitted"))) {
					t.Errorf("got %s: %s, want invalid_request and \"already submitted\"", a.Code(), a.Body)
				}
			}
		}
	})
}

// A mailed code allows five guesses on the consent page. After that the right code is
// refused, too.
func TestRaceOfGuessesOnTheConsentPage(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr = true
	l := &settings.Limits
	l.ConsentsHour, l.RecoveriesHour, l.RecoveriesDay = 1000, 1000, 1000
	onBoth(t, service.Config{Settings: settings}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		r.origin(fox, "fox@den.example")
		code := r.recoveryCode("fox", "fox@den.example")
		c := r.connection()
		counted := int64(0)
		for round := 0; round < 10 && counted < 5; round++ { // a guess that is not judged in time is not counted
			var guesses []*transcripts.Request
			for range 12 {
				guesses = append(guesses, transcripts.Submit(r.consent(c).Form("connect", filled("handle", "fox", "code", "0000-0000"))))
			}
			if _, byStatus := r.settledOnce(guesses...); byStatus[422] != 12 {
				t.Fatalf("got outcomes %v, want 12 × 422", byStatus)
			}
			counted = r.item(tables.RecoveryKey(fox.ID)).Int("tries")
		}
		if counted != 5 {
			t.Errorf("guesses counted: got %d, want 5", counted)
		}
		if a := r.send(transcripts.Submit(r.consent(c).Form("connect", filled("handle", "fox", "code", code)))); a.Status != 422 {
			t.Errorf("the right code after five guesses: got %d, want 422", a.Status)
		}
	})
}

// Twenty consent pages an hour may be answered from one network address.
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
			t.Fatalf("answer %d: got %d %s, want %d", i+1, a.Status, a.Body, want)
		}
		if a.Status == 429 && (a.Header.Get("Retry-After") == "" || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html")) {
			t.Errorf("headers: got %v, want Retry-After and text/html", a.Header)
		}
	}
	// Answers without a proof of work, or to a forged page, are not counted. Otherwise they
	// could use up the limit of others behind the same address.
	r.advance(time.Hour)
	for range 30 {
		page := r.consent(c)
		r.send(transcripts.Submit(page.Form("connect", filled("pow", page.Pow(false)))))
		r.send(transcripts.Submit(page.Form("connect", filled("asked", "x"))))
	}
	r.want(r.send(transcripts.Submit(r.consent(c).Form("connect", nil))), 200, "")
}

// Reconnections have a limit per minute for all callers together, because each holds a
// process for seconds.
func TestReconnectionsAreLimited(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.ReconnectsMinute = 2
	onBoth(t, service.Config{Settings: settings}, func(t *testing.T, r *running) {
		r.advance(r.App.Now().Truncate(time.Minute).Add(time.Minute + time.Second).Sub(r.App.Now()))
		c := r.connection()
		lost := func(more ...string) *transcripts.Answer {
			return r.send(transcripts.Submit(r.consent(c).Form("connect", filled(append(more, "handle", "fox", "code", "0000-0000")...))))
		}
		for i, want := range []int{422, 422, 429} {
			if got := lost().Status; got != want {
				t.Fatalf("answer %d: got %d, want %d", i+1, got, want)
			}
		}
		const advice = "leave the handle, the mail address and the mailed code empty"
		if a := lost("link_code", "lc_0"); a.Status != 429 || !strings.Contains(string(a.Body), advice) {
			t.Errorf("with a link code: got %d %s, want 429 with %q", a.Status, a.Body, advice)
		}
		if a := r.send(transcripts.Submit(r.consent(c).Form("connect", filled("link_code", "lc_0")))); a.Status != 422 || !strings.Contains(string(a.Body), "The link code is not valid") {
			t.Errorf("only a link code: got %d %s, want 422 for a code that is not valid", a.Status, a.Body)
		}
		if a := r.send(transcripts.Submit(r.consent(c).Form("connect", nil))); a.Status != 200 {
			t.Errorf("a new agent: got %d %s, want 200", a.Status, a.Body)
		}
		r.advance(time.Minute)
		if got := lost().Status; got != 422 {
			t.Errorf("a minute later: got %d, want 422", got)
		}
	})
}

func TestConsentIsBoundToItsPage(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	mine, theirs := r.connection(), transcripts.NewConnection(r.register("Another"), "http://127.0.0.1:7/callback")
	a, b := r.consent(mine), r.consent(theirs)
	work := b.Form("connect", nil).Get("pow")
	for work == a.Form("connect", nil).Get("pow") || a.Asked == b.Asked {
		b = r.consent(theirs)
		work = b.Form("connect", nil).Get("pow")
	}
	if ans := r.send(transcripts.Submit(a.Form("connect", filled("pow", work)))); ans.Code() != "bad_pow" && ans.Status != 200 { // the work fits both pages by chance, once in 2^14
		t.Errorf("another page's work: got %d %s, want bad_pow", ans.Status, ans.Body)
	}
	for i := 0; i < len(b.Asked); i += 17 {
		changed := b.Asked[:i] + string("AB"[b2i(b.Asked[i] == 'A')]) + b.Asked[i+1:]
		if ans := r.send(transcripts.Submit(b.Form("connect", filled("asked", changed)))); ans.Status != 400 {
			t.Fatalf("sealed field changed at %d: got %d, want 400", i, ans.Status)
		}
	}
	for _, other := range []string{strings.TrimPrefix(mine.Client, "dcr_"), r.want(r.call(nil, "GET", "/v1/challenge", ""), 200, "").Text("token")} {
		if ans := r.send(transcripts.Submit(b.Form("connect", filled("asked", other)))); ans.Status != 400 {
			t.Errorf("a value sealed for another purpose: got %d, want 400", ans.Status)
		}
	}
	twice := transcripts.Submit(b.Form("connect", nil))
	twice.Body = append(twice.Body, "&pow=1"...)
	if ans := r.send(twice); ans.Status != 400 {
		t.Errorf("a form with a repeated field: got %d, want 400", ans.Status)
	}
	if code := r.sentBack(r.send(transcripts.Submit(b.Form("connect", nil)))).Get("code"); code == "" {
		t.Error("the page after refused forms: got no code, want one")
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestConsentSizeLimits(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	c := r.connection()
	q := c.Query()
	q.Set("state", strings.Repeat("s", 2048))
	a := r.authorizePage(q)
	page, err := a.Consent()
	if err != nil {
		t.Fatal(err)
	}
	if got := r.sentBack(r.send(transcripts.Submit(page.Form("connect", nil)))); got.Get("state") != q.Get("state") || got.Get("code") == "" {
		t.Errorf("redirect: got %v, want the state and a code", got)
	}
	q.Set("state", strings.Repeat("s", 2049))
	a = r.authorizePage(q)
	if got := r.sentBack(a); a.Status != 302 || got.Get("error") != "invalid_request" || got.Has("state") {
		t.Errorf("a longer state: got %d %v, want 302, invalid_request and no state", a.Status, got)
	}
	for size, want := range map[int]int{16 << 10: 400, 16<<10 + 1: 413} {
		a := r.send(transcripts.Submit(filled("asked", strings.Repeat("x", size-len("asked=")))))
		if a.Status != want || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("a form of %d bytes: got %d %v, want %d and a page", size, a.Status, a.Header, want)
		}
		body := `{"redirect_uris":["` + back + `"]}`
		a = r.send(registering(body + strings.Repeat(" ", size-len(body))))
		if want := map[int]int{400: 201, 413: 413}[want]; a.Status != want {
			t.Errorf("a registration of %d bytes: got %d %s, want %d", size, a.Status, a.Body, want)
		}
	}
}

// The page shows only what is known of the client and what was typed.
func TestConsentForm(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		shows := func(a *transcripts.Answer, want ...string) {
			t.Helper()
			for _, s := range []string{`role="alert"`, `class="note"`, "It calls itself", "It is published by", `<details open>`} {
				if got := bytes.Contains(a.Body, []byte(s)); got != slices.Contains(want, s) {
					t.Errorf("the page has %s: got %v, want %v", s, got, !got)
				}
			}
			if n := bytes.Count(a.Body, []byte(`</code><span class="hint">`)); n != 1 { // only the scope post has a hint
				t.Errorf("got %d hints for scopes, want 1", n)
			}
		}
		c, nameless := r.connection(), transcripts.NewConnection(r.register(""), back)
		shows(r.authorizePage(nameless.Query()))
		shows(r.authorizePage(c.Query()), "It calls itself")
		shows(r.send(transcripts.Submit(r.consent(c).Form("connect", filled("handle", "fox")))), "It calls itself", `role="alert"`, `<details open>`)
		shows(r.send(transcripts.Submit(r.consent(c).Form("connect", filled("link_code", "x")))), "It calls itself", `role="alert"`)
		for said, fields := range map[string]url.Values{"The link code is not valid": filled("link_code", "x"), "enter its handle": filled("code", "x"), "Enter a link code, or": filled("link_code", "x", "code", "x")} {
			if a := r.send(transcripts.Submit(r.consent(c).Form("connect", fields))); a.Status != 422 || !bytes.Contains(a.Body, []byte(said)) {
				t.Errorf("%v: got %d %s, want 422 and %q", fields, a.Status, a.Body, said)
			}
		}

		for from, want := range map[[2]string]int{
			{}: 200, {"same-origin"}: 200, {"same-site"}: 403, {"cross-site", "null"}: 403, {"none"}: 403,
			{"", "null"}: 200, {"", r.URL}: 200, {"", "https://evil.example"}: 403, {"same-origin", r.URL}: 200, {"same-origin", "https://evil.example"}: 403,
		} {
			q := transcripts.Submit(r.consent(c).Form("connect", nil))
			q.Header.Del("Sec-Fetch-Site")
			q.Header.Del("Origin")
			for i, name := range []string{"Sec-Fetch-Site", "Origin"} {
				if from[i] != "" {
					q.Header.Set(name, from[i])
				}
			}
			if a := r.send(q); a.Status != want {
				t.Errorf("site and origin %q: got %d, want %d", from, a.Status, want)
			}
		}

		for size, want := range map[int]int{32: 200, 33: 400} {
			page, pow := r.consent(c), ""
			for n := 0; pow == "" || auth.ZeroBits(page.Work+pow) < page.Bits; n++ {
				pow = fmt.Sprintf("%0*d", size, n)
			}
			if a := r.send(transcripts.Submit(page.Form("connect", filled("pow", pow)))); a.Status != want {
				t.Errorf("a proof of %d characters: got %d, want %d", size, a.Status, want)
			}
		}
		for n, want := range map[int]int{0: 422, 1: 200, 2: 200} {
			if a := r.send(transcripts.Submit(r.consent(c).Form("connect", url.Values{"scope": auth.Scopes[:n]}))); a.Status != want {
				t.Errorf("%d scopes: got %d, want %d", n, a.Status, want)
			}
		}

		for _, name := range []string{"client_id", "redirect_uri", "response_type", "state", "code_challenge", "code_challenge_method", "scope", "response_mode"} {
			q := c.Query()
			q[name] = []string{q.Get(name), q.Get(name)}
			a := r.authorizePage(q)
			if name == "client_id" || name == "redirect_uri" {
				if a.Status != 400 || !bytes.Contains(a.Body, []byte("2 times")) {
					t.Errorf("%s twice: got %d %s, want 400 and the count", name, a.Status, a.Body)
				}
			} else if got := r.sentBack(a).Get("error"); got != "invalid_request" {
				t.Errorf("%s twice: got %q, want invalid_request", name, got)
			}
		}
	})
}

// hides matches a page's random values.
var hides = regexp.MustCompile(`name="asked" value="[^"]*"|data-work="[^"]*"`)

// Neither an answer nor its time tells whether the agent exists, what its origin is, or
// whether a mail was sent.
func TestConsentPageRevealsNoAgents(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.MailsDay = 1
	r := run(t, service.Config{Settings: settings})
	fox := r.join("fox")
	r.origin(fox, "fox@den.example")
	r.advance(25 * time.Hour) // a new day for the limit of mails
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
				t.Errorf("%s: answered after %v, want at least 1.9s", what, took)
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
			t.Errorf("%s: got\n%s\nwant\n%s", what, body, like)
		}
	}
}

// The history and the inbox report a reconnection by origin as a recovery.
func TestReconnectingIsARecovery(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		r.origin(fox, "fox@den.example")
		code := r.recoveryCode("fox", "fox@den.example")
		fields := filled("handle", "@fox", "code", strings.ToLower(code))
		first, second := r.connection(), r.connection()
		redeemable := func(c *transcripts.Connection) string {
			return r.sentBack(r.send(transcripts.Submit(r.consent(c).Form("connect", fields)))).Get("code")
		}
		a, b := redeemable(first), redeemable(second)
		tokens := r.want(r.redeems(first, a), 200, "")
		if got := r.whoami(tokens); got != fox.ID {
			t.Errorf("agent of the connection: got %s, want %s", got, fox.ID)
		}
		r.refused(r.redeems(second, b), "invalid_grant") // one mail is good for one connection
		if got := r.send(transcripts.Submit(r.consent(second).Form("connect", fields))); got.Status != 422 {
			t.Errorf("a used code: got %d, want 422", got.Status)
		}
		r.want(r.bearer(tokens.Text("access_token"), "POST", "/v1/me/origin", email("thief@den.example")), 403, "recovery_hold")
		r.want(r.call(fox, "GET", "/v1/me", ""), 200, "") // keys stay
		r.has(r.want(r.call(nil, "GET", "/v1/agents/fox/history", ""), 200, ""), "items.0.kind", "recovered")
		r.drain()
		if got := r.want(r.call(fox, "GET", "/v1/me/inbox", ""), 200, ""); !bytes.Contains(got.Body, []byte(`"change":"recovered"`)) {
			t.Errorf("got the inbox %s, want the change recovered in it", got.Body)
		}
	})
}

func TestRecoveryRevokesConsentCodes(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	r.origin(fox, "fox@den.example")
	link := r.linkCode(fox, "")
	c := r.connection()
	code := r.sentBack(r.send(transcripts.Submit(r.consent(c).Form("connect", filled("link_code", link))))).Get("code")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(fox, newKeyOf(fox, "key2"), r.recoveryCode("fox", "fox@den.example"))), 200, "")
	r.refused(r.redeems(c, code), "invalid_grant")
	if a := r.send(transcripts.Submit(r.consent(c).Form("connect", filled("link_code", link)))); a.Status != 422 {
		t.Errorf("a link code of an earlier epoch: got %d, want 422", a.Status)
	}
}

// A registration is sealed in the client ID.
func TestClientsAreNotStored(t *testing.T) {
	t.Parallel()
	r := run(t, keepingFeed(unlimited()))
	r.join("fox")
	r.drain()
	before, at := r.changes("")
	if len(before) == 0 {
		t.Fatal("the feed has no changes before the registration")
	}
	id := r.register("A client")
	r.drain()
	if more, _ := r.changes(at); len(more) != 0 {
		t.Errorf("changes by a registration: got %v, want none", more)
	}
	r.consent(transcripts.NewConnection(id, back)) // the client works
}

// A client's ID can be the URL of its metadata document. Only the log says why a document
// cannot be fetched.
func TestClientsOfDocuments(t *testing.T) {
	t.Parallel()
	const id = "https://den.example/client.json"
	var log logs.Buffer
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
	a := r.authorizePage(c.Query())
	if !bytes.Contains(a.Body, []byte("It is published by</dt><dd>den.example<")) || bytes.Contains(a.Body, []byte("\u202e")) || bytes.Contains(a.Body, []byte("Explorer")) {
		t.Errorf("got %d %s, want a page with the publisher and without the misleading name", a.Status, a.Body)
	}
	if r.sentBack(r.send(transcripts.Submit(r.consent(c).Form("connect", nil)))).Get("code") == "" {
		t.Error("a client with a metadata document: got no code, want one")
	}
	for _, bad := range []string{"https://den.example/other.json", "https://169.254.169.254/latest/meta-data", "https://localhost/x"} {
		c := transcripts.NewConnection(bad, back)
		a := r.authorizePage(c.Query())
		if a.Status != 400 || a.Code() != "invalid_client" || bytes.Contains(a.Body, []byte("10.0.0.7")) || a.Header.Get("Location") != "" {
			t.Errorf("%s: got %d %s, want 400, invalid_client, Location unset and no 10.0.0.7", bad, a.Status, a.Body)
		}
	}
	if !strings.Contains(log.String(), "10.0.0.7") {
		t.Error("the log does not say why the fetch failed")
	}
	before := len(fetched)
	for _, bad := range []string{"https://den.example", "https://u@den.example/x", "https://den.example/x?y", "https://den.example/../x", "http://den.example/x", r.URL + "/x"} {
		c := transcripts.NewConnection(bad, back)
		if a := r.authorizePage(c.Query()); a.Status != 400 {
			t.Errorf("%s: got %d, want 400", bad, a.Status)
		}
	}
	if len(fetched) != before {
		t.Errorf("fetched: got %v, want nothing", fetched[before:])
	}
}

// ownLinks matches links of a page to the service itself.
var ownLinks = regexp.MustCompile(`href="/([a-z][a-z.-]*)?"`)

// The service redirects only to a registered URI, even to report an error.
func TestNoOpenRedirect(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	client := r.register("A client")
	for _, uri := range []string{
		"https://evil.example/", "https://client.example.evil.example/cb", "https://client.example@evil.example/cb", `https://client.example\@evil.example/cb`,
		"https://client.example/cb/../x", "https://client.example/cb#", "//evil.example/cb", "/cb", "javascript:alert(1)", "data:text/html,x", "http://client.example/cb",
		"http://127.0.0.1.evil.example/callback", "http://127.0.0.1:80@evil.example/callback", "http://localhost/callback", "https://127.0.0.1/callback", "http://127.0.0.1/callback?x",
		"https://client.example/cb\r\nSet-Cookie: x=1", "https://CLIENT.example/cb", "https://client.example:443/cb",
	} {
		c := transcripts.NewConnection(client, uri)
		for _, broken := range []bool{false, true} { // with an error that would otherwise go to the redirect URI
			q := c.Query()
			if broken {
				q.Set("response_type", "token")
			}
			a := r.authorizePage(q)
			if a.Status != 400 || a.Header.Get("Location") != "" || bytes.Contains(ownLinks.ReplaceAll(a.Body, nil), []byte("href")) || bytes.Contains(a.Body, []byte("http-equiv")) || bytes.Contains(a.Body, []byte("<form")) {
				t.Errorf("%q: got %d, Location %q and %s; want 400 without a form, a redirect or a link to another origin", uri, a.Status, a.Header.Get("Location"), a.Body)
			}
		}
	}
	if http.StatusOK != r.authorizePage(transcripts.NewConnection(client, "https://client.example/cb").Query()).Status {
		t.Error("the client's own redirect URI is refused")
	}
}

// Request objects (RFC 9101) are refused with a redirect to the client.
func TestRequestObjectsAreRefused(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	for _, name := range []string{"request", "request_uri"} {
		q := r.connection().Query()
		q.Set(name, "https://client.example/request")
		a := r.authorizePage(q)
		if got := r.sentBack(a); a.Status != 302 || got.Get("error") != name+"_not_supported" || got.Get("code") != "" || got.Get("state") != q.Get("state") || got.Get("iss") != r.URL {
			t.Errorf("%s: got %d %v, want 302, %[1]s_not_supported, the state, iss and no code", name, a.Status, got)
		}
	}
}
