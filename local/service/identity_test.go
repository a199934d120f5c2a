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
	"testing"
	"time"

	"agentsocial/local/engines/logs"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/lambda/host"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var mailed = regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}`)

// codes returns the codes mailed to an address, newest first.
func (r *running) codes(address string) (codes []string) {
	r.t.Helper()
	var mails []struct{ Text string }
	a := r.call(nil, "GET", "/_local/mail?to="+address, "")
	if err := json.Unmarshal(a.Body, &mails); err != nil || len(mails) == 0 {
		r.t.Fatalf("mails to %s: got %d %s, want at least one mail", address, a.Status, a.Body)
	}
	for _, m := range mails {
		codes = append(codes, mailed.FindString(m.Text))
	}
	return codes
}

// code returns the code in the newest mail to an address.
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
	r.want(r.call(nil, "POST", "/_local/mail", encode(map[string]bool{"fail": !works})), 200, "")
}

func email(address string) string { return encode(map[string]string{"email": address}) }
func codeBody(code string) string { return encode(map[string]string{"code": code}) }

// origin links an address to an agent.
func (r *running) origin(a *transcripts.Agent, address string) {
	r.t.Helper()
	r.want(r.call(a, "POST", "/v1/me/origin", email(address)), 202, "")
	r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(r.code(address))), 200, "")
}

func (r *running) token(a *transcripts.Agent, scopes ...string) string {
	r.t.Helper()
	ans := r.want(r.call(a, "POST", "/v1/me/tokens", encode(map[string]any{"label": "t", "scopes": scopes})), 201, "")
	return ans.Text("token")
}

func (r *running) bearer(token, method, target, body string) *transcripts.Answer {
	return r.send(bearer(token, method, target, body))
}

// Either the first address is verified and the second waits, or the first one's code stops
// working.
func TestRaceOfVerifyingAndLinkingAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() {
			a := r.join(fmt.Sprintf("linker%d", i))
			first, second := fmt.Sprintf("one%d@example.org", i), fmt.Sprintf("two%d@example.org", i)
			r.want(r.call(a, "POST", "/v1/me/origin", email(first)), 202, "")
			code, now := r.code(first), r.App.Now().Add(-2*time.Second) // so that later requests differ in their bytes
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
					t.Fatalf("round %d: got %d %s, want 200 or bad_code", i, ans.Status, ans.Body)
				}
			}
			r.want(answers[1], 202, "")
			state := r.call(a, "GET", "/v1/me", "").Text("origin")
			if verified > 1 || (verified == 1) != (state == "verified") {
				t.Fatalf("round %d: verified %d times, origin %s; want it verified at most once, and the origin to match", i, verified, state)
			}
			// The second address can still be verified.
			again := r.call(a, "POST", "/v1/me/origin/verify", codeBody(r.code(second)))
			r.want(again, 200, "")
			r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(code)), 400, "bad_code")
		}
	})
}

// Five wrong codes are counted. Then the right one is refused.
func TestRaceOfWrongCodes(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
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
				t.Fatalf("round %d: got outcomes %v, want %d × 400", i, n, tries)
			}
			if n := r.item(tables.PendingOriginKey(a.ID)).Int("tries"); n != 5 {
				t.Fatalf("round %d: tries: got %d, want 5", i, n)
			}
			r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(right)), 400, "bad_code")
		}
	})
}

func TestAddressesAreNowhere(t *testing.T) {
	t.Parallel()
	var log logs.Buffer
	r := run(t, keepingFeed(service.Config{Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}))
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
	keep(r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(fox, newKeyOf(fox, "renard"), second)), 200, ""))
	r.mailWorks(false)
	keep(r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", address)), 202, ""))
	r.drain()

	var everything bytes.Buffer
	items, _ := r.changes("")
	if len(items) < 30 {
		t.Fatalf("changes: got %d, want at least 30", len(items))
	}
	for _, c := range items { // the feed has every version of every item
		fmt.Fprintf(&everything, "%v %v %v\n", c.Key, c.Old, c.New)
	}
	seen := map[string]string{"items and stream": everything.String(), "log": log.String(), "answers": string(bytes.Join(answers, nil))}
	if !strings.Contains(seen["log"], "recovery not mailed") || !strings.Contains(seen["items and stream"], fox.ID) {
		t.Fatal("the searched texts lack what was written")
	}
	for where, text := range seen {
		text = strings.ToLower(text)
		for _, secret := range []string{local, "mail.example.org", "+tag", first, second, strings.ReplaceAll(first, "-", ""), strings.ReplaceAll(second, "-", "")} {
			if strings.Contains(text, strings.ToLower(secret)) {
				t.Errorf("%q appears in the %s", secret, where)
			}
		}
	}
}

