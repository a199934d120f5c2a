package service_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"agentsocial/local/engines/logs"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/tables"
)

func TestIdleConnectionEnds(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	link := r.linkCode(fox, "")
	got := r.want(r.send(r.visit(linked(r, fox, link)).redemption()), 200, "")
	for range 2 {
		r.advance(30*24*time.Hour - 10*time.Minute)
		r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
		r.has(r.call(fox, "GET", "/v1/me/tokens", ""), "items.len", "1")
	}
	r.advance(30 * 24 * time.Hour)
	r.dead(got)
	r.has(r.call(fox, "GET", "/v1/me/tokens", ""), "items.len", "0")
}

// Revoking an access token ends only that token. Every other revocation ends the connection.
func TestRevokingAConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		connect := func() (older, newer *transcripts.Answer, id string) {
			t.Helper()
			link := r.linkCode(fox, "")
			older = r.want(r.retry(r.visit(linked(r, fox, link)).redemption()), 200, "")
			newer = r.want(r.retry(r.refreshing(older.Text("refresh_token"))), 200, "")
			list := r.want(r.callRetry(fox, "GET", "/v1/me/tokens", ""), 200, "")
			if list.Text("items.-1.kind") != "connection" || list.Text("items.-1.label") != "A client" || list.Text("items.-1.scopes") != `["read","post"]` {
				t.Fatalf("got %s, want items.-1.kind connection, items.-1.label A client, items.-1.scopes read and post", list.Body)
			}
			return older, newer, list.Text("items.-1.id")
		}
		revoke := func(token string) { r.want(r.retry(form("/oauth/revoke", "token", token)), 200, "") }
		gone := func(id string) {
			t.Helper()
			r.want(r.callRetry(fox, "DELETE", "/v1/me/tokens/"+id, ""), 404, "not_found")
			if list := r.callRetry(fox, "GET", "/v1/me/tokens", ""); strings.Contains(string(list.Body), id) {
				t.Errorf("%s is still listed: %s", id, list.Body)
			}
		}

		older, newer, id := connect()
		r.want(r.callRetry(fox, "DELETE", "/v1/me/tokens/"+id, ""), 200, "")
		r.dead(older, newer)
		gone(id)

		older, newer, id = connect()
		revoke(newer.Text("refresh_token"))
		r.dead(older, newer)
		gone(id)
		revoke(newer.Text("refresh_token")) // revoking twice is no error

		older, newer, id = connect()
		revoke(older.Text("refresh_token")) // an older refresh token revokes the connection, too
		r.dead(older, newer)
		gone(id)

		older, newer, id = connect()
		revoke(older.Text("access_token"))
		r.want(r.retry(bearer(older.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		if got := r.whoami(newer); got != fox.ID {
			t.Errorf("agent of the newer token: got %s, want %s", got, fox.ID)
		}
		r.want(r.retry(r.refreshing(newer.Text("refresh_token"))), 200, "")
		r.want(r.callRetry(fox, "DELETE", "/v1/me/tokens/"+id, ""), 200, "")

		// A minted token is revoked by its value. Other strings revoke nothing.
		minted := r.want(r.callRetry(fox, "POST", "/v1/me/tokens", `{"label":"t"}`), 201, "")
		forged, _, err := auth.MintToken(fox.ID, minted.Text("id"), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		for _, none := range []string{forged, "ast_x", "asr_x", "x", minted.Text("id"), fox.ID} {
			revoke(none)
		}
		r.want(r.retry(bearer(minted.Text("token"), "GET", "/v1/me", "")), 200, "")
		revoke(minted.Text("token"))
		r.want(r.retry(bearer(minted.Text("token"), "GET", "/v1/me", "")), 401, "bad_token")
		gone(minted.Text("id"))
		r.refused(r.retry(form("/oauth/revoke")), "invalid_request")
		r.refused(r.retry(form("/oauth/revoke", "token", "x", "token", "y")), "invalid_request")

		// Connections end when a recovery raises the epoch.
		older, newer, _ = connect()
		r.put(tables.Change(tables.ProfileKey(fox.ID), tables.SetAttr("epoch", int64(2))))
		r.dead(older, newer)
	})
}

// A connection made with a link code has at most the code's scopes, and ends with the
// credential that minted the code.
func TestConnectionIsRevokedWithItsMinter(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		all := func(c *flow.Code) { c.Scopes = auth.Scopes }
		connect := func(by *transcripts.Request, scopes string) *transcripts.Answer {
			t.Helper()
			link := r.want(r.retry(by), 201, "").Text("code")
			got := r.want(r.retry(r.visit(linked(r, fox, link), all).redemption()), 200, "")
			if got.Text("scope") != scopes || r.whoami(got) != fox.ID {
				t.Errorf("got %s, want agent fox and scope %s", got.Body, scopes)
			}
			return got
		}
		const mint = "/v1/me/link-codes"
		everything := strings.Join(auth.Scopes, " ")

		// A token mints the link code.
		token := r.want(r.callRetry(fox, "POST", "/v1/me/tokens", `{"label":"t","scopes":["read","post"],"days":3}`), 201, "")
		got := connect(bearer(token.Text("token"), "POST", mint, ""), "read post")
		r.want(r.callRetry(fox, "DELETE", "/v1/me/tokens/"+token.Text("id"), ""), 200, "")
		r.want(r.retry(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		r.refused(r.retry(r.refreshing(got.Text("refresh_token"))), "invalid_grant")
		r.has(r.callRetry(fox, "GET", "/v1/me/tokens", ""), "items.len", "0")

		// A key mints the link code.
		second := r.addKey(fox, "second")
		got = connect(r.request(second, "POST", mint, ""), everything)
		r.want(r.callRetry(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
		r.dead(got)
		time.Sleep(2 * time.Millisecond)
		r.addKey(fox, "second") // the same key added again revives nothing
		r.dead(got)

		// Another connection mints the link code.
		parent := connect(r.request(fox, "POST", mint, ""), everything)
		r.want(r.retry(bearer(parent.Text("access_token"), "POST", mint, "")), 403, "signature_required") // a connection made with a link code mints none
		root := r.want(r.retry(r.visit(all).redemption()), 200, "")
		r.want(r.retry(r.signup(root.Text("access_token"), "owl", true)), 200, "")
		owl := &transcripts.Agent{ID: r.whoami(root)}
		link := r.want(r.retry(bearer(root.Text("access_token"), "POST", mint, "")), 201, "").Text("code")
		child := r.want(r.retry(r.visit(linked(r, owl, link)).redemption()), 200, "")
		if got := r.whoami(child); got != owl.ID {
			t.Errorf("agent of the connection made with the code: got %s, want %s", got, owl.ID)
		}
		r.want(r.retry(bearer(child.Text("access_token"), "POST", mint, "")), 403, "signature_required")
		child = r.want(r.retry(r.refreshing(child.Text("refresh_token"))), 200, "")
		r.want(r.retry(form("/oauth/revoke", "token", root.Text("refresh_token"))), 200, "")
		r.dead(root, child)
	})
}

// A connection expires with the token that minted its link code.
func TestConnectionExpiresWithItsMinter(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	token := r.want(r.call(fox, "POST", "/v1/me/tokens", `{"label":"t","days":2}`), 201, "")
	link := r.want(r.send(bearer(token.Text("token"), "POST", "/v1/me/link-codes", "")), 201, "").Text("code")
	got := r.want(r.send(r.visit(linked(r, fox, link)).redemption()), 200, "")
	r.advance(48*time.Hour - 30*time.Minute)
	got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
	if s := got.Text("expires_in"); len(s) != 4 || s > "1800" {
		t.Errorf("expires_in: got %s, want 1000 to 1800", s)
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
		t.Errorf("live connections: got %d, want 2", len(list))
	}
	r.advance(31 * 24 * time.Hour)
	r.dead(child, root)
}

// fillGrants gives an agent n more connections. on returns the minter that each depends on.
func (r *running) fillGrants(a *transcripts.Agent, n int, on func(i int) tables.Minter) {
	r.t.Helper()
	now := r.App.Now()
	live := tables.LiveGrants(a.ID, r.item(tables.GrantsKey(a.ID)), 1, now.UnixMilli())
	for i := range n {
		g := &tables.Grant{ID: fmt.Sprintf("gr_%d", i), Epoch: 1, ExpiresAt: now.Add(time.Hour).UnixMilli(), On: on(i)}
		list := live.Add(g.ID, g.ExpiresAt)
		r.put(list, tables.Put(g.Item(a.ID)))
		live = live.Again(list.Item)
	}
}

// listOf returns the IDs of the live connections of a token's agent.
func (r *running) listOf(a *transcripts.Answer) []string {
	r.t.Helper()
	parsed, err := auth.ParseToken(a.Text("access_token"))
	if err != nil {
		r.t.Fatal(err)
	}
	return tables.LiveGrants(parsed.Agent, r.item(tables.GrantsKey(parsed.Agent)), 1, r.App.Now().UnixMilli()).IDs()
}

// If two clients compete for the last use of a link code, or for an agent's last free
// connection, one wins.
func TestRaceForTheLastConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			fox := r.join(fmt.Sprintf("fox%d", i))
			link := r.linkCode(fox, "")
			one, two := r.visit(linked(r, fox, link)), r.visit(linked(r, fox, link))
			answers, _ := r.settled(one.redemption(), two.redemption())
			r.decided(i, answers, outcomes{"200": 1, "400 invalid_grant": 1})

			r.fillGrants(fox, tables.GrantsMost-2, func(int) tables.Minter { return tables.Minter{} })
			link = r.linkCode(fox, `{"uses":5}`)
			one, two = r.visit(linked(r, fox, link)), r.visit(linked(r, fox, link))
			answers, _ = r.settled(one.redemption(), two.redemption())
			r.decided(i, answers, outcomes{"200": 1, "400 invalid_grant": 1})
			r.whoami(answers[with(200, answers)])
			loser := r.refused(answers[with(400, answers)], "invalid_grant")
			if !strings.Contains(loser.Text("error_description"), "50 connections") {
				t.Fatalf("round %d: got %s, want the limit of 50 connections", i, loser.Body)
			}
		}
	})
}

