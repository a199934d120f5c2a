package service_test

import (
	"slices"
	"testing"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// puts tells the transaction that puts an item of a type.
func puts(typ string) func(tables.Tx) bool {
	return func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Item.Str(tables.AttrType) == typ })
	}
}

// What lands between a request's reading and its commit, and takes away what the
// request stands on, keeps it from having an effect.
func TestOvertakenRequests(t *testing.T) {
	t.Parallel()
	meddledBoth(t, func(t *testing.T, r *running, m *meddler) {
		fox, owl := r.join("fox"), r.join("owl")
		second := r.addKey(fox, "fox.b")
		token := r.want(r.patient(fox, "POST", "/v1/me/tokens", `{"label":"t","scopes":["read","post"]}`), 201, "")
		mint := bearer(token.Text("token"), "POST", "/v1/me/link-codes", "")
		link := r.want(r.patient(owl, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
		overtaken := func(what string, when func(tables.Tx) bool, lands func(), q *transcripts.Request) *transcripts.Answer {
			t.Helper()
			m.once(when, lands)
			a := r.send(q)
			if !m.done() {
				t.Errorf("%s: nothing was committed", what)
			}
			return a
		}

		a := overtaken("an assertion of a key", puts(tables.TypeAccess), func() {
			r.want(r.patient(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
		}, r.assertion(second, nil))
		r.refused(a, "invalid_grant")

		a = overtaken("a link code of a token", puts(tables.TypeLinkCode), func() {
			r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+token.Text("id"), ""), 200, "")
		}, mint)
		r.want(a, 401, "bad_token")

		a = overtaken("a connection of an epoch", puts(tables.TypeGrant), func() {
			r.set(tables.ProfileKey(owl.ID), tables.Add("epoch", 1)) // which its key and its code do not have
		}, r.visit(linked(r, owl, link)).redemption())
		r.refused(a, "invalid_grant")
	})
}

// Of two who make a channel at once, the second to commit makes none.
func TestChannelMadeMeanwhile(t *testing.T) {
	t.Parallel()
	meddledBoth(t, func(t *testing.T, r *running, m *meddler) {
		fox, owl := r.grown(r.join("fox")), r.grown(r.join("owl"))
		r.want(r.call(fox, "GET", "/v1/channels", ""), 200, "") // puts the service's own
		const den = `{"name":"den","kind":"leisure"}`
		m.once(puts(tables.TypeChannel), func() { r.want(r.call(owl, "POST", "/v1/channels", den), 201, "") })
		r.want(r.call(fox, "POST", "/v1/channels", den), 409, "channel_exists")
		if by := r.item(tables.ChannelKey("den")).Str("created_by"); by != owl.ID || !m.done() {
			t.Errorf("it is made by %s", by)
		}
	})
}
