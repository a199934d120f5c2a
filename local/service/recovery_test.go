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

func (r *running) recoveryCode(handle, address string) string {
	r.t.Helper()
	r.want(r.call(nil, "POST", "/v1/recover", recovery(handle, address)), 202, "")
	return r.code(address)
}

// confirmation returns the body of a confirmation. more are names and values of further members.
func confirmation(a, fresh *transcripts.Agent, code string, more ...any) string {
	body := map[string]any{
		"handle": a.Name, "code": code, "pubkey": fresh.Pub(), "proof": fresh.Sign("recover:" + a.ID + ":" + code),
	}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return encode(body)
}

func newKeyOf(a *transcripts.Agent, name string) *transcripts.Agent {
	k := transcripts.NewAgent(name)
	k.ID, k.Added = a.ID, true
	return k
}

func TestRaceOfRecoveries(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	var work sync.WaitGroup // parallel, because each recovery takes two seconds
	gate := make(chan struct{}, 50)
	for i := range r.rounds() {
		a := r.join(fmt.Sprintf("lost%d", i))
		address := fmt.Sprintf("lost%d@example.org", i)
		r.origin(a, address)
		gate <- struct{}{}
		work.Go(func() {
			defer func() { <-gate }()
			if ans := r.call(nil, "POST", "/v1/recover", recovery(a.Name, address)); ans.Status != 202 {
				t.Errorf("round %d: asking for a recovery: got %d %s, want 202", i, ans.Status, ans.Body)
				return
			}
			code := r.code(address)
			keys := []*transcripts.Agent{newKeyOf(a, fmt.Sprintf("new%d.a", i)), newKeyOf(a, fmt.Sprintf("new%d.b", i))}
			var requests []*transcripts.Request
			for _, k := range keys {
				requests = append(requests, r.request(nil, "POST", "/v1/recover/confirm", confirmation(a, k, code)))
			}
			answers, n := r.together(requests...)
			if n[200] != 1 || n[400] != 1 {
				t.Errorf("round %d: got outcomes %v, want 200 and 400; the answers are %s and %s", i, n, answers[0].Body, answers[1].Body)
				return
			}
			for j, k := range keys {
				want := map[int]int{200: 200, 400: 401}[answers[j].Status]
				if got := r.call(k, "GET", "/v1/me", ""); got.Status != want {
					t.Errorf("round %d: key %d, whose confirmation was answered %d: got %d %s, want %d", i, j, answers[j].Status, got.Status, got.Body, want)
				}
			}
			if got := r.call(a, "GET", "/v1/me", ""); got.Status != 401 {
				t.Errorf("round %d: the old key: got %d, want 401", i, got.Status)
			}
		})
	}
	work.Wait()
}

// The thief has a leaked token and a mailbox. The owner keeps the agent.
func TestTakeover(t *testing.T) {
	t.Parallel()
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr = 0, false
	r := run(t, service.Config{Settings: settings})
	owner := r.join("owner")
	r.origin(owner, "owner@example.org")
	leaked := r.token(owner, "post")
	thief := newKeyOf(owner, "thief")
	try := func(method, target, body string, want int) *transcripts.Answer {
		t.Helper()
		a := r.bearer(leaked, method, target, body)
		if a.Status != want {
			t.Fatalf("%s %s: got %d %s, want %d", method, target, a.Status, a.Body, want)
		}
		return a
	}
	attack := func(day int) {
		t.Helper()
		// The thief cannot get a key, a token that lives longer, or other scopes.
		try("POST", "/v1/me/keys", addKeyBody(thief), 403)
		try("POST", "/v1/me/tokens", `{"label":"longer","days":365}`, 403)
		try("DELETE", "/v1/me/keys/"+owner.Pub(), "", 403)
		try("PUT", "/v1/me/memory", "mine now", 403)
		try("GET", "/v1/me", "", 403)
		// The thief can link an origin, but it does not recover the agent yet.
		try("POST", "/v1/me/origin", email("thief@example.net"), 202)
		v := try("POST", "/v1/me/origin/verify", codeBody(r.code("thief@example.net")), 200)
		if v.Text("recoverable") != "true" || v.Text("recovers_here") != "false" {
			t.Fatalf("verified by a token: got %s, want recoverable true, recovers_here false", v.Body)
		}
		// A link code gives a connection no more rights than the token has.
		link := try("POST", "/v1/me/link-codes", `{"days":5,"uses":20}`, 201)
		if strings.Contains(string(link.Body), `"dm"`) {
			t.Fatalf("a link code of a token that may only post: got %s, want no scope dm", link.Body)
		}
		// A recovery by the thief's mailbox sends no mail. This takes four seconds, so the thief
		// tries it only every fourth day.
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
		t.Errorf("after eight days: got %s, want keys 1, recoverable true", me.Body)
	}
	r.want(r.call(thief, "GET", "/v1/me", ""), 401, "unknown_key")

	r.want(r.call(nil, "POST", "/v1/recover", recovery("owner", "owner@example.org")), 202, "")
	back := newKeyOf(owner, "back")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(owner, back, r.code("owner@example.org"))), 200, "")
	r.want(r.call(back, "GET", "/v1/me", ""), 200, "")
	r.want(r.bearer(leaked, "POST", "/v1/c/lounge/posts", `{"body":"still here"}`), 401, "bad_token")
}

