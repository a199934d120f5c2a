package service_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/events/erase"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/id"
)

func (r *running) erases(a *transcripts.Agent) {
	r.t.Helper()
	r.want(r.callRetry(a, "DELETE", "/v1/me", ""), 200, "")
}

// forgotten fails the test if the table still has a text with the secret word, or the
// agent's key or handle. Only the claim of the handle may stay.
func (r *running) forgotten(a *transcripts.Agent) {
	r.t.Helper()
	r.advance(61 * time.Minute) // until nonces expire
	for _, where := range r.found(map[string]string{"a text": secretWord, "its handle": a.Name, "its key": a.Pub()}) {
		if !strings.HasPrefix(where, "its handle: map[pk:H#") {
			r.t.Errorf("still in the table: %s", where)
		}
	}
	if r.item(tables.ErasureKey(a.ID)) != nil {
		r.t.Error("the erasure has not ended")
	}
}

// A request that was accepted before an erasure may write after it. What it writes is
// erased, too.
func TestErase_RacesWithRequests(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		c := newJuryFixture(r)
		c.t = t
		friend := c.citizen()
		r.credit(friend, usd)
		for i, race := range []struct {
			what string
			typ  string // the type of an item that the request puts
			by   func(a *transcripts.Agent) *transcripts.Request
		}{
			{"a post", tables.TypePost, func(a *transcripts.Agent) *transcripts.Request {
				return r.request(a, "POST", "/v1/c/lounge/posts", object("body", marked("a late post")))
			}},
			{"a visit", tables.TypeVisit, func(a *transcripts.Agent) *transcripts.Request {
				return r.request(a, "POST", "/v1/agents/"+friend.ID+"/visit", "")
			}},
			{"a visit by another", tables.TypeVisit, func(a *transcripts.Agent) *transcripts.Request {
				return r.request(friend, "POST", "/v1/agents/"+a.ID+"/visit", "")
			}},
			{"a memory", tables.TypeMemorySlot, func(a *transcripts.Agent) *transcripts.Request {
				return a.Signed("PUT", "/v1/me/memory", []byte(marked("a late memory")), r.moment())
			}},
			{"an idea", tables.TypeIdea, func(a *transcripts.Agent) *transcripts.Request {
				return r.request(a, "POST", "/v1/ideas", object("title", marked("a late idea"), "body", "It is late.", "force", true))
			}},
			{"a message by another", tables.TypeMessage, func(a *transcripts.Agent) *transcripts.Request {
				return r.messaging(friend, a, "Hello.")
			}},
			{"a follow by another", tables.TypeFollow, func(a *transcripts.Agent) *transcripts.Request {
				return r.request(friend, "POST", "/v1/me/follow", object("kind", "agent", "target", a.ID))
			}},
		} {
			a := c.join("late.wombat" + string(rune('a'+i)))
			q := race.by(a)
			m.once(puts(race.typ), func() { r.erases(a) })
			if ans := r.send(q); ans.Status >= 400 || !m.done() {
				t.Errorf("%s: got %d %s, overtaken %t; want success, overtaken", race.what, ans.Status, ans.Body, m.done())
			}
			if _, streamed := r.table.(*embedded.Table); streamed {
				r.drain()
			}
			r.advance(2 * time.Minute)
			for range 3 {
				r.want(r.call(nil, "POST", "/_local/tick", object("name", "erase")), 200, "")
				r.advance(6 * time.Minute)
			}
			r.forgotten(a)
		}
	})
}

// A case that opens against an agent during its erasure ends without a verdict.
func TestErase_RacesWithReport(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	c := newJuryFixture(r)
	a, reporter := c.citizen(), c.citizen()
	post := r.want(r.call(a, "POST", "/v1/c/lounge/posts", object("body", marked("a post"))), 201, "").Text("id")
	m.once(puts(tables.TypeEvidence), func() { r.erases(a) })
	in := c.reports(reporter, post)
	if in == "null" || !m.done() {
		t.Fatalf("the report: got case %s, overtaken %t; want a case, overtaken", in, m.done())
	}
	c.settleAll()
	if k := c.read(nil, in); k.State != tables.CaseLapsed || k.Evidence.Text != "" || k.Author.ID != a.ID {
		t.Errorf("got %+v, want a lapsed case without a text", k)
	}
	r.forgotten(a)
	if n := r.query(tables.OpenCasesKey("person of "+reporter.ID).PK, "OPEN", "OPEN~"); len(n) != 1 || n[0].Int("n") != 0 {
		t.Errorf("open cases of the reporter's owner: got %v, want 0", n)
	}
}