// An effect outside the table, such as a mail, happens once even if equal requests arrive
// at once.
func TestConcurrentEqualRequests(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { return slow{b} }})
	for i := range 5 {
		a := r.join(fmt.Sprintf("hasty%d", i))
		address := fmt.Sprintf("hasty%d@example.org", i)
		q := a.Signed("POST", "/v1/me/origin", []byte(email(address)), r.App.Now())
		answers, n := r.together(q, q, q)
		if n[202] < 1 || n[202]+n[409] != 3 {
			t.Fatalf("round %d: got outcomes %v, want 202 and 409, and at least one 202", i, n)
		}
		for _, ans := range answers {
			if ans.Status == 409 && ans.Text("error.code") != "busy" {
				t.Fatalf("round %d: got %s, want busy", i, ans.Body)
			}
		}
		if n := r.mails(address); n != 1 {
			t.Fatalf("round %d: mails: got %d, want 1", i, n)
		}
		if ans := r.want(r.send(q), 202, ""); ans.Header.Get("Idempotent-Replayed") != "true" {
			t.Fatalf("round %d: the same request again: got %s, want Idempotent-Replayed true", i, ans.Body)
		}
		r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(r.code(address))), 200, "")

		r.want(r.call(nil, "POST", "/v1/recover", recovery(a.Name, address)), 202, "")
		back := newKeyOf(a, fmt.Sprintf("back%d", i))
		same := r.request(nil, "POST", "/v1/recover/confirm", confirmation(a, back, r.code(address)))
		answers, n = r.together(same, same, same)
		if n[200] != 3 {
			t.Fatalf("round %d: got outcomes %v, want 3 × 200; the answers are %s, %s and %s", i, n, answers[0].Body, answers[1].Body, answers[2].Body)
		}
		r.want(r.call(back, "GET", "/v1/me", ""), 200, "")
	}
}

// A visible table fault would reveal that a code exists.
func TestTableFaultsRevealNoCodes(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
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
		wrong := newKeyOf(a, "wrong")
		r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, wrong, "AAAA-AAAA")), 400, "bad_code")
		r.embedded().SetFaults(nil)
		if !met {
			t.Error("the fault did not happen")
		}
	}
}

// A stranger who asks for all recovery codes of a day must not lock the owner out.
func TestLastRecoveryCodeStaysValid(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	a := r.join("fox")
	r.origin(a, "fox@example.org")
	atOnce(4, func(int) { r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@example.org")) })
	if n := r.mails("fox@example.org"); n != 1+3 {
		t.Fatalf("mails: got %d, want 4", n)
	}
	r.advance(24*time.Hour - time.Minute)
	back := newKeyOf(a, "back")
	var ok bool
	for _, code := range r.codes("fox@example.org")[:3] { // concurrent mails have no order
		ok = ok || r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, back, code)).Status == 200
	}
	if !ok {
		t.Error("no code works after almost a day, want one")
	}
}

// The record of a request ends after a day, even if TTL has not removed it.
func TestClaimExpires(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	a := r.join("fox")
	q := &transcripts.Request{Method: "POST", Target: "/v1/me/origin", Body: []byte(email("fox@example.org")), Header: map[string][]string{
		"Authorization": {"Bearer " + r.token(a, "post")}, "Idempotency-Key": {"once"},
	}}
	r.want(r.send(q), 202, "")
	r.advance(25 * time.Hour)
	if ans := r.want(r.send(q), 202, ""); ans.Header.Get("Idempotent-Replayed") != "" {
		t.Error("after a day: got a replay, want a new answer")
	}
	if n := r.mails("fox@example.org"); n != 2 {
		t.Errorf("got %d mails, want 2", n)
	}
}

