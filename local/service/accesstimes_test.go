package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/shared/identity/oauth"
	"agentsocial/shared/outside/mail"
	"agentsocial/tables"
)

type outbox []string

func (o *outbox) Send(_ context.Context, m mail.Message) error {
	*o = append(*o, m.Text)
	return nil
}

func (o *outbox) last() (text, code string) {
	text = (*o)[len(*o)-1]
	return text, mailed.FindString(text)
}

// inMailedBubble is inBubble with an outbox. A person gets at most one mail a day that
// names an agent.
func inMailedBubble(t *testing.T, play func(r *running, out *outbox)) {
	inBubble(t, func(r *running) {
		out := &outbox{}
		r.App.Mail, r.App.Settings.Limits.MailsDay = out, 1
		r.App.Pepper = func(context.Context) ([]byte, error) { return make([]byte, 32), nil }
		play(r, out)
	})
}

// A mail that names no agent has a code for all agents. It expires at the end of the next
// UTC day, however late on a day it is sent.
func TestOriginCode_Times(t *testing.T) {
	inMailedBubble(t, func(r *running, out *outbox) {
		for _, hour := range []time.Duration{6, 18} {
			time.Sleep(time.Until(time.Now().Truncate(24 * time.Hour).Add(24*time.Hour + hour*time.Hour)))
			today := time.Now().Truncate(24 * time.Hour)
			address := fmt.Sprintf("fox%d@den.example", hour)
			first, second, third := r.joinDirectly(fmt.Sprint("first", hour)), r.joinDirectly(fmt.Sprint("second", hour)), r.joinDirectly(fmt.Sprint("third", hour))
			asked := r.want(r.call(first, "POST", "/v1/me/origin", email(address)), 202, "")
			if text, _ := out.last(); !strings.Contains(text, "15 minutes") || strings.Contains(string(asked.Body), "names no agent") {
				t.Errorf("the mail that names the agent: got %s and the answer %s, want 15 minutes and an answer without \"names no agent\"", text, asked.Body)
			}
			expires := func(key tables.Key, in time.Duration) {
				r.set(key, tables.SetAttr("expires_at", time.Now().Add(in).UnixMilli()))
			}
			_, code := out.last()
			expires(tables.PendingOriginKey(first.ID), 0)
			r.want(r.call(first, "POST", "/v1/me/origin/verify", codeBody(code)), 400, "bad_code")
			expires(tables.PendingOriginKey(first.ID), time.Millisecond)
			r.has(r.want(r.call(first, "POST", "/v1/me/origin/verify", codeBody(code)), 200, ""), "recoverable", "true", "recovers_here", "true", "next.len", "1")

			asked = r.want(r.call(second, "POST", "/v1/me/origin", email(address)), 202, "")
			text, code := out.last()
			if !strings.Contains(text, "works for a day\n") || !strings.Contains(asked.Text("next.0.why"), "names no agent") {
				t.Errorf("the mail for all agents: got %s and the answer %s, want \"works for a day\" and an answer with \"names no agent\"", text, asked.Body)
			}
			r.has(asked, "expires_at", fmt.Sprint(time.Now().Add(24*time.Hour).UnixMilli()))
			shared := tables.SharedCodeKey(r.item(tables.PendingOriginKey(second.ID)).Str("person"))
			if got := r.item(shared).Int("expires_at"); got != today.Add(48*time.Hour).UnixMilli() {
				t.Errorf("the code for all agents expires at %d, want the end of the next day", got)
			}
			expires(shared, 0)
			r.want(r.call(second, "POST", "/v1/me/origin/verify", codeBody(code)), 400, "bad_code")
			expires(shared, time.Millisecond)
			r.want(r.call(second, "POST", "/v1/me/origin/verify", codeBody(code)), 200, "")
			r.has(r.want(r.call(third, "POST", "/v1/me/origin", email(address)), 429, "rate_limited"), "error.retry_at", fmt.Sprint(today.Add(24*time.Hour).UnixMilli()))
		}
	})
}

