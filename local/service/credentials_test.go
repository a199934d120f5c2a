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

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

// put makes writes in the table, past the service.
func (r *running) put(w ...tables.Write) {
	r.t.Helper()
	if err := r.App.Transact(r.t.Context(), w...); err != nil {
		r.t.Fatal(err)
	}
}

// steady sends a request, again if the machine was too busy to answer it: the
// same bytes, or what has the same Idempotency-Key, are one request.
func (r *running) steady(q *transcripts.Request) (a *transcripts.Answer) {
	r.t.Helper()
	for range 20 {
		if a = r.send(q); a.Status != 503 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return a
}

// settled sends requests at the same moment, and answers when each is.
func (r *running) settled(requests ...*transcripts.Request) (answers []*transcripts.Answer, byStatus map[int]int) {
	r.t.Helper()
	answers, _ = r.together(requests...)
	byStatus = map[int]int{}
	for i, a := range answers {
		if a.Status == 503 {
			answers[i] = r.steady(requests[i])
		}
		byStatus[answers[i].Status]++
	}
	return answers, byStatus
}

// patient is call, where the machine may be too busy to answer.
func (r *running) patient(a *transcripts.Agent, method, target, body string) *transcripts.Answer {
	r.t.Helper()
	return r.steady(r.request(a, method, target, body))
}

// newKey is what adds a key to its agent.
func newKey(k *transcripts.Agent) string {
	return encode(map[string]string{
		"pubkey": k.Pub(), "label": k.Name, "proof": k.Sign("addkey:" + k.ID + ":" + k.Pub()),
	})
}

// addKey gives an agent another key.
func (r *running) addKey(a *transcripts.Agent, name string) *transcripts.Agent {
	r.t.Helper()
	k := fresh(a, name)
	r.want(r.patient(a, "POST", "/v1/me/keys", newKey(k)), 201, "")
	return k
}

// Of the last two keys, each removing the other, one stays, and works.
func TestRaceForTheLastKeys(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() {
			one := r.join(fmt.Sprintf("holder%d", i))
			other := r.addKey(one, fmt.Sprintf("holder%d.b", i))
			answers, n := r.settled(
				r.request(one, "DELETE", "/v1/me/keys/"+other.Pub(), ""),
				r.request(other, "DELETE", "/v1/me/keys/"+one.Pub(), ""),
			)
			if n[200] != 1 || n[401]+n[409] != 1 { // the loser's key was gone, or was about to go
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}
			winner, loser := one, other
			if answers[1].Status == 200 {
				winner, loser = other, one
			}
			winner.Added = true // its claim may be gone
			if me := r.want(r.patient(winner, "GET", "/v1/me", ""), 200, ""); me.Text("keys") != "1" {
				t.Fatalf("round %d: %s keys are left", i, me.Text("keys"))
			}
			r.want(r.patient(loser, "GET", "/v1/me", ""), 401, "unknown_key")
			r.want(r.patient(winner, "DELETE", "/v1/me/keys/"+winner.Pub(), ""), 409, "last_key")
		}
	})
}

// Removals of three keys meet, one twice: what is counted is what is there.
func TestRaceOfRemovals(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			a := r.join(fmt.Sprintf("trim%d", i))
			b, c := r.addKey(a, fmt.Sprintf("trim%d.b", i)), r.addKey(a, fmt.Sprintf("trim%d.c", i))
			_, n := r.settled(
				r.request(a, "DELETE", "/v1/me/keys/"+b.Pub(), ""), r.request(a, "DELETE", "/v1/me/keys/"+c.Pub(), ""),
				r.request(b, "DELETE", "/v1/me/keys/"+c.Pub(), ""),
			)
			if n[200] != 2 || n[401]+n[404]+n[409] != 1 { // the key was gone, or was seen while it went
				t.Fatalf("round %d: %v", i, n)
			}
			if keys := r.patient(a, "GET", "/v1/me", "").Text("keys"); keys != "1" || r.patient(a, "GET", "/v1/me/keys", "").Text("items.len") != "1" {
				t.Fatalf("round %d: %s keys are counted", i, keys)
			}
		}
	})
}

