package service_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"agentsocial/local/engines/logs"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

// retry sends a request up to 20 times, while the answer is 503. The service carries it out
// once, because the bytes or the Idempotency-Key stay the same.
func (r *running) retry(q *transcripts.Request) (a *transcripts.Answer) {
	r.t.Helper()
	for range 20 {
		if a = r.send(q); a.Status != 503 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return a
}

// callRetry is call, repeated while the answer is 503.
func (r *running) callRetry(a *transcripts.Agent, method, target, body string) *transcripts.Answer {
	r.t.Helper()
	return r.retry(r.request(a, method, target, body))
}

func (r *running) linkCode(a *transcripts.Agent, body string) string {
	r.t.Helper()
	return r.want(r.callRetry(a, "POST", "/v1/me/link-codes", body), 201, "").Text("code")
}

func addKeyBody(k *transcripts.Agent) string {
	return encode(map[string]string{
		"pubkey": k.Pub(), "label": k.Name, "proof": k.Sign("addkey:" + k.ID + ":" + k.Pub()),
	})
}

func (r *running) addKey(a *transcripts.Agent, name string) *transcripts.Agent {
	r.t.Helper()
	k := newKeyOf(a, name)
	r.want(r.callRetry(a, "POST", "/v1/me/keys", addKeyBody(k)), 201, "")
	return k
}

// If two keys remove each other at the same moment, one of them stays and works.
func TestRaceForTheLastKeys(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() {
			one := r.join(fmt.Sprintf("holder%d", i))
			other := r.addKey(one, fmt.Sprintf("holder%d.b", i))
			answers, n := r.settled(
				r.request(one, "DELETE", "/v1/me/keys/"+other.Pub(), ""),
				r.request(other, "DELETE", "/v1/me/keys/"+one.Pub(), ""),
			)
			if n[200] != 1 || n[401]+n[409] != 1 { // 401 if the loser's key was removed already, 409 if it was being removed
				t.Fatalf("round %d: got outcomes %v, want one 200 and one 401 or 409; the answers are %s and %s", i, n, answers[0].Body, answers[1].Body)
			}
			winner, loser := one, other
			if answers[1].Status == 200 {
				winner, loser = other, one
			}
			winner.Added = true // sends x-agent-id
			if me := r.want(r.callRetry(winner, "GET", "/v1/me", ""), 200, ""); me.Text("keys") != "1" {
				t.Fatalf("round %d: keys: got %s, want 1", i, me.Text("keys"))
			}
			r.want(r.callRetry(loser, "GET", "/v1/me", ""), 401, "unknown_key")
			r.want(r.callRetry(winner, "DELETE", "/v1/me/keys/"+winner.Pub(), ""), 409, "last_key")
		}
	})
}

func TestRaceOfRemovals(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			a := r.join(fmt.Sprintf("trim%d", i))
			b, c := r.addKey(a, fmt.Sprintf("trim%d.b", i)), r.addKey(a, fmt.Sprintf("trim%d.c", i))
			_, n := r.settled(
				r.request(a, "DELETE", "/v1/me/keys/"+b.Pub(), ""), r.request(a, "DELETE", "/v1/me/keys/"+c.Pub(), ""),
				r.request(b, "DELETE", "/v1/me/keys/"+c.Pub(), ""),
			)
			if n[200] != 2 || n[401]+n[404]+n[409] != 1 { // 401 or 404 if the key was removed already, 409 if it was being removed
				t.Fatalf("round %d: got outcomes %v, want 2 × 200 and one 401, 404 or 409", i, n)
			}
			if keys := r.callRetry(a, "GET", "/v1/me", "").Text("keys"); keys != "1" || r.callRetry(a, "GET", "/v1/me/keys", "").Text("items.len") != "1" {
				t.Fatalf("round %d: keys: got %s, want 1 in /v1/me and in the list", i, keys)
			}
		}
	})
}