// If the mail of a code fails, the same request sent again at once mails a code.
func TestOriginCode_MailFails(t *testing.T) {
	inMailedBubble(t, func(r *running, out *outbox) {
		r.App.Mail = &postman{map[string][]string{}, func(context.Context) error { return errors.New("no answer") }}
		q := r.request(r.joinDirectly("fox"), "POST", "/v1/me/origin", email("fox@den.example"))
		r.want(r.send(q), 503, "unavailable")
		r.App.Mail = out
		r.want(r.send(q), 202, "")
	})
}

// A token may ask to link an address once the code of a signed request has expired.
func TestOriginCode_WaitsForKey(t *testing.T) {
	inMailedBubble(t, func(r *running, _ *outbox) {
		fox := r.joinDirectly("fox")
		token := r.token(fox, "post")
		r.want(r.call(fox, "POST", "/v1/me/origin", email("fox@den.example")), 202, "")
		for in, c := range map[int64]struct {
			status int
			code   string
		}{1: {403, "signature_required"}, 0: {202, ""}} {
			r.set(tables.PendingOriginKey(fox.ID), tables.SetAttr("key_until", time.Now().UnixMilli()+in))
			r.want(r.bearer(token, "POST", "/v1/me/origin", email(fmt.Sprintf("fox%d@den.example", in))), c.status, c.code)
		}
	})
}

func TestRecoveryCode_Boundaries(t *testing.T) {
	inMailedBubble(t, func(r *running, out *outbox) {
		const address = "fox@den.example"
		fox := r.joinDirectly("fox")
		r.want(r.call(fox, "POST", "/v1/me/origin", email(address)), 202, "")
		_, code := out.last()
		r.want(r.call(fox, "POST", "/v1/me/origin/verify", codeBody(code)), 200, "")
		r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", address)), 202, "")
		_, code = out.last()
		key := tables.RecoveryKey(fox.ID)
		fresh := newKeyOf(fox, "fresh")
		confirm := func(code string, status int, reason string) string {
			t.Helper()
			return r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(fox, fresh, code)), status, reason).Header.Get("Idempotent-Replayed")
		}
		tries := func(n int64) { r.set(key, tables.SetAttr("tries", n)) }
		tries(oauth.RecoveryTries - 1)
		confirm("AAAA-AAAA", 400, "bad_code")
		confirm("AAAA-AAAA", 400, "bad_code")
		if got := r.item(key).Int("tries"); got != oauth.RecoveryTries {
			t.Errorf("got %d tries, want %d", got, oauth.RecoveryTries)
		}
		confirm(code, 400, "bad_code")
		tries(oauth.RecoveryTries - 1)
		r.set(key, tables.SetAttr("expires_at", time.Now().UnixMilli()))
		confirm(code, 400, "bad_code")
		r.set(key, tables.SetAttr("expires_at", time.Now().UnixMilli()+1))
		at := time.Now()
		confirm(code, 200, "")
		time.Sleep(time.Until(at.Add(15 * time.Minute)))
		if confirm(code, 200, "") != "true" {
			t.Error("after 15 minutes: got a new answer, want the first one")
		}
		time.Sleep(time.Until(at.Add(15*time.Minute + time.Millisecond)))
		confirm(code, 400, "bad_code")
	})
}

// A recovery code ends when another address is verified, but not when the same address is.
func TestRecoveryCode_OtherAddress(t *testing.T) {
	inMailedBubble(t, func(r *running, out *outbox) {
		r.App.Settings.Limits.MailsDay, r.App.Settings.Limits.OriginsDay = 9, 9
		fox := r.joinDirectly("fox")
		verify := func(address string) {
			r.want(r.call(fox, "POST", "/v1/me/origin", email(address)), 202, "")
			_, code := out.last()
			r.want(r.call(fox, "POST", "/v1/me/origin/verify", codeBody(code)), 200, "")
		}
		verify("fox@den.example")
		r.want(r.call(nil, "POST", "/v1/recover", recovery("fox", "fox@den.example")), 202, "")
		for _, c := range []struct {
			address string
			valid   bool
		}{{"fox@den.example", true}, {"fox@hill.example", false}} {
			verify(c.address)
			if valid := r.item(tables.RecoveryKey(fox.ID)) != nil; valid != c.valid {
				t.Errorf("whether the code is stored after %s was verified: got %t, want %t", c.address, valid, c.valid)
			}
		}
	})
}