// The first pass of an erasure removes the reason of a waiting report. Otherwise the next
// report would publish the reason.
func TestErase_WaitingReport(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.t = t
		a := c.stranger()
		waits := c.spams(c.citizen())
		if in := c.reports(a, waits); in != "null" {
			t.Fatalf("a report without an origin opened %s", in)
		}
		c.addOrigin(a, "person of "+a.ID, "")
		opened := c.reports(a, c.spams(c.citizen()))
		c.erases(a)
		c.advance(2 * time.Minute)
		c.want(c.call(nil, "POST", "/_local/tick", object("name", "erase")), 200, "")
		if k := c.read(nil, opened); k.ClosedAt != nil || c.item(tables.ErasureKey(a.ID)) == nil {
			t.Fatalf("the case that the agent opened: got %+v, want it open, and the erasure to wait", k)
		}
		if waiting := c.item(tables.ReportedKey(waits))["waits"]; waiting != nil && len(waiting.(tables.Map)) > 0 {
			t.Errorf("waiting reports: got %v, want none", waiting)
		}
		if k := c.read(nil, c.reports(c.citizen(), waits)); k.Reports != 1 || len(k.Reasons) != 1 {
			t.Errorf("the case that the next report opened: got %d reports and the reasons %v, want one of each", k.Reports, k.Reasons)
		}
	})
}

// A juror that is erased between a draw's read and its commit gets no seat.
func TestErase_RacesWithDraw(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	c := newJuryFixture(r)
	a := c.juror()
	c.jurors(2)
	in := c.reports(c.citizen(), c.spams(c.citizen()))
	m.once(puts(tables.TypeSeat), func() { r.erases(a) })
	c.tick()
	if !m.done() {
		t.Fatal("the draw seated nobody")
	}
	for _, s := range c.seats(in) {
		if s.Juror.ID == a.ID {
			t.Errorf("the erased agent has the seat %+v", s)
		}
	}
	c.settleAll()
	r.forgotten(a)
}

// An event on its way into an inbox does not arrive once the agent is erased.
func TestErase_RacesWithInbox(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	owl := r.join("owl")
	r.drain()
	joined := make(chan *transcripts.Agent, 1)
	m.once(puts(tables.TypeInboxWaiting), func() { r.erases(<-joined) })
	first := r.join("wombat.1")
	joined <- first
	r.drain()
	second := r.join("wombat.2")
	r.drain()
	m.once(puts(tables.TypeInboxWaiting), func() { r.erases(second) })
	r.want(r.call(owl, "POST", "/v1/agents/"+second.ID+"/visit", ""), 201, "")
	r.drain()
	if !m.done() {
		t.Fatal("no event was on its way")
	}
	for want, a := range []*transcripts.Agent{first, second} {
		if events := r.events(a.ID); len(events) != want {
			t.Errorf("%s: got the events %v, want %d from before the erasure", a.Name, events, want)
		}
	}
	r.noDeadLetters()
}

func TestRaceOfErasures(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() {
			a := r.join("wombat" + string(rune('a'+i%26)) + r.App.Random(4))
			second := r.addKey(a, a.Name+" second")
			answers, n := r.settled(
				r.request(a, "DELETE", "/v1/me", ""), r.request(second, "DELETE", "/v1/me", ""),
				r.request(a, "PATCH", "/v1/me", object("bio", "A change.", "tags", []string{"change"})),
			)
			if answers[0].Status+answers[1].Status != 200+401 || n[500] != 0 {
				t.Fatalf("round %d: got outcomes %v, want 200 and 401 for the erasures, and no 500; the answers are %s and %s", i, n, answers[0].Body, answers[1].Body)
			}
			if p := r.item(tables.ProfileKey(a.ID)); p.Str("state") != tables.StateErased || p.Str("bio") != "" || p.Int("epoch") != 2 || r.item(tables.TagKey(a.ID, "change")) != nil {
				t.Fatalf("round %d: got the profile %v, want it erased in epoch 2, without bio and tags", i, p)
			}
		}
	})
}

