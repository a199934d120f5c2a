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

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/tables"
)

// Thirty days without a refresh end a connection; each refresh begins them anew.
func TestConnectionIdles(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
	got := r.want(r.send(r.visit(linked(r, fox, link)).redemption()), 200, "")
	for range 2 {
		r.advance(30*24*time.Hour - 10*time.Minute)
		r.want(r.send(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
		if list := r.call(fox, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "1" {
			t.Errorf("%s", list.Body)
		}
	}
	r.advance(30 * 24 * time.Hour)
	r.dead(got)
	if list := r.call(fox, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "0" {
		t.Errorf("%s", list.Body)
	}
}

// However a connection is ended, everything of it is dead at once, access tokens
// of earlier generations included; an access token alone ends alone.
func TestEndsOfAConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		connect := func() (older, newer *transcripts.Answer, id string) {
			t.Helper()
			link := r.want(r.patient(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
			older = r.want(r.steady(r.visit(linked(r, fox, link)).redemption()), 200, "")
			newer = r.want(r.steady(r.refreshing(older.Text("refresh_token"))), 200, "")
			list := r.want(r.patient(fox, "GET", "/v1/me/tokens", ""), 200, "")
			if list.Text("items.-1.kind") != "connection" || list.Text("items.-1.label") != "A client" || list.Text("items.-1.scopes") != `["read","post"]` {
				t.Fatalf("%s", list.Body)
			}
			return older, newer, list.Text("items.-1.id")
		}
		revoke := func(token string) { r.want(r.steady(form("/oauth/revoke", "token", token)), 200, "") }
		gone := func(id string) {
			t.Helper()
			r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+id, ""), 404, "not_found")
			if list := r.patient(fox, "GET", "/v1/me/tokens", ""); strings.Contains(string(list.Body), id) {
				t.Errorf("%s is still listed: %s", id, list.Body)
			}
		}

		older, newer, id := connect()
		r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+id, ""), 200, "")
		r.dead(older, newer)
		gone(id)

		older, newer, id = connect()
		revoke(newer.Text("refresh_token"))
		r.dead(older, newer)
		gone(id)
		revoke(newer.Text("refresh_token")) // again: the answer is the same

		older, newer, id = connect()
		revoke(older.Text("refresh_token")) // of an earlier generation: who has it may be a thief, and may do that
		r.dead(older, newer)
		gone(id)

		older, newer, id = connect()
		revoke(older.Text("access_token"))
		r.want(r.steady(bearer(older.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		if r.whoami(newer) != fox.ID {
			t.Error("the newer token is another's")
		}
		r.want(r.steady(r.refreshing(newer.Text("refresh_token"))), 200, "")
		r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+id, ""), 200, "")

		// A token that was minted is revoked by its value too; and so is nothing else.
		minted := r.want(r.patient(fox, "POST", "/v1/me/tokens", `{"label":"t"}`), 201, "")
		forged, _, err := auth.MintToken(fox.ID, minted.Text("id"), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		for _, none := range []string{forged, "ast_x", "asr_x", "x", minted.Text("id"), fox.ID} {
			revoke(none)
		}
		r.want(r.steady(bearer(minted.Text("token"), "GET", "/v1/me", "")), 200, "")
		revoke(minted.Text("token"))
		r.want(r.steady(bearer(minted.Text("token"), "GET", "/v1/me", "")), 401, "bad_token")
		gone(minted.Text("id"))
		r.refused(r.steady(form("/oauth/revoke")), "invalid_request")
		r.refused(r.steady(form("/oauth/revoke", "token", "x", "token", "y")), "invalid_request")

		// A recovery that revokes takes connections along: they are of an epoch.
		older, newer, _ = connect()
		r.put(tables.Change(tables.ProfileKey(fox.ID), tables.SetAttr("epoch", int64(2))))
		r.dead(older, newer)
	})
}

// What is connected with a link code has none but the code's scopes, and is dead
// with what minted the code: at once, and access tokens too.
func TestConnectionHangsOnItsMinter(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		all := func(c *flow.Code) { c.Scopes = auth.Scopes }
		connect := func(by *transcripts.Request, scopes string) *transcripts.Answer {
			t.Helper()
			link := r.want(r.steady(by), 201, "").Text("code")
			got := r.want(r.steady(r.visit(linked(r, fox, link), all).redemption()), 200, "")
			if got.Text("scope") != scopes || r.whoami(got) != fox.ID {
				t.Errorf("%s", got.Body)
			}
			return got
		}
		const mint = "/v1/me/link-codes"
		everything := strings.Join(auth.Scopes, " ")

		// A token.
		token := r.want(r.patient(fox, "POST", "/v1/me/tokens", `{"label":"t","scopes":["read","post"],"days":3}`), 201, "")
		got := connect(bearer(token.Text("token"), "POST", mint, ""), "read post")
		r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+token.Text("id"), ""), 200, "")
		r.want(r.steady(bearer(got.Text("access_token"), "GET", "/v1/me", "")), 401, "bad_token")
		r.refused(r.steady(r.refreshing(got.Text("refresh_token"))), "invalid_grant")
		if list := r.patient(fox, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "0" {
			t.Errorf("%s", list.Body)
		}

		// A key.
		second := r.addKey(fox, "second")
		got = connect(r.request(second, "POST", mint, ""), everything)
		r.want(r.patient(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
		r.dead(got)
		time.Sleep(2 * time.Millisecond)
		r.addKey(fox, "second") // added again, it is another one
		r.dead(got)

		// Another connection.
		parent := connect(r.request(fox, "POST", mint, ""), everything)
		r.want(r.steady(bearer(parent.Text("access_token"), "POST", mint, "")), 403, "signature_required") // it hangs on the key itself
		root := r.want(r.steady(r.visit(all).redemption()), 200, "")
		r.want(r.steady(r.signup(root.Text("access_token"), "owl", true)), 200, "")
		owl := &transcripts.Agent{ID: r.whoami(root)}
		link := r.want(r.steady(bearer(root.Text("access_token"), "POST", mint, "")), 201, "").Text("code")
		child := r.want(r.steady(r.visit(linked(r, owl, link)).redemption()), 200, "")
		if r.whoami(child) != owl.ID {
			t.Error("the child is another's")
		}
		r.want(r.steady(bearer(child.Text("access_token"), "POST", mint, "")), 403, "signature_required")
		child = r.want(r.steady(r.refreshing(child.Text("refresh_token"))), 200, "")
		r.want(r.steady(form("/oauth/revoke", "token", root.Text("refresh_token"))), 200, "")
		r.dead(root, child)
	})
}