// There are ten keys at most, however they come.
func TestRaceForTheTenthKey(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			a := r.join(fmt.Sprintf("ring%d", i))
			nine := []tables.Write{tables.Change(tables.ProfileKey(a.ID), tables.SetAttr("keys", int64(tables.KeysMost-1)))}
			for j := range tables.KeysMost - 2 {
				k := &tables.AgentKey{Pub: fresh(a, fmt.Sprintf("ring%d.%d", i, j)).Pub(), Label: "filler", Epoch: 1, AddedAt: 1}
				nine = append(nine, k.Add(a.ID))
			}
			r.put(nine...)
			last := [2]*transcripts.Agent{fresh(a, fmt.Sprintf("ring%d.x", i)), fresh(a, fmt.Sprintf("ring%d.y", i))}
			answers, n := r.settled(
				r.request(a, "POST", "/v1/me/keys", newKey(last[0])), r.request(a, "POST", "/v1/me/keys", newKey(last[1])))
			if n[201] != 1 || n[409] != 1 {
				t.Fatalf("round %d: %v", i, n)
			}
			for j, ans := range answers {
				if ans.Status == 409 {
					r.want(ans, 409, "limit_reached")
					r.want(r.patient(last[j], "GET", "/v1/me", ""), 401, "unknown_key")
					r.want(r.patient(a, "POST", "/v1/me/keys", newKey(last[j])), 409, "limit_reached")
				}
			}
			if n := r.patient(a, "GET", "/v1/me/keys", "").Text("items.len"); n != "10" {
				t.Fatalf("round %d: %s keys", i, n)
			}
		}
	})
}

// An agent that connected by OAuth gets one first key, whoever else tries.
func TestRaceOfFirstKeys(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() {
			a := r.join(fmt.Sprintf("keyless%d", i))
			token := r.token(a, "post", "read")
			r.put(tables.Delete(tables.AgentKeyKey(a.ID, a.Pub())),
				tables.Change(tables.ProfileKey(a.ID), tables.SetAttr("keys", int64(0))))
			keys := [2]*transcripts.Agent{fresh(a, fmt.Sprintf("first%d.a", i)), fresh(a, fmt.Sprintf("first%d.b", i))}
			var requests []*transcripts.Request
			for _, k := range keys {
				q := bearer(token, "POST", "/v1/me/keys", newKey(k))
				q.Header.Set("Idempotency-Key", k.Name)
				requests = append(requests, q)
			}
			answers, n := r.settled(requests...)
			if n[201] != 1 || n[403] != 1 {
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}
			for j, k := range keys {
				if answers[j].Status == 201 {
					r.want(r.patient(k, "GET", "/v1/me", ""), 200, "")
				} else {
					r.want(answers[j], 403, "signature_required")
					r.want(r.patient(k, "GET", "/v1/me", ""), 401, "unknown_key")
				}
			}
			if keys := r.want(r.steady(bearer(token, "GET", "/v1/me", "")), 200, "").Text("keys"); keys != "1" {
				t.Fatalf("round %d: %s keys", i, keys)
			}
		}
	})
}

// fill makes tokens of an agent in the table.
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

// There are fifty live tokens at most.
func TestRaceForTheFiftiethToken(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
			answers, n := r.settled(
				r.request(a, "POST", "/v1/me/tokens", `{"label":"one"}`), r.request(a, "POST", "/v1/me/tokens", `{"label":"other"}`))
			if n[201] != 1 || n[409] != 1 {
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}
			for _, ans := range answers {
				if ans.Status == 409 {
					r.want(ans, 409, "limit_reached")
				} else if value := ans.Text("token"); value != "" { // unless it had to be asked for again
					r.want(r.steady(bearer(value, "GET", "/v1/me", "")), 200, "")
				}
			}
			if got := r.patient(a, "GET", "/v1/me", "").Text("tokens"); got != fmt.Sprint(tables.TokensMost) {
				t.Fatalf("round %d: %s tokens", i, got)
			}
		}
	})
}