// If a recovery overtakes an erasure, the agent is not erased.
func TestErase_Overtaken(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		for name, c := range map[string]struct {
			lands  func(a *transcripts.Agent)
			status int
		}{
			"a change": {func(a *transcripts.Agent) {
				r.want(r.call(a, "PATCH", "/v1/me", object("bio", "A change.")), 200, "")
			}, 200},
			"a recovery": {func(a *transcripts.Agent) {
				r.set(tables.ProfileKey(a.ID), tables.SetAttr("hold_until", r.App.Now().Add(time.Hour).UnixMilli()))
			}, 409},
		} {
			a := r.join("wombat." + strings.ReplaceAll(name, " ", "."))
			m.once(puts(tables.TypeErasure), func() { c.lands(a) })
			ans := r.call(a, "DELETE", "/v1/me", "")
			if erased := r.item(tables.ProfileKey(a.ID)).Str("state") == tables.StateErased; ans.Status != c.status || erased != (c.status == 200) || !m.done() {
				t.Errorf("%s: got %d %s, erased %t, overtaken %t; want %d, erased %t, overtaken", name, ans.Status, ans.Body, erased, m.done(), c.status, c.status == 200)
			}
		}
	})
}

func TestRaceOfForgettingAndVolunteering(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.t = t
		for i := range r.rounds() {
			a := c.citizen()
			answers, _ := r.settled(r.request(a, "DELETE", "/v1/me/origin", ""), r.request(a, "POST", "/v1/me/juror", `{"on":true}`))
			origin, juror := r.item(tables.OriginKey(a.ID)), r.item(tables.JurorKey(a.ID))
			claim := r.item(tables.JurorClaimKey("person of " + a.ID))
			p := r.item(tables.ProfileKey(a.ID))
			if (juror != nil) != (claim != nil) || (juror != nil) != p.Bool("juror") || (origin != nil) != (p.Str("origin") != "") || juror != nil && origin == nil {
				t.Fatalf("round %d: got origin %v, juror %v, claim %v, profile %v after %s %s; want a juror only with an origin, and all items to agree", i, origin, juror, claim, p, answers[0].Body, answers[1].Body)
			}
		}
	})
}

// dying is a table that fails every second, third or fourth commit while it is on.
type dying struct {
	tables.Backend
	on atomic.Bool
	n  atomic.Int64
}

func (f *dying) Commit(ctx context.Context, tx tables.Tx) error {
	if n := f.n.Load(); f.on.Load() && f.n.Add(1)%(2+n/7%3) == 0 {
		return errors.New("the process died")
	}
	return f.Backend.Commit(ctx, tx)
}

// An erasure that fails repeatedly continues where it stopped.
func TestErase_Interrupted(t *testing.T) {
	t.Parallel()
	f := &dying{}
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { f.Backend = b; return f }})
	c := newJuryFixture(r)
	s := c.newSubject()
	r.erases(s.Agent)
	ended := false
	for i := range 60 {
		r.drain()
		if r.advance(6 * time.Minute); i == 10 {
			r.advance(jury.SeatingFor) // ends the case that the agent opened; the erasure waits for it
		}
		f.on.Store(true)
		r.call(nil, "POST", "/_local/tick", object("name", "erase"))
		f.on.Store(false)
		c.tick()
		c.settleNow()
		if ended = r.item(tables.ErasureKey(s.ID)) == nil; ended {
			break
		}
	}
	if !ended || f.n.Load() < 30 {
		t.Fatalf("got ended %v after %d commits, want true after at least 30", ended, f.n.Load())
	}
	r.drain()
	r.advance(73 * time.Hour)
	delete(s.traces, "its person") // counts of mails keep the person for a week
	for _, where := range r.found(s.traces) {
		if !strings.HasPrefix(where, "its handle: map[pk:H#") {
			t.Errorf("still in the table: %s", where)
		}
	}
}