// A connection lives no longer than the token that minted its link code; and one
// that minted a code lives as long as what was connected with it.
func TestConnectionEndsWithItsMinter(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	token := r.want(r.call(fox, "POST", "/v1/me/tokens", `{"label":"t","days":2}`), 201, "")
	link := r.want(r.send(bearer(token.Text("token"), "POST", "/v1/me/link-codes", "")), 201, "").Text("code")
	got := r.want(r.send(r.visit(linked(r, fox, link)).redemption()), 200, "")
	r.advance(48*time.Hour - 30*time.Minute)
	got = r.want(r.send(r.refreshing(got.Text("refresh_token"))), 200, "")
	if s := got.Text("expires_in"); len(s) != 4 || s > "1800" {
		t.Errorf("it lives for another %s s", s)
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
		t.Errorf("%d connections are listed", len(list))
	}
	r.advance(31 * 24 * time.Hour)
	r.dead(child, root)
}

// listOf are the live connections of a token's agent.
func (r *running) listOf(a *transcripts.Answer) []string {
	r.t.Helper()
	parsed, err := auth.ParseToken(a.Text("access_token"))
	if err != nil {
		r.t.Fatal(err)
	}
	return tables.LiveGrants(parsed.Agent, r.item(tables.GrantsKey(parsed.Agent)), 1, r.App.Now().UnixMilli()).IDs()
}