func TestRevokeToken_Expired(t *testing.T) {
	inMailedBubble(t, func(r *running, _ *outbox) {
		fox := r.joinDirectly("fox")
		for in, status := range map[int64]int{0: 404, 1: 200} {
			token := r.want(r.call(fox, "POST", "/v1/me/tokens", fmt.Sprintf(`{"label":"%d"}`, in)), 201, "").Text("id")
			r.set(tables.TokenKey(fox.ID, token), tables.SetAttr("expires_at", time.Now().UnixMilli()+in))
			if got := r.call(fox, "DELETE", "/v1/me/tokens/"+token, ""); got.Status != status {
				t.Errorf("a token that expires in %d ms: got %d %s, want %d", in, got.Status, got.Body, status)
			}
		}
	})
}

// The answer to a repeated request for a link code has no code, and says how to get one.
func TestLinkCode_Repeated(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	q := r.request(r.join("fox"), "POST", "/v1/me/link-codes", "")
	r.has(r.want(r.send(q), 201, ""), "secret_shown", "false", "next.0.why", "see who connects with it")
	r.has(r.want(r.send(q), 201, ""), "secret_shown", "true", "next.0.why", "mint another one")
}

// The removal of a key or an origin is refused if another change overtakes it.
func TestAccess_Overtaken(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		for i, c := range []struct {
			method, target string // {key} stands for the agent's other key
			update         tables.Update
			status         int
			code           string
		}{
			{"DELETE", "/v1/me/keys/{key}", tables.Add("epoch", 1), 401, "unknown_key"},
			{"DELETE", "/v1/me/keys/{key}", tables.SetAttr("keys", int64(1)), 409, "last_key"},
			{"DELETE", "/v1/me/origin", tables.Add("epoch", 1), 401, "unknown_key"},
			{"DELETE", "/v1/me/origin", tables.SetAttr("hold_until", int64(7)), 409, "busy"},
		} {
			a := r.join(fmt.Sprint("fox", i))
			other := r.addKey(a, fmt.Sprint("other", i))
			profile := tables.ProfileKey(a.ID)
			m.once(func(tx tables.Tx) bool {
				return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == profile && len(w.Updates) > 0 })
			}, func() { r.set(profile, c.update) })
			ans := r.call(a, c.method, strings.ReplaceAll(c.target, "{key}", other.Pub()), "")
			if ans.Status != c.status || ans.Code() != c.code || !m.done() {
				t.Errorf("%s %s: got %d %s, overtaken %t; want %d %s, overtaken", c.method, c.target, ans.Status, ans.Body, m.done(), c.status, c.code)
			}
		}
	})
}

// An agent that removes its origin loses standing only where standing is required.
func TestForgetOrigin_Standing(t *testing.T) {
	t.Parallel()
	for needed, ends := range map[int64]string{0: "false", 1: "true"} {
		settings := generous()
		settings.Limits.StandingOwners = needed
		c := newJuryFixture(run(t, service.Config{Settings: settings}))
		c.has(c.want(c.call(c.citizen(), "DELETE", "/v1/me/origin", ""), 200, ""), "ends_standing", ends)
	}
}

// smallPages returns at most two of an agent's keys on a page.
type smallPages struct{ tables.Backend }

func (s smallPages) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.From == tables.AgentKeys("").From {
		q.Limit = 2
	}
	return s.Backend.Query(ctx, q)
}

func TestKeys_Pages(t *testing.T) {
	t.Parallel()
	c := service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { return smallPages{b} }}
	onBoth(t, c, func(t *testing.T, r *running) {
		a := r.join("fox")
		for i := range 4 {
			r.addKey(a, fmt.Sprint("key", i))
		}
		r.has(r.want(r.call(a, "GET", "/v1/me/keys", ""), 200, ""), "items.len", "5")
	})
}
