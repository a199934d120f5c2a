package service_test

import (
	"fmt"
	"slices"
	"testing"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// puts matches transactions that put an item of a type.
func puts(typ string) func(tables.Tx) bool {
	return func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Item.Str(tables.AttrType) == typ })
	}
}

// A credential may end between the read and the commit of a request. The request then has no
// effect.
func TestOvertakenRequests(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		fox, owl := r.join("fox"), r.join("owl")
		second := r.addKey(fox, "fox.b")
		token := r.want(r.callRetry(fox, "POST", "/v1/me/tokens", `{"label":"t","scopes":["read","post"]}`), 201, "")
		mint := bearer(token.Text("token"), "POST", "/v1/me/link-codes", "")
		link := r.linkCode(owl, "")
		overtaken := func(what string, when func(tables.Tx) bool, lands func(), q *transcripts.Request) *transcripts.Answer {
			t.Helper()
			m.once(when, lands)
			a := r.send(q)
			if !m.done() {
				t.Errorf("%s: no commit was overtaken", what)
			}
			return a
		}

		a := overtaken("an assertion of a key", puts(tables.TypeAccess), func() {
			r.want(r.callRetry(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
		}, r.assertion(second, nil))
		r.refused(a, "invalid_grant")

		a = overtaken("a link code of a token", puts(tables.TypeLinkCode), func() {
			r.want(r.callRetry(fox, "DELETE", "/v1/me/tokens/"+token.Text("id"), ""), 200, "")
		}, mint)
		r.want(a, 401, "bad_token")

		a = overtaken("a connection of an epoch", puts(tables.TypeGrant), func() {
			r.set(tables.ProfileKey(owl.ID), tables.Add("epoch", 1)) // the code has the old epoch
		}, r.visit(linked(r, owl, link)).redemption())
		r.refused(a, "invalid_grant")
	})
}

func TestChannelMadeMeanwhile(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		fox, owl := r.grown(r.join("fox")), r.grown(r.join("owl"))
		r.want(r.call(fox, "GET", "/v1/channels", ""), 200, "") // creates the service's own channels
		const den = `{"name":"den","kind":"leisure"}`
		m.once(puts(tables.TypeChannel), func() { r.want(r.call(owl, "POST", "/v1/channels", den), 201, "") })
		r.want(r.call(fox, "POST", "/v1/channels", den), 409, "channel_exists")
		if by := r.item(tables.ChannelKey("den")).Str("created_by"); by != owl.ID || !m.done() {
			t.Errorf("created_by: got %s, overtaken %v; want %s, overtaken", by, m.done(), owl.ID)
		}
	})
}

// An update that another change of the profile overtakes is made again. If that change is a
// suspension or a recovery, the update is refused.
func TestUpdateOvertaken(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		for i, c := range []struct {
			update tables.Update
			status int
			code   string
		}{
			{tables.SetAttr("now", "digging"), 200, ""},
			{tables.SetAttr("suspended_until", int64(1)), 409, "busy"},
			{tables.Add("epoch", 1), 409, "busy"},
		} {
			a := r.join(fmt.Sprint("fox", i))
			r.token(a, "read")
			profile := tables.ProfileKey(a.ID)
			m.once(func(tx tables.Tx) bool {
				return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == profile && len(w.Updates) > 0 })
			}, func() { r.set(profile, c.update, tables.Add("version", 1)) })
			ans := r.want(r.call(a, "PATCH", "/v1/me", `{"bio":"A fox."}`), c.status, c.code)
			if !m.done() {
				t.Errorf("update %d was not overtaken", i)
			}
			if c.code == "" {
				r.has(ans, "bio", "A fox.", "now", "digging", "tokens", "1")
			}
		}
	})
}