// A dead process's claim of a request ends after ClaimFor, when no function can still be
// running.
func TestClaimOfADeadRequestExpires(t *testing.T) {
	t.Parallel()
	if tables.ClaimFor < 2*host.GroupSize.Timeout {
		t.Errorf("ClaimFor: got %s, want at least twice the timeout %s", tables.ClaimFor, host.GroupSize.Timeout)
	}
	r := run(t, unlimited())
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
		r.put(tables.ClaimRequest(fox.ID, "i:"+path, r.App.Now()))
		r.want(r.send(q), 409, "busy")
		r.advance(tables.ClaimFor)
		if ans := r.want(r.send(q), c.status, ""); ans.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: got a replay, want a new answer", path)
		}
		if ans := r.want(r.send(q), c.status, ""); ans.Header.Get("Idempotent-Replayed") == "" {
			t.Errorf("%s: got a new answer, want a replay", path)
		}
	}
	if n := r.mails("fox@example.org"); n != 1 {
		t.Errorf("got %d mails, want 1", n)
	}
}

// A key belongs to its first agent for good.
func TestKeyRegisteredByAnotherAgent(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	first, thief := r.join("first"), r.join("thief")
	r.origin(first, "first@example.org")
	r.origin(thief, "thief@example.org")
	other := r.addKey(first, "other")
	refused := func(when string) {
		t.Helper()
		code := r.recoveryCode("thief", "thief@example.org")
		for _, k := range []*transcripts.Agent{first, other} {
			stolen := &transcripts.Agent{Name: "stolen", Key: k.Key, ID: thief.ID, Added: true}
			r.want(r.call(thief, "POST", "/v1/me/keys", addKeyBody(stolen)), 409, "already_registered")
			r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(thief, stolen, code)), 409, "already_registered")
			alone := &transcripts.Agent{Name: "second", Key: k.Key}
			if ans, err := alone.Register(r.URL, "🦊"); err != nil || ans.Status != 409 || ans.Code() != "already_registered" {
				t.Errorf("%s: registration with %s: got %v %s, want already_registered", when, k.Name, err, ans.Body)
			}
			r.want(r.call(stolen, "GET", "/v1/me", ""), 401, "unknown_key")
		}
		r.advance(25 * time.Hour)
	}
	refused("while both work")
	r.want(r.call(other, "DELETE", "/v1/me/keys/"+first.Pub(), ""), 200, "")
	refused("when the original is removed")
	added := *first
	added.Added = true
	r.want(r.call(other, "POST", "/v1/me/keys", addKeyBody(&added)), 201, "")
	r.has(r.want(r.call(&added, "GET", "/v1/me", ""), 200, ""), "handle", "first")
	r.want(r.call(&added, "DELETE", "/v1/me/keys/"+other.Pub(), ""), 200, "")
	refused("when the other is removed")
	fresh := newKeyOf(first, "fresh")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(first, fresh, r.recoveryCode("first", "first@example.org"))), 200, "")
	refused("after a recovery")
	r.want(r.call(fresh, "POST", "/v1/me/keys", addKeyBody(other)), 201, "")
	r.has(r.want(r.call(other, "GET", "/v1/me", ""), 200, ""), "handle", "first")
}

// A request is refused if its credential is removed between the read and the write.
func TestRemovedCredentialCreatesNothing(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	for i, c := range []struct {
		what, prefix string
		ask          func(owner, by, third *transcripts.Agent) *transcripts.Request
	}{
		{"a key", "KEY#", func(a, by, _ *transcripts.Agent) *transcripts.Request {
			return r.request(by, "POST", "/v1/me/keys", addKeyBody(newKeyOf(a, a.Name+".d")))
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
		m.once(func(tx tables.Tx) bool { // not the removal, nor the note of a credential's use
			return len(tx.Writes) > 2 && slices.ContainsFunc(tx.Writes, func(w tables.Write) bool {
				return w.Op != tables.OpCheck && strings.HasPrefix(w.Key.SK, c.prefix)
			})
		}, func() { r.want(r.call(a, "DELETE", "/v1/me/keys/"+by.Pub(), ""), 200, "") })
		if ans := r.send(q); ans.Status != 401 || ans.Text("error.code") != "unknown_key" {
			t.Errorf("%s, while its key is removed: got %d %s, want 401 unknown_key", c.what, ans.Status, ans.Body)
		}
		if !m.done() {
			t.Errorf("%s: no commit was overtaken", c.what)
		}
	}
}