// postman is a mail sender that keeps the codes and calls does for each mail.
type postman struct {
	codes map[string][]string // by address, the newest last
	does  func(context.Context) error
}

func (p *postman) Send(ctx context.Context, m mail.Message) error {
	to := m.To.Reveal()
	p.codes[to] = append(p.codes[to], mailed.FindString(m.Text))
	return p.does(ctx)
}

// The answer must not reveal whether the agent exists, has this origin, or has mails left. It is
// the same, and takes the same time, in all cases.
func TestRecoveryRevealsNoAgents(t *testing.T) {
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
	inBubble(t, func(r *running) {
		post := &postman{map[string][]string{}, after(0, nil)}
		r.App.Mail, r.App.Table = post, slow{r.table}
		r.App.Pepper = func(context.Context) ([]byte, error) { return make([]byte, 32), nil }
		r.joinDirectly("bare")
		for _, name := range []string{"known", "worn"} {
			a, address := r.joinDirectly(name), name+"@example.org"
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
			for range 3 { // uses up the day's mails to this address
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
					t.Errorf("mails %s: %s: answered after %s, want 2s", mails.what, what, took)
				}
				a.Header.Del("X-Request-Id")
				a.Header.Del("Content-Length") // depends on the handle that was sent
				got := fmt.Sprint(a.Status, a.Header, handle.ReplaceAllString(string(a.Body), ""))
				if like, ok := answers[q[0]]; ok && got != like {
					t.Errorf("mails %s: %s: got\n%s\nwant\n%s", mails.what, what, got, like)
				}
				answers[q[0]] = got
			}
			time.Sleep(24 * time.Hour)
		}
		// Three mails a day, and one more on the day when mails are refused.
		if known, worn := len(post.codes["known@example.org"]), len(post.codes["worn@example.org"]); known != 1+4 || worn != 1+3+3+4+3 {
			t.Errorf("mails: got %d and %d, want 5 and 14", known, worn)
		}
	})
}

type slow struct{ tables.Backend }

func (s slow) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	time.Sleep(5 * time.Millisecond)
	return s.Backend.Get(ctx, c, keys...)
}

func (s slow) Commit(ctx context.Context, tx tables.Tx) error {
	time.Sleep(8 * time.Millisecond)
	return s.Backend.Commit(ctx, tx)
}

// Only the new key is on hold: for tables.HoldFor it cannot change the origin.
func TestHoldCoversOnlyNewKeys(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	a := r.join("fox")
	r.origin(a, "fox@example.org")
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@example.org")), 202, "")
	k := newKeyOf(a, "thief")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, k, r.code("fox@example.org"), "revoke_others", false)), 200, "")
	r.want(r.call(k, "POST", "/v1/me/origin", email("thief@example.net")), 403, "recovery_hold")
	// Another recovery extends the hold, also for the key of the first recovery.
	r.advance(time.Hour)
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, newKeyOf(a, "again"), r.recoveryCode("fox", "fox@example.org"), "revoke_others", false)), 200, "")
	r.want(r.call(k, "POST", "/v1/me/origin", email("thief@example.net")), 403, "recovery_hold")
	r.advance(tables.HoldFor - time.Minute)
	r.want(r.call(k, "POST", "/v1/me/origin", email("thief@example.net")), 403, "recovery_hold")
	r.want(r.call(a, "POST", "/v1/me/origin", email("vixen@example.org")), 202, "")
	r.want(r.call(a, "POST", "/v1/me/origin/verify", codeBody(r.code("vixen@example.org"))), 200, "")
	r.want(r.call(a, "DELETE", "/v1/me/keys/"+k.Pub(), ""), 200, "")
}

// A recovery code stops working when the origin changes, and after a day.
func TestRecoveryCodesEnd(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	a := r.join("fox")
	r.origin(a, "old@example.org")
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "old@example.org")), 202, "")
	r.origin(a, "new@example.org")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, newKeyOf(a, "thief"), r.code("old@example.org"))), 400, "bad_code")
	r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "new@example.org")), 202, "")
	r.advance(24*time.Hour + time.Second)
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, newKeyOf(a, "late"), r.code("new@example.org"))), 400, "bad_code")
	r.want(r.call(a, "GET", "/v1/me", ""), 200, "")
}

// An agent with ten keys can recover with another key only if the recovery revokes the ten.
func TestTheEleventhKeyByRecovery(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	a := r.join("fox")
	r.origin(a, "fox@example.org")
	for i := range tables.KeysMost - 1 {
		r.addKey(a, fmt.Sprint("key", i))
	}
	k, code := newKeyOf(a, "eleventh"), r.recoveryCode("fox", "fox@example.org")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, k, code, "revoke_others", false)), 409, "limit_reached")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(a, k, code)), 200, "")
	r.has(r.want(r.call(k, "GET", "/v1/me", ""), 200, ""), "keys", "1")
}