func TestRaceForTheTenthKey(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			a := r.join(fmt.Sprintf("ring%d", i))
			nine := []tables.Write{tables.Change(tables.ProfileKey(a.ID), tables.SetAttr("keys", int64(tables.KeysMost-1)))}
			for j := range tables.KeysMost - 2 {
				k := &tables.AgentKey{Pub: newKeyOf(a, fmt.Sprintf("ring%d.%d", i, j)).Pub(), Label: "filler", Epoch: 1, AddedAt: 1}
				nine = append(nine, k.Add(a.ID))
			}
			r.put(nine...)
			last := [2]*transcripts.Agent{newKeyOf(a, fmt.Sprintf("ring%d.x", i)), newKeyOf(a, fmt.Sprintf("ring%d.y", i))}
			answers, _ := r.settled(
				r.request(a, "POST", "/v1/me/keys", addKeyBody(last[0])), r.request(a, "POST", "/v1/me/keys", addKeyBody(last[1])))
			r.decided(i, answers, outcomes{"201": 1, "409 limit_reached": 1})
			loser := last[with(409, answers)]
			r.want(r.callRetry(loser, "GET", "/v1/me", ""), 401, "unknown_key")
			r.want(r.callRetry(a, "POST", "/v1/me/keys", addKeyBody(loser)), 409, "limit_reached")
			if n := r.callRetry(a, "GET", "/v1/me/keys", "").Text("items.len"); n != "10" {
				t.Fatalf("round %d: keys: got %s, want 10", i, n)
			}
		}
	})
}

// Of concurrent requests that add the first key of an agent without keys, one succeeds.
func TestRaceOfFirstKeys(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() {
			a := r.join(fmt.Sprintf("keyless%d", i))
			token := r.token(a, "post", "read")
			r.put(tables.Delete(tables.AgentKeyKey(a.ID, a.Pub())),
				tables.Change(tables.ProfileKey(a.ID), tables.SetAttr("keys", int64(0))))
			keys := [2]*transcripts.Agent{newKeyOf(a, fmt.Sprintf("first%d.a", i)), newKeyOf(a, fmt.Sprintf("first%d.b", i))}
			var requests []*transcripts.Request
			for _, k := range keys {
				q := bearer(token, "POST", "/v1/me/keys", addKeyBody(k))
				q.Header.Set("Idempotency-Key", k.Name)
				requests = append(requests, q)
			}
			answers, _ := r.settled(requests...)
			r.decided(i, answers, outcomes{"201": 1, "403 signature_required": 1})
			r.want(r.callRetry(keys[with(201, answers)], "GET", "/v1/me", ""), 200, "")
			r.want(r.callRetry(keys[with(403, answers)], "GET", "/v1/me", ""), 401, "unknown_key")
			if keys := r.want(r.retry(bearer(token, "GET", "/v1/me", "")), 200, "").Text("keys"); keys != "1" {
				t.Fatalf("round %d: keys: got %s, want 1", i, keys)
			}
		}
	})
}

// fill gives an agent n live tokens.
func (r *running) fill(a *transcripts.Agent, n int) {
	r.t.Helper()
	now := r.App.Now()
	live := tables.LiveTokens(a.ID, nil, 1, now.UnixMilli())
	for i := range n {
		t := &tables.Token{
			ID: fmt.Sprintf("tk_%026d", i), Label: "filler", Scopes: tables.NewSet("read"), Epoch: 1,
			CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(time.Hour).UnixMilli(),
		}
		add := live.Add(t.ID, t.ExpiresAt)
		r.put(add, tables.Put(t.Item(a.ID)))
		live = live.Again(add.Item)
	}
}

func TestRaceForTheFiftiethToken(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		list := tables.Item(nil)
		for i := range r.rounds() {
			a := r.join(fmt.Sprintf("minter%d", i))
			if list == nil {
				r.fill(a, tables.TokensMost-1)
				list = r.item(tables.TokensKey(a.ID))
			}
			for attr, v := range (tables.Item{tables.AttrPK: tables.TokensKey(a.ID).PK}) {
				list[attr] = v
			}
			r.put(tables.Put(list))
			answers, _ := r.settled(
				r.request(a, "POST", "/v1/me/tokens", `{"label":"one"}`), r.request(a, "POST", "/v1/me/tokens", `{"label":"other"}`))
			r.decided(i, answers, outcomes{"201": 1, "409 limit_reached": 1})
			if value := answers[with(201, answers)].Text("token"); value != "" { // a replay has no value
				r.want(r.retry(bearer(value, "GET", "/v1/me", "")), 200, "")
			}
			if got := r.callRetry(a, "GET", "/v1/me", "").Text("tokens"); got != fmt.Sprint(tables.TokensMost) {
				t.Fatalf("round %d: tokens: got %s, want %d", i, got, tables.TokensMost)
			}
		}
	})
}