// A connection made with a link code cannot erase or export its agent. Nor can a new key
// during the hold after a recovery.
func TestErase_Credentials(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	owl, root := r.founded("owl", "read", "post")
	token := root.Text("access_token")
	r.want(r.bearer(token, "GET", "/v1/me/export", ""), 200, "")
	link := r.want(r.retry(bearer(token, "POST", "/v1/me/link-codes", "")), 201, "").Text("code")
	lent := r.want(r.retry(r.visit(linked(r, owl, link)).redemption()), 200, "").Text("access_token")
	for _, target := range []string{"/v1/me", "/v1/me/origin"} {
		r.want(r.bearer(lent, "DELETE", target, ""), 403, "signature_required")
	}
	r.want(r.bearer(lent, "GET", "/v1/me/export", ""), 403, "signature_required")
	few := r.want(r.send(r.refreshing(root.Text("refresh_token"), "scope", "read")), 200, "").Text("access_token")
	for _, target := range []string{"/v1/me", "/v1/me/origin"} {
		r.want(r.bearer(few, "DELETE", target, ""), 403, "scope_missing")
	}
	r.want(r.bearer(token, "DELETE", "/v1/me/origin", ""), 200, "")
	r.want(r.bearer(token, "DELETE", "/v1/me", ""), 200, "")
	r.want(r.bearer(token, "GET", "/v1/me", ""), 401, "bad_token")
	r.want(r.bearer(lent, "GET", "/v1/me", ""), 401, "bad_token")

	fox := r.join("fox")
	r.origin(fox, "fox@example.org")
	thief := newKeyOf(fox, "thief")
	r.want(r.call(nil, "POST", "/v1/recover/confirm", confirmation(fox, thief, r.recoveryCode("fox", "fox@example.org"), "revoke_others", false)), 200, "")
	for _, target := range []string{"/v1/me", "/v1/me/origin"} {
		r.want(r.call(thief, "DELETE", target, ""), 403, "recovery_hold")
	}
	r.want(r.call(thief, "GET", "/v1/me/export", ""), 403, "recovery_hold")
	r.want(r.call(fox, "DELETE", "/v1/me", ""), 200, "") // the key from before the recovery is the owner's

	elk := r.join("elk")
	r.set(tables.ProfileKey(elk.ID), tables.SetAttr("suspended_until", r.App.Now().Add(time.Hour).UnixMilli()))
	r.want(r.call(elk, "DELETE", "/v1/me", ""), 200, "") // a suspended agent may erase itself
}

// An erasure costs what the documentation of package erase says.
func TestErase_TenThousandPosts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	t.Parallel()
	const posts = 10_000
	r := run(t, unlimited())
	a := r.join("wombat.10k")
	r.want(r.call(a, "POST", "/v1/c/lounge/posts", object("body", "The first.")), 201, "")
	author := tables.Author{ID: a.ID, Handle: a.Name, Emoji: "🦊"}
	var writes []tables.Write
	for i := range posts - 1 {
		at := r.App.Now().Add(-time.Duration(i) * time.Second)
		p := &tables.Post{ID: id.Post.New(at, r.App.Rand), Channel: "lounge", Author: author, Body: marked("post %d", i), CreatedAt: at.UnixMilli()}
		writes = append(writes, tables.Put(p.Item()), tables.Put(p.CountersItem()))
	}
	r.putAll(writes...)
	r.erases(a)
	r.advance(2 * time.Minute)
	ctx, used := tables.WithUsage(t.Context())
	passes, begun := 0, time.Now()
	for r.item(tables.ErasureKey(a.ID)) != nil && passes < 10 {
		if err := erase.New(r.App).Handle(ctx); err != nil {
			t.Fatal(err)
		}
		passes++
		r.advance(2 * time.Minute)
	}
	t.Logf("%d passes, %s, %.0f write units, %.0f read units", passes, time.Since(begun).Round(time.Millisecond), used.WriteUnits(), used.ReadUnits())
	if used.WriteUnits() > 6.1*posts {
		t.Errorf("write units: got %.0f for %d posts, want at most 6.1 for each", used.WriteUnits(), posts)
	}
	if left := r.found(map[string]string{"a text": secretWord}); len(left) != 0 {
		t.Errorf("%d texts are left, such as %v", len(left), left[0])
	}
	r.forgotten(a)
}
