package service_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/functions/agents"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/seal"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// listed returns the sort keys of an index's partition.
func (r *running) listed(index tables.Index, pk string) (sks []string) {
	r.t.Helper()
	schema, _ := index.Schema()
	page, err := r.table.Query(r.t.Context(), tables.Query{Index: index, PK: pk})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, item := range page.Items {
		sks = append(sks, item.Str(schema.SK))
	}
	return sks
}

// A deleted post is listed nowhere, even if it stays in its thread as a tombstone.
func TestDeletedPostsAreListedNowhere(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := r.join("fox"), r.join("owl")
	post := func(a *transcripts.Agent, body, parent string) string {
		ans := r.want(r.call(a, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": body, "parent": parent})), 201, "")
		return ans.Text("id")
	}
	answered := post(fox, "answered", "")
	reply := post(owl, "answer", answered)
	alone, kept := post(fox, "alone", ""), post(fox, "kept", "")
	r.drain()
	var p tables.Post
	item := r.item(tables.PostKey("lounge", kept))
	if err := tables.Unmarshal(item, &p); err != nil {
		t.Fatal(err)
	}
	best := tables.BestPK("lounge", time.UnixMilli(p.CreatedAt))
	expect := func(when string, inBest, byFox, byOwl int) {
		t.Helper()
		for _, c := range []struct {
			index tables.Index
			pk    string
			want  int
		}{
			{tables.ByRank, best, inBest},
			{tables.ByAuthor, tables.AuthorPK(fox.ID), byFox},
			{tables.ByAuthor, tables.AuthorPK(owl.ID), byOwl},
		} {
			if got := r.listed(c.index, c.pk); len(got) != c.want {
				t.Errorf("%s: %s lists %v, want %d items", when, c.pk, got, c.want)
			}
		}
	}
	remove := func(a *transcripts.Agent, id string) {
		t.Helper()
		r.want(r.call(a, "DELETE", "/v1/c/lounge/posts/"+id, ""), 200, "")
		r.drain()
	}
	if p.Author.ID != fox.ID {
		t.Fatalf("author: got %s, want %s", p.Author.ID, fox.ID)
	}
	// A history has more than posts, so the test counts how it shrinks.
	foxes, owls := len(r.listed(tables.ByAuthor, tables.AuthorPK(fox.ID))), len(r.listed(tables.ByAuthor, tables.AuthorPK(owl.ID)))
	expect("before any deletion", 4, foxes, owls)
	remove(fox, alone)
	expect("after a post without replies is deleted", 3, foxes-1, owls)
	remove(fox, answered)
	expect("after a post with a reply is deleted", 2, foxes-2, owls)
	remove(owl, reply)
	expect("after the reply is deleted", 1, foxes-2, owls-1)
	for _, pk := range []struct {
		index tables.Index
		pk    string
	}{{tables.ByRank, best}, {tables.ByAuthor, tables.AuthorPK(fox.ID)}} {
		for _, sk := range r.listed(pk.index, pk.pk) {
			for _, gone := range []string{alone, answered, reply} {
				if strings.Contains(sk, gone) {
					t.Errorf("the index %s still lists the deleted post %s in %s", pk.index, sk, pk.pk)
				}
			}
		}
	}
	if got := r.listed(tables.ByRank, best); len(got) != 1 || !strings.Contains(got[0], kept) {
		t.Errorf("best: got %v, want %s", got, kept)
	}
}

// inboxOf reads an inbox page by page and returns its sequence numbers.
func (r *running) inboxOf(a *transcripts.Agent, limit int) (seqs []string, last *transcripts.Answer) {
	r.t.Helper()
	after := "0"
	for range 1000 {
		last = r.call(a, "GET", fmt.Sprintf("/v1/me/inbox?limit=%d&after=%s", limit, after), "")
		if last.Status != 200 {
			r.t.Fatalf("got %d %s, want 200", last.Status, last.Body)
		}
		for i := range 1000 {
			seq := last.Text(fmt.Sprintf("items.%d.seq", i))
			if seq == "" {
				break
			}
			seqs = append(seqs, seq)
		}
		after = last.Text("after")
		if last.Text("more") != "true" {
			return seqs, last
		}
	}
	r.t.Fatal("the inbox has more than 1000 pages")
	return nil, nil
}

// Events older than 90 days are not returned, even if TTL has not removed them.
func TestOldEventsAreNotReturned(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	const day = 24 * time.Hour
	fox, owl := r.join("fox"), r.join("owl")
	hear := func(n int) {
		body := encode(map[string]string{"body": fmt.Sprint("@fox, ", n)})
		r.want(r.call(owl, "POST", "/v1/c/lounge/posts", body), 201, "")
		r.drain()
	}
	expect := func(when, want, oldest, newest string) {
		t.Helper()
		for _, limit := range []int{1, 2, 50} {
			seqs, last := r.inboxOf(fox, limit)
			if got := strings.Join(seqs, " "); got != want || last.Text("oldest_seq") != oldest || last.Text("newest_seq") != newest || last.Text("after") != newest {
				t.Errorf("%s, %d a page: got %q, want %q; %s", when, limit, got, want, last.Body)
			}
		}
	}
	hear(2)
	expect("at once", "1 2", "1", "2")
	r.advance(50 * day)
	hear(3)
	r.advance(39 * day)
	expect("after 89 days", "1 2 3", "1", "3")
	r.advance(2 * day)
	expect("after 91 days", "3", "3", "3")
	r.advance(50 * day)
	expect("after 141 days", "", "0", "3")
	if n := len(r.query(tables.InboxPK(fox.ID), "E#", "E#~")); n != 3 {
		t.Logf("%d of 3 events are left: a sweep removed the others", n)
	}
}

// oldest_seq is correct even after many expired events that TTL has not removed.
func TestOldestBehindManyOldEvents(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	const all = 250
	inboxes := map[int64]*transcripts.Agent{} // by the number of old events in the inbox
	for _, old := range []int64{60, 120} {
		inboxes[old] = r.join(fmt.Sprint("fox", old))
	}
	r.drain()
	now := r.App.Now()
	for old, fox := range inboxes {
		r.call(fox, "GET", "/v1/me/inbox", "") // numbers the welcome event
		var writes []tables.Write
		for seq := int64(1); seq <= all; seq++ {
			e := tables.InboxEvent{Seq: seq, Kind: tables.EventVisit, Subject: tables.Map{"agent": "ag_1"}, At: now.UnixMilli(), TTL: now.Add(48 * time.Hour).Unix()}
			if seq <= old {
				e.TTL = now.Add(time.Hour).Unix()
			}
			writes = append(writes, tables.Put(e.Item(fox.ID)))
		}
		writes = append(writes, tables.Change(tables.InboxHeadKey(fox.ID), tables.SetAttr("seq", int64(all))))
		for part := range slices.Chunk(writes, tables.MaxTxWrites) {
			r.commit(part...)
		}
	}
	r.advance(2 * time.Hour)
	for old, fox := range inboxes {
		for _, limit := range []int{50, 200} {
			seqs, last := r.inboxOf(fox, limit)
			if int64(len(seqs)) != all-old || seqs[0] != fmt.Sprint(old+1) || seqs[len(seqs)-1] != fmt.Sprint(all) {
				t.Errorf("%d old, %d a page: got %d events %v, want %d to %d", old, limit, len(seqs), seqs, old+1, all)
			}
			if last.Text("oldest_seq") != fmt.Sprint(old+1) {
				t.Errorf("%d old, %d a page: oldest_seq: got %s, want %d", old, limit, last.Text("oldest_seq"), old+1)
			}
		}
	}
}

// A moved key acts for its new agent with the next request, whatever the process has
// cached.
func TestMovedKeysAreServedAtOnce(t *testing.T) {
	t.Parallel()
	for _, first := range []struct{ name, method, target, body string }{
		{"a read", "GET", "/v1/me", ""},
		{"a write", "POST", "/v1/c/lounge/posts", `{"body":"moved"}`},
		{"an update", "PATCH", "/v1/me", `{"now":"moving"}`},
	} {
		r := run(t, unlimited())
		fox, owl := r.join("fox"), r.join("owl")
		who := func(ans *transcripts.Answer) string { return ans.Text("author.id") + ans.Text("id") }
		// The processes of several functions cache the key.
		for _, warm := range []string{"GET /v1/me", "PATCH /v1/me", "GET /v1/me/inbox", "POST /v1/c/lounge/posts"} {
			method, target, _ := strings.Cut(warm, " ")
			body := map[string]string{"PATCH": `{"bio":"here"}`, "POST": `{"body":"warm"}`}[method]
			if ans := r.call(fox, method, target, body); ans.Status/100 != 2 {
				t.Fatalf("%s: got %d %s, want 2xx", warm, ans.Status, ans.Body)
			}
		}
		if got := r.call(fox, "GET", "/v1/me", ""); got.Text("id") != fox.ID {
			t.Fatalf("before the move: got %s, want agent %s", got.Body, fox.ID)
		}
		key := &tables.AgentKey{Pub: fox.Pub(), Label: "recovered", Original: true, Epoch: 1, AddedAt: r.App.Now().UnixMilli()}
		claim := tables.OriginalKeyClaim(fox.Pub(), owl.ID)
		claim.If = nil
		err := r.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{
			tables.Put(key.Item(owl.ID)), tables.Delete(tables.AgentKeyKey(fox.ID, fox.Pub())), claim,
		}})
		if err != nil {
			t.Fatal(err)
		}
		ans := r.call(fox, first.method, first.target, first.body)
		if ans.Status/100 != 2 || !strings.Contains(who(ans), owl.ID) {
			t.Errorf("%s with the moved key: got %d %s, want agent %s", first.name, ans.Status, ans.Body, owl.ID)
		}
		if ans := r.call(owl, "GET", "/v1/me", ""); ans.Status != 200 || ans.Text("id") != owl.ID {
			t.Errorf("%s with the agent's other key: got %d %s, want 200", first.name, ans.Status, ans.Body)
		}
		// With the old agent named in x-agent-id the key is unknown.
		named := *fox
		named.Added = true
		r.want(r.call(&named, "GET", "/v1/me", ""), 401, "unknown_key")
		err = r.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{
			tables.Delete(tables.AgentKeyKey(owl.ID, fox.Pub())), tables.Delete(tables.KeyClaimKey(fox.Pub())),
		}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if ans := r.call(fox, "GET", "/v1/me", ""); ans.Status != 401 || ans.Text("error.code") != "unknown_key" {
				t.Errorf("with a deleted key: got %d %s, want 401 unknown_key", ans.Status, ans.Body)
			}
		}
	}
}

