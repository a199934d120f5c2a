package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/lambda/host"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var mailed = regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}`)

// codes are those in the mails to an address, the newest first.
func (r *running) codes(address string) (codes []string) {
	r.t.Helper()
	var mails []struct{ Text string }
	a := r.call(nil, "GET", "/_local/mail?to="+address, "")
	if err := json.Unmarshal(a.Body, &mails); err != nil || len(mails) == 0 {
		r.t.Fatalf("no mail to %s: %d %s", address, a.Status, a.Body)
	}
	for _, m := range mails {
		codes = append(codes, mailed.FindString(m.Text))
	}
	return codes
}

// code is the one in the newest mail to an address.
func (r *running) code(address string) string { r.t.Helper(); return r.codes(address)[0] }

func (r *running) mails(address string) int {
	r.t.Helper()
	var mails []struct{}
	if err := json.Unmarshal(r.call(nil, "GET", "/_local/mail?to="+address, "").Body, &mails); err != nil {
		r.t.Fatal(err)
	}
	return len(mails)
}

func (r *running) mailWorks(works bool) {
	r.t.Helper()
	if a := r.call(nil, "POST", "/_local/mail", encode(map[string]bool{"fail": !works})); a.Status != 200 {
		r.t.Fatalf("mail: %d %s", a.Status, a.Body)
	}
}

func (r *running) want(a *transcripts.Answer, status int, code string) *transcripts.Answer {
	r.t.Helper()
	if a.Status != status || code != "" && a.Text("error.code") != code {
		r.t.Fatalf("%d %s, not %d %s", a.Status, a.Body, status, code)
	}
	return a
}

func email(address string) string { return encode(map[string]string{"email": address}) }
func codeBody(code string) string { return encode(map[string]string{"code": code}) }

// origin links an address to an agent with its key.
func (r *running) origin(a *transcripts.Agent, address string) {
	r.t.Helper()
	r.want(r.call(a, "POST", "/v1/me/origin", email(address)), 202, "")
	r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(r.code(address))), 200, "")
}

// token mints a bearer token.
func (r *running) token(a *transcripts.Agent, scopes ...string) string {
	r.t.Helper()
	ans := r.want(r.call(a, "POST", "/v1/me/tokens", encode(map[string]any{"label": "t", "scopes": scopes})), 201, "")
	return ans.Text("token")
}

func (r *running) bearer(token, method, target, body string) *transcripts.Answer {
	q := &transcripts.Request{Method: method, Target: target, Body: []byte(body), Header: map[string][]string{"Authorization": {"Bearer " + token}}}
	return r.send(q)
}

// Verifying an origin while another one is asked for: either the first is
// verified and the second waits, or the code is dead. Never is an address
// verified that nobody proved, and one request alone spends a code.
func TestRaceOfVerifyingAndLinkingAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() {
			a := r.join(fmt.Sprintf("linker%d", i))
			first, second := fmt.Sprintf("one%d@example.org", i), fmt.Sprintf("two%d@example.org", i)
			r.want(r.call(a, "POST", "/v1/me/origin", email(first)), 202, "")
			code, now := r.code(first), r.App.Now().Add(-2*time.Second) // or what follows could be the same bytes
			answers, _ := r.together(
				a.Signed("POST", "/v1/me/origin/verify", []byte(codeBody(code)), now),
				a.Signed("POST", "/v1/me/origin", []byte(email(second)), now),
				a.Signed("POST", "/v1/me/origin/verify", []byte(codeBody(code)), now.Add(time.Millisecond)),
			)
			verified := 0
			for _, j := range []int{0, 2} {
				switch ans := answers[j]; {
				case ans.Status == 200:
					verified++
				case ans.Text("error.code") != "bad_code":
					t.Fatalf("round %d: %d %s", i, ans.Status, ans.Body)
				}
			}
			r.want(answers[1], 202, "")
			state := r.call(a, "GET", "/v1/me", "").Text("origin")
			if verified > 1 || (verified == 1) != (state == "verified") {
				t.Fatalf("round %d: verified %d times, and the origin is %s", i, verified, state)
			}
			// The second, which waits, is as good as ever, unless the first took its place.
			again := r.call(a, "POST", "/v1/me/origin/verify", codeBody(r.code(second)))
			r.want(again, 200, "")
			r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(code)), 400, "bad_code")
		}
	})
}