// A link code's last use is one connection's, whichever comes first, and so is
// the last place there is for connections.
func TestRaceForTheLastConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			fox := r.join(fmt.Sprintf("fox%d", i))
			link := r.want(r.patient(fox, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
			one, two := r.visit(linked(r, fox, link)), r.visit(linked(r, fox, link))
			answers, n := r.settled(one.redemption(), two.redemption())
			if n[200] != 1 || n[400] != 1 {
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}

			live := tables.LiveGrants(fox.ID, r.item(tables.GrantsKey(fox.ID)), 1, r.App.Now().UnixMilli())
			until := r.App.Now().Add(time.Hour).UnixMilli()
			for j := range tables.GrantsMost - 2 {
				other := &tables.Grant{ID: fmt.Sprintf("gr_%d", j), Epoch: 1, ExpiresAt: until}
				list := live.Add(other.ID, until)
				r.put(list)
				r.put(tables.Put(other.Item(fox.ID)))
				live = live.Again(list.Item)
			}
			link = r.want(r.patient(fox, "POST", "/v1/me/link-codes", `{"uses":5}`), 201, "").Text("code")
			one, two = r.visit(linked(r, fox, link)), r.visit(linked(r, fox, link))
			answers, n = r.settled(one.redemption(), two.redemption())
			if n[200] != 1 || n[400] != 1 {
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}
			for _, a := range answers {
				if a.Status == 200 {
					r.whoami(a)
				} else if !strings.Contains(r.refused(a, "invalid_grant").Text("error_description"), "50 connections") {
					t.Fatalf("round %d: %s", i, a.Body)
				}
			}
		}
	})
}

// A minter is taken back while a code is redeemed: either the connection is there
// first, and dead with it, or there is none.
func TestRaceOfRevokingTheMinterOfAConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			fox := r.join(fmt.Sprintf("fox%d", i))
			token := r.want(r.patient(fox, "POST", "/v1/me/tokens", `{"label":"t","scopes":["read","post"]}`), 201, "")
			mint := bearer(token.Text("token"), "POST", "/v1/me/link-codes", "")
			link := r.want(r.steady(mint), 201, "").Text("code")
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

// Codes, verifiers, tokens and assertions are answered and stand nowhere: in no
// item, in no line of the log, in no error.
func TestTokensOfConnectionsAreNowhere(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	r := run(t, service.Config{Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	fox := r.join("fox")
	link := r.want(r.call(fox, "POST", "/v1/me/link-codes", `{"uses":5}`), 201, "").Text("code")
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
				t.Errorf("the %s stands in the %s", what, where)
			}
		}
	}
}

// A connection that mints a link code lives as long as what is connected with it
// from the first day on, not from when that is refreshed.
func TestConnectionLivesAsLongAsItsChild(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		owl, root := r.founded("owl", "read", "post")
		link := r.want(r.steady(bearer(root.Text("access_token"), "POST", "/v1/me/link-codes", `{"days":30}`)), 201, "").Text("code")
		r.advance(29 * 24 * time.Hour)
		child := r.want(r.steady(r.visit(linked(r, owl, link)).redemption()), 200, "")
		r.advance(20 * 24 * time.Hour)
		if list := r.listOf(child); len(list) != 2 {
			t.Errorf("%d connections are listed", len(list))
		}
		r.whoami(r.want(r.steady(r.refreshing(root.Text("refresh_token"))), 200, ""))
		r.whoami(r.want(r.steady(r.refreshing(child.Text("refresh_token"))), 200, ""))
	})
}

// Connections that are dead with what minted their link codes do not count among
// the live ones when it comes to it.
func TestDeadConnectionsTakeNoRoom(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		second := r.addKey(fox, "second")
		live := tables.LiveGrants(fox.ID, nil, 1, r.App.Now().UnixMilli())
		until := r.App.Now().Add(time.Hour).UnixMilli()
		for j := range tables.GrantsMost {
			other := &tables.Grant{ID: fmt.Sprintf("gr_%d", j), Epoch: 1, ExpiresAt: until}
			if j < 3 {
				other.On = tables.Minter{Key: second.Pub(), By: r.App.Now().UnixMilli()}
			}
			list := live.Add(other.ID, until)
			r.put(list)
			r.put(tables.Put(other.Item(fox.ID)))
			live = live.Again(list.Item)
		}
		link := r.want(r.patient(fox, "POST", "/v1/me/link-codes", `{"uses":9}`), 201, "").Text("code")
		join := func() *transcripts.Answer { return r.steady(r.visit(linked(r, fox, link)).redemption()) }
		r.refused(join(), "invalid_grant")
		r.want(r.patient(fox, "DELETE", "/v1/me/keys/"+second.Pub(), ""), 200, "")
		for range 3 {
			r.whoami(r.want(join(), 200, ""))
		}
		r.refused(join(), "invalid_grant")
	})
}