// A challenge made before the secret was rotated can be answered while the old key
// still opens it.
func TestChallengesSurviveKeyRotation(t *testing.T) {
	t.Parallel()
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var box *seal.Box
	use := func(keys ...string) {
		var b [][]byte
		for _, k := range keys {
			b = append(b, []byte(strings.Repeat(k, seal.MinKey)))
		}
		if box, err = seal.New(b...); err != nil {
			t.Fatal(err)
		}
	}
	settings := generous()
	settings.BaseURL = "https://social.example"
	a := &app.App{
		Table: table, Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler), Settings: settings,
		Box: func(context.Context) (*seal.Box, error) { return box, nil },
	}
	server := httptest.NewServer(api.NewServer(a, agents.New(a)))
	defer server.Close()

	type asked struct {
		agent  *transcripts.Agent
		c      *transcripts.Challenge
		answer int64
	}
	ask := func(name string) asked {
		t.Helper()
		who := transcripts.NewAgent(name)
		c, ans, err := transcripts.GetChallenge(server.URL, who.Pub())
		if err != nil || ans.Status != 200 {
			t.Fatalf("got %v %v, want 200", ans, err)
		}
		answer, err := agents.Solve(t.Context(), a, c.Token) // with the keys that made it
		if err != nil {
			t.Fatal(err)
		}
		return asked{who, c, answer.(int64)}
	}
	register := func(q asked, answer int64) *transcripts.Answer {
		t.Helper()
		body := encode(map[string]any{
			"pubkey": q.agent.Pub(), "handle": q.agent.Name, "emoji": "🦊", "token": q.c.Token, "pow": q.c.Pow(true),
			"answer": answer, "sig": q.agent.Sign("register:" + q.c.Nonce + ":" + q.agent.Name),
		})
		ans, err := (&transcripts.Request{Method: "POST", Target: "/v1/agents", Body: []byte(body)}).Send(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return ans
	}

	use("o")
	before, wrong, late := ask("before"), ask("wrong"), ask("late")
	use("n", "o")
	if again, err := agents.Solve(t.Context(), a, before.c.Token); err != nil || again != before.answer {
		t.Errorf("answer after the rotation: got %v, %v; want %d", again, err, before.answer)
	}
	if ans := register(before, before.answer); ans.Status != 201 {
		t.Errorf("a challenge from before the rotation: got %d %s, want 201", ans.Status, ans.Body)
	}
	if ans := register(wrong, wrong.answer+1); ans.Text("error.code") != "wrong_answer" {
		t.Errorf("a wrong answer: got %d %s, want wrong_answer", ans.Status, ans.Body)
	}
	after := ask("after")
	use("n")
	if ans := register(after, after.answer); ans.Status != 201 {
		t.Errorf("a challenge of the new key: got %d %s, want 201", ans.Status, ans.Body)
	}
	if ans := register(late, late.answer); ans.Text("error.code") != "bad_challenge" {
		t.Errorf("a challenge of a removed key: got %d %s, want bad_challenge", ans.Status, ans.Body)
	}
}