// However many wrong codes come at once, five are counted, and then the right
// one is worth nothing.
func TestRaceOfWrongCodes(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() {
			a := r.join(fmt.Sprintf("guesser%d", i))
			address := fmt.Sprintf("guess%d@example.org", i)
			r.want(r.call(a, "POST", "/v1/me/origin", email(address)), 202, "")
			right, now := r.code(address), r.App.Now()
			const tries = 8
			var requests []*transcripts.Request
			for j := range tries {
				wrong := fmt.Sprintf("%08d", j)
				requests = append(requests, a.Signed("POST", "/v1/me/origin/verify", []byte(codeBody(wrong)), now.Add(time.Duration(j)*time.Millisecond)))
			}
			_, n := r.together(requests...)
			if n[400] != tries {
				t.Fatalf("round %d: %v", i, n)
			}
			items, err := r.table.Get(t.Context(), tables.Strong, tables.PendingOriginKey(a.ID))
			if err != nil || items[0].Int("tries") != 5 {
				t.Fatalf("round %d: %d tries counted, %v", i, items[0].Int("tries"), err)
			}
			r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(right)), 400, "bad_code")
		}
	})
}

// An address is nowhere: not in an item, not in the stream, not in the log.
func TestAddressesAreNowhere(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	r := run(t, service.Config{Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	fox := r.join("fox")
	const local, address = "Quite.Particular", "Quite.Particular+tag@Mail.Example.org"
	var answers [][]byte
	keep := func(a *transcripts.Answer) { answers = append(answers, a.Body) }
	keep(r.call(fox, "POST", "/v1/me/origin", email("quite.particular@@example.org")))
	keep(r.call(fox, "POST", "/v1/me/origin", encode(map[string]any{"email": address, "also": address})))
	keep(r.call(fox, "POST", "/v1/me/origin", email("quite.particular@"+strings.Repeat("mail.example.org.", 30))))
	r.mailWorks(false)
	keep(r.want(r.call(fox, "POST", "/v1/me/origin", email(address)), 503, "unavailable"))
	keep(r.call(nil, "POST", "/v1/recover", recovery("fox", address)))
	r.mailWorks(true)
	keep(r.want(r.call(fox, "POST", "/v1/me/origin", email(address)), 202, ""))
	first := r.code("quite.particular%2Btag@mail.example.org")
	keep(r.want(r.call(fox, "POST", "/v1/me/origin/verify", codeBody(first)), 200, ""))
	keep(r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", " "+strings.ToUpper(address)+" ")), 202, ""))
	second := r.code("quite.particular%2Btag@mail.example.org")
	keep(r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(fox, fresh(fox, "renard"), second)), 200, ""))
	r.mailWorks(false)
	keep(r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", address)), 202, ""))
	r.drain()

	var everything bytes.Buffer
	items, _ := r.changes("")
	if len(items) < 30 {
		t.Fatalf("%d changes looked at", len(items))
	}
	for _, c := range items { // every item there ever was is in the feed
		fmt.Fprintf(&everything, "%v %v %v\n", c.Key, c.Old, c.New)
	}
	seen := map[string]string{"items and stream": everything.String(), "log": log.String(), "answers": string(bytes.Join(answers, nil))}
	if !strings.Contains(seen["log"], "recovery not mailed") || !strings.Contains(seen["items and stream"], fox.ID) {
		t.Fatal("what is looked at is not what was written")
	}
	for where, text := range seen {
		text = strings.ToLower(text)
		for _, secret := range []string{local, "mail.example.org", "+tag", first, second, strings.ReplaceAll(first, "-", ""), strings.ReplaceAll(second, "-", "")} {
			if strings.Contains(text, strings.ToLower(secret)) {
				t.Errorf("%q stands in the %s", secret, where)
			}
		}
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *safeBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// What has an effect outside of the table has it once, though the same request
// comes twice at once, as from a client whose line is bad.
func TestTheSameRequestTwiceAtOnce(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { return slow{b} }})
	for i := range 5 {
		a := r.join(fmt.Sprintf("hasty%d", i))
		address := fmt.Sprintf("hasty%d@example.org", i)
		q := a.Signed("POST", "/v1/me/origin", []byte(email(address)), r.App.Now())
		answers, n := r.together(q, q, q)
		if n[202] < 1 || n[202]+n[409] != 3 {
			t.Fatalf("round %d: %v", i, n)
		}
		for _, ans := range answers {
			if ans.Status == 409 && ans.Text("error.code") != "busy" {
				t.Fatalf("round %d: %s", i, ans.Body)
			}
		}
		if n := r.mails(address); n != 1 {
			t.Fatalf("round %d: %d mails", i, n)
		}
		if ans := r.want(r.send(q), 202, ""); ans.Header.Get("Idempotent-Replayed") != "true" {
			t.Fatalf("round %d: done again: %s", i, ans.Body)
		}
		r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(r.code(address))), 200, "")

		r.want(r.call(nil, "POST", "/v1/recover", recovery(a.Name, address)), 202, "")
		back := fresh(a, fmt.Sprintf("back%d", i))
		same := r.request(nil, "POST", "/v1/recover/confirm", confirmation(a, back, r.code(address)))
		answers, n = r.together(same, same, same)
		if n[200] != 3 {
			t.Fatalf("round %d: %v %s %s %s", i, n, answers[0].Body, answers[1].Body, answers[2].Body)
		}
		r.want(r.call(back, "GET", "/v1/me", ""), 200, "")
	}
}

