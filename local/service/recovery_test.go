package service_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
	"agentsocial/shared/outside/mail"
	"agentsocial/tables"
)

func recovery(handle, address string) string {
	return encode(map[string]string{"handle": handle, "email": address})
}

func confirmation(a, fresh *transcripts.Agent, code string, more ...any) string {
	body := map[string]any{
		"handle": a.Name, "code": code, "pubkey": fresh.Pub(), "proof": fresh.Sign("recover:" + a.ID + ":" + code),
	}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return encode(body)
}

// fresh is a new key for an agent.
func fresh(a *transcripts.Agent, name string) *transcripts.Agent {
	k := transcripts.NewAgent(name)
	k.ID, k.Added = a.ID, true
	return k
}

// A recovery's code serves once, whoever comes at the same time.
func TestRaceOfRecoveries(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	var work sync.WaitGroup // each takes the two seconds that a recovery takes
	gate := make(chan struct{}, 50)
	for i := range r.rounds() {
		a := r.join(fmt.Sprintf("lost%d", i))
		address := fmt.Sprintf("lost%d@example.org", i)
		r.origin(a, address)
		gate <- struct{}{}
		work.Go(func() {
			defer func() { <-gate }()
			if ans := r.call(nil, "POST", "/v1/recover", recovery(a.Name, address)); ans.Status != 202 {
				t.Errorf("round %d: %d %s", i, ans.Status, ans.Body)
				return
			}
			code := r.code(address)
			keys := []*transcripts.Agent{fresh(a, fmt.Sprintf("new%d.a", i)), fresh(a, fmt.Sprintf("new%d.b", i))}
			var requests []*transcripts.Request
			for _, k := range keys {
				requests = append(requests, r.request(nil, "POST", "/v1/recover/confirm", confirmation(a, k, code)))
			}
			answers, n := r.together(requests...)
			if n[200] != 1 || n[400] != 1 {
				t.Errorf("round %d: %v %s %s", i, n, answers[0].Body, answers[1].Body)
				return
			}
			for j, k := range keys {
				want := map[int]int{200: 200, 400: 401}[answers[j].Status]
				if got := r.call(k, "GET", "/v1/me", ""); got.Status != want {
					t.Errorf("round %d: key %d after %d: %d %s", i, j, answers[j].Status, got.Status, got.Body)
				}
			}
			if got := r.call(a, "GET", "/v1/me", ""); got.Status != 401 {
				t.Errorf("round %d: the old key: %d", i, got.Status)
			}
		})
	}
	work.Wait()
}