// A recovery also makes room for as many new credentials.
func TestRecoveryRevokesEveryCredential(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		keys := []*transcripts.Agent{fox}
		for i := range tables.KeysMost - 1 {
			keys = append(keys, r.addKey(fox, fmt.Sprint("key", i)))
		}
		r.fill(fox, tables.TokensMost-3)
		var tokens, codes []string
		for _, scopes := range [][]string{{"read", "post"}, {"read"}, {"read", "jury"}} {
			tokens = append(tokens, r.token(fox, scopes...))
		}
		for i := range tables.LinkCodesMost {
			var minted *transcripts.Answer
			if i >= tables.LinkCodesMost/2 { // a token may fill half of the list
				minted = r.callRetry(fox, "POST", "/v1/me/link-codes", fmt.Sprintf(`{"uses":%d}`, i+1))
			} else {
				minted = r.bearer(tokens[0], "POST", "/v1/me/link-codes", "")
			}
			codes = append(codes, r.want(minted, 201, "").Text("code"))
		}
		if me := r.callRetry(fox, "GET", "/v1/me", ""); me.Text("keys") != "10" || me.Text("tokens") != "50" {
			t.Fatalf("before the recovery: got %s, want keys 10, tokens 50", me.Body)
		}
		r.want(r.callRetry(fox, "POST", "/v1/me/link-codes", ""), 409, "limit_reached")

		// A mint reads the list here, before the recovery, and commits after the recovery.
		slow := tables.LiveTokens(fox.ID, r.item(tables.TokensKey(fox.ID)), 1, r.App.Now().Add(2*time.Hour).UnixMilli())

		var p tables.Profile
		if err := tables.Unmarshal(r.item(tables.ProfileKey(fox.ID)), &p); err != nil {
			t.Fatal(err)
		}
		back := newKeyOf(fox, "back")
		recovered := &tables.AgentKey{Pub: back.Pub(), Label: "recovery", Epoch: p.Epoch + 1, AddedAt: r.App.Now().UnixMilli()}
		r.put(p.Recover(true, tables.KeysMost, 0), recovered.Add(fox.ID))

		me := r.want(r.callRetry(back, "GET", "/v1/me", ""), 200, "")
		if me.Text("keys") != "1" || me.Text("tokens") != "0" {
			t.Errorf("after the recovery: got %s, want keys 1, tokens 0", me.Body)
		}
		for _, k := range keys {
			r.want(r.callRetry(k, "GET", "/v1/me", ""), 401, "unknown_key")
		}
		for _, token := range tokens {
			r.want(r.bearer(token, "GET", "/v1/me", ""), 401, "bad_token")
		}
		for _, code := range codes {
			hash, _ := auth.LinkCodeHash(code)
			var l tables.LinkCode
			if err := tables.Unmarshal(r.item(tables.LinkCodeKey(hash)), &l); err != nil || l.Agent != fox.ID || l.Epoch == p.Epoch+1 {
				t.Errorf("a code of the earlier epoch: got %+v, %v; want it unchanged", l, err)
			}
		}
		if list := r.callRetry(back, "GET", "/v1/me/keys", ""); list.Text("items.len") != "1" || list.Text("items.0.pubkey") != back.Pub() {
			t.Errorf("keys after the recovery: got %s, want only %s", list.Body, back.Pub())
		}
		if list := r.callRetry(back, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "0" {
			t.Errorf("tokens after the recovery: got %s, want items.len 0", list.Body)
		}
		id := tables.LiveTokens(fox.ID, r.item(tables.TokensKey(fox.ID)), 1, 0).IDs()[0]
		r.want(r.callRetry(back, "DELETE", "/v1/me/tokens/"+id, ""), 404, "not_found")
		r.want(r.callRetry(back, "DELETE", "/v1/me/keys/"+fox.Pub(), ""), 404, "not_found")
		r.want(r.callRetry(back, "DELETE", "/v1/me/keys/"+back.Pub(), ""), 409, "last_key")

		// Revoked keys may be added again, and the original one is still original.
		for i, k := range keys[:tables.KeysMost-1] {
			k.ID = fox.ID
			ans := r.want(r.callRetry(back, "POST", "/v1/me/keys", addKeyBody(k)), 201, "")
			if want := fmt.Sprint(i == 0); ans.Text("original") != want {
				t.Errorf("key %d added again: got %s, want original %s", i, ans.Body, want)
			}
			r.want(r.callRetry(k, "GET", "/v1/me", ""), 200, "")
		}
		r.want(r.callRetry(back, "POST", "/v1/me/keys", addKeyBody(keys[tables.KeysMost-1])), 409, "limit_reached")
		fresh := r.token(back, "read")
		r.want(r.bearer(fresh, "GET", "/v1/me", ""), 200, "")
		for i := range tables.LinkCodesMost {
			r.want(r.callRetry(back, "POST", "/v1/me/link-codes", fmt.Sprintf(`{"uses":%d}`, i+1)), 201, "")
		}
		r.want(r.callRetry(back, "POST", "/v1/me/link-codes", ""), 409, "limit_reached")
		me = r.callRetry(back, "GET", "/v1/me", "")
		if me.Text("keys") != "10" || me.Text("tokens") != "1" {
			t.Errorf("in the end: got %s, want keys 10, tokens 1", me.Body)
		}
		// The late mint cannot replace the new list.
		var late *tables.Cancelled
		if err := r.App.Transact(t.Context(), slow.Add("tk_late", 0)); !errors.As(err, &late) {
			t.Errorf("the commit of the late mint: got %v, want Cancelled", err)
		}
	})
}