// That a wrong code could not be counted tells no more than the code itself:
// where there is none to count, nothing can be in the way.
func TestTroubleTellsNothing(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	a := r.join("fox")
	r.origin(a, "fox@example.org")
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@example.org")), 202, "")
	for _, fault := range []embedded.Fault{embedded.Conflict, embedded.Throttled, embedded.LostAnswer, embedded.LostRequest} {
		met := false
		r.embedded().SetFaults(func(_ string, keys []tables.Key) embedded.Fault {
			if slices.Contains(keys, tables.RecoveryKey(a.ID)) && len(keys) < 3 {
				met = true
				return fault
			}
			return embedded.None
		})
		wrong := fresh(a, "wrong")
		r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, wrong, "AAAA-AAAA")), 400, "bad_code")
		r.embedded().SetFaults(nil)
		if !met {
			t.Error("nothing was in the way")
		}
	}
}

// Whoever knows handle and address, and asks for every code there may be, only
// has the owner mailed: of the day's codes the last is good until there are others.
func TestMailsCannotBeUsedUp(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	a := r.join("fox")
	r.origin(a, "fox@example.org")
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() { r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@example.org")) })
	}
	work.Wait()
	if n := r.mails("fox@example.org"); n != 1+3 {
		t.Fatalf("%d mails", n)
	}
	r.advance(24*time.Hour - time.Minute)
	back := fresh(a, "back")
	var ok bool
	for _, code := range r.codes("fox@example.org")[:3] { // mails that were sent at once are in no order
		ok = ok || r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, back, code)).Status == 200
	}
	if !ok {
		t.Error("none of the codes is good after a day")
	}
}

// A request that died half-way may be sent again once its signature, or its
// key's day, is over, whatever TTL has got to.
func TestClaimsEnd(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	a := r.join("fox")
	q := &transcripts.Request{Method: "POST", Target: "/v1/me/origin", Body: []byte(email("fox@example.org")), Header: map[string][]string{
		"Authorization": {"Bearer " + r.token(a, "post")}, "Idempotency-Key": {"once"},
	}}
	r.want(r.send(q), 202, "")
	r.advance(25 * time.Hour)
	if ans := r.want(r.send(q), 202, ""); ans.Header.Get("Idempotent-Replayed") != "" {
		t.Error("replayed after a day")
	}
	if n := r.mails("fox@example.org"); n != 2 {
		t.Errorf("%d mails", n)
	}
}

// What claimed a request and died is given up after half a minute, in which no
// function runs any more: the same request is carried out then.
func TestClaimsOfTheDead(t *testing.T) {
	t.Parallel()
	if tables.ClaimFor < 2*host.GroupSize.Timeout {
		t.Errorf("a claim is over after %s, and a function runs for %s", tables.ClaimFor, host.GroupSize.Timeout)
	}
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	token := r.token(fox, "read", "post")
	for path, c := range map[string]struct {
		body   string
		status int
	}{
		"/v1/me/origin":           {email("fox@example.org"), 202},
		"/v1/me/credits/checkout": {`{"usd": 5}`, 201},
	} {
		q := &transcripts.Request{Method: "POST", Target: path, Body: []byte(c.body), Header: http.Header{
			"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Idempotency-Key": {path},
		}}
		if err := r.App.Transact(t.Context(), tables.ClaimRequest(fox.ID, "i:"+path, r.App.Now())); err != nil {
			t.Fatal(err)
		}
		r.want(r.send(q), 409, "busy")
		r.advance(tables.ClaimFor)
		if ans := r.want(r.send(q), c.status, ""); ans.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s is replayed", path)
		}
		if ans := r.want(r.send(q), c.status, ""); ans.Header.Get("Idempotent-Replayed") == "" {
			t.Errorf("%s is made twice", path)
		}
	}
	if n := r.mails("fox@example.org"); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// A key that moved on speaks for the agent that it registered last, whatever