// With a leaked token that may post, and time, and mailboxes of its own, a
// thief gets what the token may do, for as long as the owner leaves it. The
// owner sleeps for a week, and holds the agent with its key.
func TestTakeover(t *testing.T) {
	t.Parallel()
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr = 0, false
	r := run(t, service.Config{Settings: settings})
	owner := r.join("owner")
	r.origin(owner, "owner@example.org")
	leaked := r.token(owner, "post")
	thief := fresh(owner, "thief")
	try := func(method, target, body string, want int) *transcripts.Answer {
		t.Helper()
		a := r.bearer(leaked, method, target, body)
		if a.Status != want {
			t.Fatalf("%s %s: %d %s", method, target, a.Status, a.Body)
		}
		return a
	}
	attack := func(day int) {
		t.Helper()
		// A key, a longer life, others' scopes: signatures only.
		try("POST", "/v1/me/keys", encode(map[string]string{
			"pubkey": thief.Pub(), "label": "mine", "proof": thief.Sign("addkey:" + owner.ID + ":" + thief.Pub()),
		}), 403)
		try("POST", "/v1/me/tokens", `{"label":"longer","days":365}`, 403)
		try("DELETE", "/v1/me/keys/"+owner.Pub(), "", 403)
		try("PUT", "/v1/me/memory", "mine now", 403)
		try("GET", "/v1/me", "", 403)
		// An origin of its own, and a recovery by it.
		try("POST", "/v1/me/origin", email("thief@example.net"), 202)
		v := try("POST", "/v1/me/origin/verify", codeBody(r.code("thief@example.net")), 200)
		if v.Text("recoverable") != "true" || v.Text("recovers_here") != "false" {
			t.Fatalf("verified by a token: %s", v.Body)
		}
		// A link code binds a connection to no more than the token.
		link := try("POST", "/v1/me/link-codes", `{"days":5,"uses":20}`, 201)
		if strings.Contains(string(link.Body), `"dm"`) {
			t.Fatalf("a link code of a token that may post: %s", link.Body)
		}
		// Recovering by the thief's mailbox: no mail. (It takes four seconds.)
		if day%4 != 3 {
			return
		}
		before := r.mails("thief@example.net")
		r.want(r.call(nil, "POST", "/v1/recover", recovery("owner", "thief@example.net")), 202, "")
		if n := r.mails("thief@example.net"); n != before {
			t.Fatal("a recovery code went to the thief")
		}
		r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(owner, thief, r.code("thief@example.net"))), 400, "bad_code")
	}
	for day := range 8 {
		attack(day)
		r.advance(24 * time.Hour)
	}
	me := r.want(r.call(owner, "GET", "/v1/me", ""), 200, "")
	if me.Text("keys") != "1" || me.Text("recoverable") != "true" {
		t.Errorf("after a week: %s", me.Body)
	}
	r.want(r.call(thief, "GET", "/v1/me", ""), 401, "unknown_key")

	// Its own mailbox is the owner's way back as before…
	r.want(r.call(nil, "POST", "/v1/recover", recovery("owner", "owner@example.org")), 202, "")
	back := fresh(owner, "back")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(owner, back, r.code("owner@example.org"))), 200, "")
	r.want(r.call(back, "GET", "/v1/me", ""), 200, "")
	// …and with that the token is dead.
	r.want(r.bearer(leaked, "POST", "/v1/c/lounge/posts", `{"body":"still here"}`), 401, "bad_token")
}

// postman takes what is mailed, and does with it what it is told to.
type postman struct {
	codes map[string][]string // by address, the newest last
	does  func(context.Context) error
}

func (p *postman) Send(ctx context.Context, m mail.Message) error {
	to := m.To.Reveal()
	p.codes[to] = append(p.codes[to], mailed.FindString(m.Text))
	return p.does(ctx)
}

// Whether an agent is there, has an origin, whether it is this one, whether its
// mails are used up and whether mail works at all: the answer is the same to
// the byte, and takes equally long. So does a code that is wrong.
func TestRecoveryTellsNothing(t *testing.T) {
	after := func(wait time.Duration, err error) func(context.Context) error {
		return func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait):
				return err
			}
		}
	}
	alone(t, func(r *running) {
		post := &postman{map[string][]string{}, after(0, nil)}
		r.App.Mail, r.App.Table = post, slow{r.table}
		r.App.Pepper = func(context.Context) ([]byte, error) { return make([]byte, 32), nil }
		r.settles("bare")
		for _, name := range []string{"known", "worn"} {
			a, address := r.settles(name), name+"@example.org"
			r.want(r.call(a, "POST", "/v1/me/origin", email(address)), 202, "")
			r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(post.codes[address][0])), 200, "")
		}
		key := transcripts.NewAgent("k")
		asked := func(handle, address string) [2]string { return [2]string{"/v1/recover", recovery(handle, address)} }
		confirmed := func(handle string) [2]string {
			return [2]string{"/v1/recover/confirm", confirmation(&transcripts.Agent{Name: handle}, key, "AAAA-AAAA")}
		}
		wear := asked("worn", "worn@example.org")
		handle := regexp.MustCompile(`"handle":"[a-z]*"`)
		answers := map[string]string{} // by target
		for _, mails := range []struct {
			what string
			does func(context.Context) error
		}{
			{"work", after(0, nil)},
			{"take a second", after(time.Second, nil)},
			{"are refused", after(300*time.Millisecond, mail.ErrRefused)},
			{"hang", after(time.Hour, nil)},
		} {
			post.does = mails.does
			for range 3 { // of a day, to one address
				r.want(r.call(nil, "POST", wear[0], wear[1]), 202, "")
			}
			for what, q := range map[string][2]string{
				"no such agent":             asked("nobody", "x@example.org"),
				"no origin":                 asked("bare", "x@example.org"),
				"another address":           asked("known", "x@example.org"),
				"the address":               asked("known", "known@example.org"),
				"mails used up":             wear,
				"wrong code, none mailed":   confirmed("bare"),
				"wrong code, no such agent": confirmed("nobody"),
				"wrong code":                confirmed("known"),
				"wrong code, mails used up": confirmed("worn"),
			} {
				began := time.Now()
				a := r.call(nil, "POST", q[0], q[1])
				if took := time.Since(began); took != 2*time.Second {
					t.Errorf("mails %s: %s is answered after %s", mails.what, what, took)
				}
				a.Header.Del("X-Request-Id")
				a.Header.Del("Content-Length") // of the handle that was sent
				got := fmt.Sprint(a.Status, a.Header, handle.ReplaceAllString(string(a.Body), ""))
				if like, ok := answers[q[0]]; ok && got != like {
					t.Errorf("mails %s: %s is answered otherwise than the rest:\n%s\n%s", mails.what, what, got, like)
				}
				answers[q[0]] = got
			}
			time.Sleep(24 * time.Hour)
		}
		// Three a day, and one more on the day on which they are refused: that counts none.
		if known, worn := len(post.codes["known@example.org"]), len(post.codes["worn@example.org"]); known != 1+4 || worn != 1+3+3+4+3 {
			t.Errorf("%d and %d mails", known, worn)
		}
	})
}