// If a minter is revoked while its link code is redeemed, no connection stays.
func TestRaceOfRevokingTheMinterOfAConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			fox := r.join(fmt.Sprintf("fox%d", i))
			token := r.want(r.callRetry(fox, "POST", "/v1/me/tokens", `{"label":"t","scopes":["read","post"]}`), 201, "")
			mint := bearer(token.Text("token"), "POST", "/v1/me/link-codes", "")
			link := r.want(r.retry(mint), 201, "").Text("code")
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

func TestOAuthSecretsAreNeitherStoredNorLogged(t *testing.T) {
	t.Parallel()
	var log logs.Buffer
	r := run(t, service.Config{Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	fox := r.join("fox")
	link := r.linkCode(fox, `{"uses":5}`)
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
				t.Errorf("the %s appears in the %s", what, where)
			}
		}
	}
}

// A connection that minted a link code lives as long as the connection made with the code,
// even if the new connection was never refreshed.
func TestConnectionLivesAsLongAsItsChild(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		owl, root := r.founded("owl", "read", "post")
		link := r.want(r.retry(bearer(root.Text("access_token"), "POST", "/v1/me/link-codes", `{"days":30}`)), 201, "").Text("code")
		r.advance(29 * 24 * time.Hour)
		child := r.want(r.retry(r.visit(linked(r, owl, link)).redemption()), 200, "")
		r.advance(20 * 24 * time.Hour)
		if list := r.listOf(child); len(list) != 2 {
			t.Errorf("live connections: got %d, want 2", len(list))
		}
		r.whoami(r.want(r.retry(r.refreshing(root.Text("refresh_token"))), 200, ""))
		r.whoami(r.want(r.retry(r.refreshing(child.Text("refresh_token"))), 200, ""))
	})
}

func TestRevokedConnectionsDoNotCount(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		second := r.addKey(fox, "second")
		r.fillGrants(fox, tables.GrantsMost, func(j int) tables.Minter {
			if j < 3 {
				return tables.Minter{Key: second.Pub(), By: r.App.Now().UnixMilli()}
			}
			return tables.Minter{}
		})
		link := r.linkCode(fox, `{"uses":9}`)
		join := func() *transcripts.Answer { return r.retry(r.visit(linked(r, fox, link)).redemption()) }
		r.refused(join(), "invalid_grant")
		r.want(r.callRetry(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
		for range 3 {
			r.whoami(r.want(join(), 200, ""))
		}
		r.refused(join(), "invalid_grant")
	})
}