// this process remembers of it.
func TestAKeyThatMovedOn(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	first := r.join("first")
	r.want(r.call(first, "GET", "/v1/me", ""), 200, "")
	other := fresh(first, "other")
	add := func(by, k *transcripts.Agent) {
		t.Helper()
		r.want(r.call(by, "POST", "/v1/me/keys", encode(map[string]string{
			"pubkey": k.Pub(), "label": "k", "proof": k.Sign("addkey:" + first.ID + ":" + k.Pub()),
		})), 201, "")
	}
	add(first, other)
	r.want(r.call(other, "DELETE", "/v1/me/keys/"+first.Pub(), ""), 200, "")
	add(other, first)
	second := &transcripts.Agent{Name: "second", Key: first.Key}
	if ans, err := second.Register(r.URL, "🦊"); err != nil || ans.Status != 201 {
		t.Fatalf("%v %s", err, ans.Body)
	}
	if got := r.want(r.call(second, "GET", "/v1/me", ""), 200, "").Text("handle"); got != "second" {
		t.Errorf("it speaks for %s", got)
	}
	added := *first
	added.Added = true
	if got := r.want(r.call(&added, "GET", "/v1/me", ""), 200, "").Text("handle"); got != "first" {
		t.Errorf("with x-agent-id it speaks for %s", got)
	}
}

// What makes another credential, or says who stands behind the agent, must not
// outlive the credential that it was made with: here that goes between the read
// and the write.
func TestNothingOutlivesItsCredential(t *testing.T) {
	t.Parallel()
	r, m := meddled(t)
	for i, c := range []struct {
		what, prefix string
		ask          func(owner, by, third *transcripts.Agent) *transcripts.Request
	}{
		{"a key", "KEY#", func(a, by, _ *transcripts.Agent) *transcripts.Request {
			n := fresh(a, a.Name+".d")
			return r.request(by, "POST", "/v1/me/keys", encode(map[string]string{
				"pubkey": n.Pub(), "label": "k", "proof": n.Sign("addkey:" + a.ID + ":" + n.Pub()),
			}))
		}},
		{"a token", "TOKENS", func(_, by, _ *transcripts.Agent) *transcripts.Request {
			return r.request(by, "POST", "/v1/me/tokens", `{"label":"t"}`)
		}},
		{"a link code", "LINKS", func(_, by, _ *transcripts.Agent) *transcripts.Request {
			return r.request(by, "POST", "/v1/me/link-codes", "")
		}},
		{"a pending origin", "ORIGIN?", func(a, by, _ *transcripts.Agent) *transcripts.Request {
			return r.request(by, "POST", "/v1/me/origin", email("x"+a.Name+"@example.org"))
		}},
		{"an origin", "ORIGIN", func(a, by, _ *transcripts.Agent) *transcripts.Request {
			address := a.Name + "@example.org"
			r.want(r.call(a, "POST", "/v1/me/origin", email(address)), 202, "")
			return r.request(by, "POST", "/v1/me/origin/verify", codeBody(r.code(address)))
		}},
		{"a removal", "KEY#", func(_, by, third *transcripts.Agent) *transcripts.Request {
			return r.request(by, "DELETE", "/v1/me/keys/"+third.Pub(), "")
		}},
	} {
		a := r.join(fmt.Sprintf("own%d", i))
		by, third := r.addKey(a, a.Name+".b"), r.addKey(a, a.Name+".c")
		q := c.ask(a, by, third)
		m.once(func(tx tables.Tx) bool { // its own, not the removal's check or the note of a credential's use
			return len(tx.Writes) > 2 && slices.ContainsFunc(tx.Writes, func(w tables.Write) bool {
				return w.Op != tables.OpCheck && strings.HasPrefix(w.Key.SK, c.prefix)
			})
		}, func() { r.want(r.call(a, "DELETE", "/v1/me/keys/"+by.Pub(), ""), 200, "") })
		if ans := r.send(q); ans.Status != 401 || ans.Text("error.code") != "unknown_key" {
			t.Errorf("%s, while its key is removed: %d %s", c.what, ans.Status, ans.Body)
		}
		if !m.done() {
			t.Errorf("%s: nothing was written", c.what)
		}
	}
}