// With a recovery everything dies at once, however much there is, and there is
// room for as much again.
func TestEverythingDiesWithItsEpoch(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
				minted = r.patient(fox, "POST", "/v1/me/link-codes", fmt.Sprintf(`{"uses":%d}`, i+1))
			} else {
				minted = r.bearer(tokens[0], "POST", "/v1/me/link-codes", "")
			}
			codes = append(codes, r.want(minted, 201, "").Text("code"))
		}
		if me := r.patient(fox, "GET", "/v1/me", ""); me.Text("keys") != "10" || me.Text("tokens") != "50" {
			t.Fatalf("before: %s", me.Body)
		}
		r.want(r.patient(fox, "POST", "/v1/me/link-codes", ""), 409, "limit_reached")

		// A mint that is on its way while the agent is recovered.
		slow := tables.LiveTokens(fox.ID, r.item(tables.TokensKey(fox.ID)), 1, r.App.Now().Add(2*time.Hour).UnixMilli())

		var p tables.Profile
		if err := tables.Unmarshal(r.item(tables.ProfileKey(fox.ID)), &p); err != nil {
			t.Fatal(err)
		}
		back := fresh(fox, "back")
		recovered := &tables.AgentKey{Pub: back.Pub(), Label: "recovery", Epoch: p.Epoch + 1, AddedAt: r.App.Now().UnixMilli()}
		r.put(p.Recover(true, tables.KeysMost, 0), recovered.Add(fox.ID))

		me := r.want(r.patient(back, "GET", "/v1/me", ""), 200, "")
		if me.Text("keys") != "1" || me.Text("tokens") != "0" {
			t.Errorf("after: %s", me.Body)
		}
		for _, k := range keys {
			r.want(r.patient(k, "GET", "/v1/me", ""), 401, "unknown_key")
		}
		for _, token := range tokens {
			r.want(r.bearer(token, "GET", "/v1/me", ""), 401, "bad_token")
		}
		for _, code := range codes {
			hash, _ := auth.LinkCodeHash(code)
			var l tables.LinkCode
			if err := tables.Unmarshal(r.item(tables.LinkCodeKey(hash)), &l); err != nil || l.Agent != fox.ID || l.Epoch == p.Epoch+1 {
				t.Errorf("a code that should be dead: %+v, %v", l, err)
			}
		}
		if list := r.patient(back, "GET", "/v1/me/keys", ""); list.Text("items.len") != "1" || list.Text("items.0.pubkey") != back.Pub() {
			t.Errorf("keys after: %s", list.Body)
		}
		if list := r.patient(back, "GET", "/v1/me/tokens", ""); list.Text("items.len") != "0" {
			t.Errorf("tokens after: %s", list.Body)
		}
		id := tables.LiveTokens(fox.ID, r.item(tables.TokensKey(fox.ID)), 1, 0).IDs()[0]
		r.want(r.patient(back, "DELETE", "/v1/me/tokens/"+id, ""), 404, "not_found")
		r.want(r.patient(back, "DELETE", "/v1/me/keys/"+fox.Pub(), ""), 404, "not_found")
		r.want(r.patient(back, "DELETE", "/v1/me/keys/"+back.Pub(), ""), 409, "last_key")

		// There is room again; and dead keys may come back, the original one as such.
		for i, k := range keys[:tables.KeysMost-1] {
			k.ID = fox.ID
			ans := r.want(r.patient(back, "POST", "/v1/me/keys", newKey(k)), 201, "")
			if want := fmt.Sprint(i == 0); ans.Text("original") != want {
				t.Errorf("key %d comes back: %s", i, ans.Body)
			}
			r.want(r.patient(k, "GET", "/v1/me", ""), 200, "")
		}
		r.want(r.patient(back, "POST", "/v1/me/keys", newKey(keys[tables.KeysMost-1])), 409, "limit_reached")
		fresh := r.token(back, "read")
		r.want(r.bearer(fresh, "GET", "/v1/me", ""), 200, "")
		for i := range tables.LinkCodesMost {
			r.want(r.patient(back, "POST", "/v1/me/link-codes", fmt.Sprintf(`{"uses":%d}`, i+1)), 201, "")
		}
		r.want(r.patient(back, "POST", "/v1/me/link-codes", ""), 409, "limit_reached")
		me = r.patient(back, "GET", "/v1/me", "")
		if me.Text("keys") != "10" || me.Text("tokens") != "1" {
			t.Errorf("at last: %s", me.Body)
		}
		// What was on its way comes too late to take the place of what is new.
		var late *tables.Cancelled
		if err := r.App.Transact(t.Context(), slow.Add("tk_late", 0)); !errors.As(err, &late) {
			t.Errorf("a list of an epoch gone by replaced the new one: %v", err)
		}
	})
}