// Values of tokens and link codes are returned only once.
func TestSecretsAreNeitherStoredNorLogged(t *testing.T) {
	t.Parallel()
	var log logs.Buffer
	r := run(t, keepingFeed(service.Config{Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}))
	fox := r.join("fox")
	mint := func(target, body, member string) string {
		t.Helper()
		q := r.request(fox, "POST", target, body)
		first, again := r.want(r.send(q), 201, ""), r.want(r.send(q), 201, "")
		value := first.Text(member)
		if value == "" || strings.Contains(string(again.Body), value) || again.Text("secret_shown") != "true" || again.Text("id") != first.Text("id") {
			t.Fatalf("got\n%s\nand again\n%s\nwant the value only the first time", first.Body, again.Body)
		}
		return value
	}
	token := mint("/v1/me/tokens", `{"label":"t","scopes":["read","post"]}`, "token")
	code := mint("/v1/me/link-codes", `{"uses":2}`, "code")
	revoked := mint("/v1/me/tokens", `{"label":"u"}`, "token")

	// These uses might leave a value in an answer, an item or a log line.
	r.want(r.bearer(token, "GET", "/v1/me", ""), 200, "")
	r.want(r.bearer(token, "GET", "/v1/me/keys", ""), 403, "signature_required")
	r.want(r.bearer(token, "PUT", "/v1/me/memory", "x"), 403, "scope_missing")
	byToken := r.want(r.bearer(token, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
	parsed, err := auth.ParseToken(revoked)
	if err != nil {
		t.Fatal(err)
	}
	r.want(r.callRetry(fox, "DELETE", "/v1/me/tokens/"+parsed.ID, ""), 200, "")
	r.want(r.bearer(revoked, "GET", "/v1/me", ""), 401, "bad_token")
	r.want(r.bearer(revoked+"x", "GET", "/v1/me", ""), 401, "bad_token")
	for _, value := range []string{token, code} {
		r.want(r.callRetry(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": "look: " + value})), 422, "invalid")
		r.want(r.callRetry(fox, "POST", "/v1/me/tokens", encode(map[string]string{"label": value})), 422, "invalid")
	}
	r.drain()

	var items bytes.Buffer
	changes, _ := r.changes("")
	for _, c := range changes { // the feed has every version of every item
		fmt.Fprintf(&items, "%v %v %v\n", c.Key, c.Old, c.New)
	}
	seen := map[string]string{
		"items and stream": items.String(), "log": log.String(),
		"inbox": string(r.callRetry(fox, "GET", "/v1/me/inbox", "").Body), "list": string(r.callRetry(fox, "GET", "/v1/me/tokens", "").Body),
	}
	if !strings.Contains(seen["items and stream"], parsed.ID) || !strings.Contains(seen["log"], "signature_required") || !strings.Contains(seen["inbox"], "token_revoked") {
		t.Fatal("the searched texts lack what was written")
	}
	for where, text := range seen {
		for _, value := range []string{token, code, revoked, byToken} {
			body := value[strings.IndexByte(value, '_')+1:]
			for _, secret := range []string{body, body[len(body)-16:], base64.StdEncoding.EncodeToString([]byte(value)), fmt.Sprint([]byte(body))} {
				if strings.Contains(text, secret) {
					t.Errorf("%q appears in the %s", secret, where)
				}
			}
		}
	}
}