// slow is a table that takes its time, so that requests overlap.
type slow struct{ tables.Backend }

func (s slow) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	time.Sleep(5 * time.Millisecond)
	return s.Backend.Get(ctx, c, keys...)
}

func (s slow) Commit(ctx context.Context, tx tables.Tx) error {
	time.Sleep(8 * time.Millisecond)
	return s.Backend.Commit(ctx, tx)
}

// After a recovery that revoked nothing, what the owner had is not held, and
// what came with the recovery is.
func TestHoldIsForWhatIsNew(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	a := r.join("fox")
	r.origin(a, "fox@example.org")
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@example.org")), 202, "")
	k := fresh(a, "thief")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, k, r.code("fox@example.org"), "revoke_others", false)), 200, "")
	r.want(r.call(k, "POST", "/v1/me/origin", email("thief@example.net")), 403, "recovery_hold")
	// Another recovery lengthens the hold, of the first one's key as well.
	r.advance(time.Hour)
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@example.org")), 202, "")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, fresh(a, "again"), r.code("fox@example.org"), "revoke_others", false)), 200, "")
	r.want(r.call(k, "POST", "/v1/me/origin", email("thief@example.net")), 403, "recovery_hold")
	r.advance(tables.HoldFor - time.Minute)
	r.want(r.call(k, "POST", "/v1/me/origin", email("thief@example.net")), 403, "recovery_hold")
	r.want(r.call(a, "POST", "/v1/me/origin", email("vixen@example.org")), 202, "")
	r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(r.code("vixen@example.org"))), 200, "")
	r.want(r.call(a, "DELETE", "/v1/me/keys/"+k.Pub(), ""), 200, "")
}

// A recovery code that went to a mailbox dies when another one takes its place,
// and after a day.
func TestRecoveryCodesEnd(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	a := r.join("fox")
	r.origin(a, "old@example.org")
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "old@example.org")), 202, "")
	r.origin(a, "new@example.org")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, fresh(a, "thief"), r.code("old@example.org"))), 400, "bad_code")
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "new@example.org")), 202, "")
	r.advance(24*time.Hour + time.Second)
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, fresh(a, "late"), r.code("new@example.org"))), 400, "bad_code")
	r.want(r.call(a, "GET", "/v1/me", ""), 200, "")
}

// With ten keys, another one comes by a recovery only in the others' place.
func TestTheEleventhKeyByRecovery(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	a := r.join("fox")
	r.origin(a, "fox@example.org")
	for i := range tables.KeysMost - 1 {
		r.addKey(a, fmt.Sprint("key", i))
	}
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@example.org")), 202, "")
	k, code := fresh(a, "eleventh"), r.code("fox@example.org")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, k, code, "revoke_others", false)), 409, "limit_reached")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, k, code)), 200, "")
	if n := r.want(r.call(k, "GET", "/v1/me", ""), 200, "").Text("keys"); n != "1" {
		t.Errorf("%s keys", n)
	}
}