// Values of tokens and of link codes are answered, once, and stand nowhere: not
// in an item, not in the stream, not in an inbox, not in the log.
func TestValuesAreNowhere(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	r := run(t, service.Config{Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	fox := r.join("fox")
	mint := func(target, body, member string) string {
		t.Helper()
		q := r.request(fox, "POST", target, body)
		first, again := r.want(r.send(q), 201, ""), r.want(r.send(q), 201, "")
		value := first.Text(member)
		if value == "" || strings.Contains(string(again.Body), value) || again.Text("secret_shown") != "true" || again.Text("id") != first.Text("id") {
			t.Fatalf("%s\n%s", first.Body, again.Body)
		}
		return value
	}
	token := mint("/v1/me/tokens", `{"label":"t","scopes":["read","post"]}`, "token")
	code := mint("/v1/me/link-codes", `{"uses":2}`, "code")
	revoked := mint("/v1/me/tokens", `{"label":"u"}`, "token")

	// Used rightly and wrongly, where a careless service would repeat it.
	r.want(r.bearer(token, "GET", "/v1/me", ""), 200, "")
	r.want(r.bearer(token, "GET", "/v1/me/keys", ""), 403, "signature_required")
	r.want(r.bearer(token, "PUT", "/v1/me/memory", "x"), 403, "scope_missing")
	byToken := r.want(r.bearer(token, "POST", "/v1/me/link-codes", ""), 201, "").Text("code")
	parsed, err := auth.ParseToken(revoked)
	if err != nil {
		t.Fatal(err)
	}
	r.want(r.patient(fox, "DELETE", "/v1/me/tokens/"+parsed.ID, ""), 200, "")
	r.want(r.bearer(revoked, "GET", "/v1/me", ""), 401, "bad_token")
	r.want(r.bearer(revoked+"x", "GET", "/v1/me", ""), 401, "bad_token")
	for _, value := range []string{token, code} {
		r.want(r.patient(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": "look: " + value})), 422, "invalid")
		r.want(r.patient(fox, "POST", "/v1/me/tokens", encode(map[string]string{"label": value})), 422, "invalid")
	}
	r.drain()

	var items bytes.Buffer
	changes, _ := r.changes("")
	for _, c := range changes { // every item there ever was is in the feed
		fmt.Fprintf(&items, "%v %v %v\n", c.Key, c.Old, c.New)
	}
	seen := map[string]string{
		"items and stream": items.String(), "log": log.String(),
		"inbox": string(r.patient(fox, "GET", "/v1/me/inbox", "").Body), "list": string(r.patient(fox, "GET", "/v1/me/tokens", "").Body),
	}
	if !strings.Contains(seen["items and stream"], parsed.ID) || !strings.Contains(seen["log"], "signature_required") || !strings.Contains(seen["inbox"], "token_revoked") {
		t.Fatal("what is looked at is not what was written")
	}
	for where, text := range seen {
		for _, value := range []string{token, code, revoked, byToken} {
			body := value[strings.IndexByte(value, '_')+1:]
			for _, secret := range []string{body, body[len(body)-16:], base64.StdEncoding.EncodeToString([]byte(value)), fmt.Sprint([]byte(body))} {
				if strings.Contains(text, secret) {
					t.Errorf("%q stands in the %s", secret, where)
				}
			}
		}
	}
}
