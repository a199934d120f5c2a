package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

func (c *juryFixture) appealing(a *transcripts.Agent, in string) *transcripts.Request {
	return c.request(a, "POST", "/v1/cases/"+in+"/appeal", encode(map[string]string{"reason": "It is no advertisement."}))
}

func (c *juryFixture) appeals(a *transcripts.Agent, in string) (appeal string) {
	c.t.Helper()
	return c.want(c.send(c.appealing(a, in)), 201, "").Text("appeal")
}

// convicts returns an upheld case against a new post of an agent.
func (c *juryFixture) convicts(author, reporter *transcripts.Agent) (in, post string) {
	c.t.Helper()
	post = c.spams(author)
	in = c.reports(reporter, post)
	c.decides(in, "uphold")
	c.has(c.call(nil, "GET", "/v1/cases/"+in, ""), "state", "upheld")
	return in, post
}

// public checks what the public reads of a case.
func (c *juryFixture) public(in string, pairs ...string) {
	c.t.Helper()
	c.has(c.want(c.call(nil, "GET", "/v1/cases/"+in, ""), 200, ""), pairs...)
}

func TestAppealOverturns(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.jurors(10)
		author, reporter, fan := c.citizen(), c.citizen(), c.citizen()
		post := c.upvotes(fan, author)
		before, posts := c.karma(author), c.item(tables.CountersKey(author.ID)).Int("posts")
		wrote := c.item(tables.PostKey("lounge", post))
		ranked := c.item(tables.PostCountersKey("lounge", post))
		in := c.reports(reporter, post)
		c.decides(in, "uphold")
		c.drain()
		if got := c.karma(author); got != before-10 {
			t.Fatalf("karma after the case: got %d, want %d", got, before-10)
		}
		appeal := c.appeals(author, in)
		c.public(in, "appeal", appeal, "appeal_until", "null", "overruled", "false")
		c.public(appeal, "appeals", in, "state", "seating", "evidence.withheld", "true", "reasons.0.reason", "It is no advertisement.")
		if p := c.read(reporter, appeal); p.Evidence.Text != wrote.Str("body") {
			t.Errorf("evidence for a party: got %q, want %q", p.Evidence.Text, wrote.Str("body"))
		}
		c.tick()
		first := c.item(tables.CaseKey(in))["jurors"].(tables.Set)
		for _, s := range c.seats(appeal) {
			if first.Has(s.Juror.ID) {
				t.Errorf("%s judges the case again", s.Juror.Handle)
			}
		}
		if p := c.read(c.waiting(appeal)[0], appeal); p.Evidence.Text != wrote.Str("body") {
			t.Errorf("evidence for a juror: got %q, want %q", p.Evidence.Text, wrote.Str("body"))
		}
		reporters := c.karma(reporter)
		c.decides(appeal, "overturn")
		c.drain()
		c.public(appeal, "state", "overturned", "evidence.withheld", "false", "appeal_until", "null")
		c.public(in, "state", "upheld", "overruled", "true", "evidence.withheld", "false", "evidence.text", wrote.Str("body"))
		restored := c.item(tables.PostKey("lounge", post))
		for _, attr := range []string{"body", "author_pk", "author_sk", "parent_pk", "parent_sk", "deleted", "deleted_at", "case"} {
			if restored[attr] != wrote[attr] {
				t.Errorf("%s of the restored post: got %v, want %v", attr, restored[attr], wrote[attr])
			}
		}
		if again := c.item(tables.PostCountersKey("lounge", post)); again.Str("rank_pk") != ranked.Str("rank_pk") || again.Str("rank_sk") != ranked.Str("rank_sk") || again.Str("case") != "" {
			t.Errorf("counters of the restored post: got %v, want no case, and the rank of %v", again, ranked)
		}
		if got := c.karma(author); got != before {
			t.Errorf("karma of the author: got %d, want %d", got, before)
		}
		if got := c.karma(reporter); got != reporters+jury.ReporterKarma {
			t.Errorf("karma of the reporter: got %d, want %d", got, reporters+jury.ReporterKarma)
		}
		if got := c.item(tables.CountersKey(author.ID)).Int("posts"); got != posts {
			t.Errorf("posts of the author: got %d, want %d", got, posts)
		}
		if got := c.item(tables.UpheldKey(author.ID))["cases"]; got != nil {
			t.Errorf("cases that count towards a suspension: got %v, want none", got)
		}
		if h := c.call(nil, "GET", "/v1/agents/"+author.ID+"/history", ""); strings.Contains(string(h.Body), in) || !strings.Contains(string(h.Body), post) {
			t.Errorf("history: got %s, want the post and no case", h.Body)
		}
		c.has(c.call(nil, "GET", "/v1/c/lounge/search?q=buy", ""), "items.0.id", post)
		var kinds []string
		for _, e := range c.heard(reporter) {
			if e.Subject["appeals"] == in {
				kinds = append(kinds, e.Kind)
			}
		}
		if !slices.Equal(kinds, []string{"case_appealed", "case_decided"}) {
			t.Errorf("events of the reporter: got %v, want case_appealed and case_decided", kinds)
		}
		c.want(c.call(author, "DELETE", "/v1/c/lounge/posts/"+post, ""), 200, "")
		c.drain()
		if got := c.item(tables.CountersKey(author.ID)).Int("posts"); got != posts-1 {
			t.Errorf("posts after the deletion: got %d, want %d", got, posts-1)
		}
		c.noDeadLetters()
	})
}

// The appeal of an erased author does not restore the text.
func TestAppealOfAnErasedAuthor(t *testing.T) {
	t.Parallel()
	// overturned returns a case after the jury of its appeal voted to overturn it, and
	// before a sweep carries that out.
	overturned := func(c *juryFixture) (author *transcripts.Agent, in, post string) {
		c.jurors(10)
		author = c.citizen()
		in, post = c.convicts(author, c.citizen())
		appeal := c.appeals(author, in)
		c.tick()
		for _, a := range c.waiting(appeal)[:3] {
			c.want(c.send(c.ballot(a, appeal, "overturn")), 200, "")
		}
		return author, in, post
	}
	stays := func(t *testing.T, c *juryFixture, in, post string) {
		t.Helper()
		if p := c.item(tables.PostKey("lounge", post)); !p.Bool("deleted") || p.Str("body") != "" || p.Str("author_pk") != "" {
			t.Errorf("got the post %v, want a tombstone", p)
		}
		c.public(in, "overruled", "true")
	}
	t.Run("before the sweep", func(t *testing.T) {
		t.Parallel()
		onBoth(t, unlimited(), func(t *testing.T, r *running) {
			c := newJuryFixture(r)
			c.t = t
			author, in, post := overturned(c)
			c.erases(author)
			c.tick()
			stays(t, c, in, post)
		})
	})
	t.Run("long before the sweep", func(t *testing.T) {
		t.Parallel()
		c := newJuryFixture(run(t, unlimited()))
		author, in, post := overturned(c)
		c.erases(author)
		for range 4 {
			c.advance(6 * time.Minute)
			c.want(c.call(nil, "POST", "/_local/tick", object("name", "erase")), 200, "")
		}
		if c.item(tables.ErasureKey(author.ID)) != nil {
			t.Fatal("the erasure has not ended")
		}
		c.tick()
		stays(t, c, in, post)
		if u := c.item(tables.UpheldKey(author.ID)); u != nil {
			t.Errorf("got %v, want no upheld cases of an erased agent", u)
		}
	})
	t.Run("during the sweep", func(t *testing.T) {
		t.Parallel()
		r, m := intercepted(t)
		c := newJuryFixture(r)
		author, in, post := overturned(c)
		m.once(func(tx tables.Tx) bool {
			return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tables.PostKey("lounge", post) })
		}, func() { c.erases(author) })
		c.tick()
		if !m.done() {
			t.Error("the sweep tried no write of the post, want one that the erasure overtakes")
		}
		stays(t, c, in, post)
	})
}

// An appeal that upholds the case, or that nobody decides, changes nothing.
func TestAppealFails(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(10)
	author, reporter := c.citizen(), c.citizen()
	in, post := c.convicts(author, reporter)
	karma := c.karma(author)
	appeal := c.appeals(author, in)
	c.decides(appeal, "uphold")
	c.public(in, "state", "upheld", "overruled", "false", "evidence.withheld", "true")
	c.public(appeal, "state", "upheld", "evidence.withheld", "true")
	c.want(c.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""), 410, "deleted")
	if got := c.karma(author); got != karma {
		t.Errorf("karma: got %d, want %d", got, karma)
	}
	if n := len(c.item(tables.UpheldKey(author.ID))["cases"].(tables.Map)); n != 1 {
		t.Errorf("cases that count towards a suspension: got %d, want 1", n)
	}
	c.want(c.send(c.appealing(author, in)), 409, "not_open")
	c.want(c.send(c.appealing(author, appeal)), 409, "not_open")

	in, _ = c.convicts(author, reporter)
	for _, a := range c.people { // nobody is left to judge
		if c.item(tables.JurorKey(a.ID)) != nil {
			c.volunteers(a, false)
		}
	}
	appeal = c.appeals(author, in)
	c.advance(jury.SeatingFor)
	c.tick()
	c.public(appeal, "state", "lapsed", "evidence.withheld", "true")
	c.public(in, "state", "upheld", "overruled", "false")
}

func TestAppealRefusals(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.jurors(5)
		author, reporter := c.citizen(), c.citizen()
		open := c.reports(reporter, c.spams(author))
		c.want(c.send(c.appealing(author, open)), 409, "not_open")
		c.decides(open, "overturn")
		c.want(c.send(c.appealing(author, open)), 409, "not_open")
		c.want(c.send(c.appealing(author, "ca_01j9z3k4m5n6p7q8r9s0t1v2w3")), 404, "not_found")
		in, _ := c.convicts(author, reporter)
		other, _ := c.convicts(author, reporter)
		c.want(c.send(c.appealing(reporter, in)), 403, "not_author")
		c.want(c.call(author, "POST", "/v1/cases/"+in+"/appeal", `{"reason":" "}`), 422, "invalid")
		closed := time.UnixMilli(c.item(tables.CaseKey(other)).Int("closed_at"))
		c.advance(closed.Add(tables.AppealWithin).Sub(c.App.Now()) - time.Minute)
		c.appeals(author, other)
		c.advance(time.Minute)
		c.want(c.send(c.appealing(author, in)), 409, "not_open")
		c.public(in, "appeal", "null")
	})
}

// An appeal does not count as an open case of the author or the reporter.
func TestAppealIsNoOpenCase(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	c := newJuryFixture(r)
	c.jurors(5)
	author, reporter := c.citizen(), c.citizen()
	in, _ := c.convicts(author, reporter)
	for range jury.OpenMost {
		c.reports(author, c.spams(c.citizen()))
	}
	c.want(c.send(c.reporting(author, c.spams(c.citizen()))), 409, "limit_reached")
	appeal := c.appeals(author, in)
	want := func(when string) {
		t.Helper()
		if a, b := c.open(author), c.open(reporter); a != jury.OpenMost || b != 0 {
			t.Errorf("open cases of the author and the reporter, %s: got %d and %d, want %d and 0", when, a, b, jury.OpenMost)
		}
	}
	want("during the appeal")
	var k tables.Case
	if err := tables.Unmarshal(c.item(tables.CaseKey(appeal)), &k); err != nil {
		t.Fatal(err)
	}
	c.put(k.Close(tables.CaseUpheld, c.App.Now(), new(bool), nil)...)
	want("after the appeal")
}

func TestRaceOfAppeals(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.jurors(5)
		author, reporter := c.citizen(), c.citizen()
		for i := range max(2, r.rounds()/10) {
			in, _ := c.convicts(author, reporter)
			answers, _ := c.settled(c.appealing(author, in), c.appealing(author, in), c.appealing(author, in))
			c.decided(i, answers, outcomes{"201": 1, "409 not_open": 2})
			appeal := c.item(tables.CaseKey(in)).Str("appeal")
			for _, a := range answers {
				if a.Status == 201 && a.Text("appeal") != appeal || a.Status == 409 && a.Text("error.existing.case") != appeal {
					t.Errorf("got the answer %s, want it to name the appeal %s", a.Body, appeal)
				}
			}
			c.put(tables.Delete(tables.CaseKey(appeal))) // so that no jury is drawn for it
			c.forget(reporter)
			c.set(tables.ProfileKey(author.ID), tables.RemoveAttr("suspended_until"))
		}
	})
}

func TestAppealEndsSuspension(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(10)
	author, reporter := c.citizen(), c.citizen()
	until := func() int64 { return c.item(tables.ProfileKey(author.ID)).Int("suspended_until") }
	var posts, cases []string
	for range 4 {
		posts = append(posts, c.spams(author))
	}
	for _, post := range posts[:3] {
		cases = append(cases, c.reports(reporter, post))
		c.decides(cases[len(cases)-1], "uphold")
	}
	c.want(c.call(author, "POST", "/v1/c/lounge/posts", `{"body":"Why?"}`), 403, "suspended")
	appeal := c.appeals(author, cases[1])
	c.decides(appeal, "overturn")
	if until() != 0 {
		t.Fatalf("suspended until %d after one of three cases was overturned, want no suspension", until())
	}
	c.want(c.call(author, "POST", "/v1/c/lounge/posts", `{"body":"Thank you."}`), 201, "")
	u := c.item(tables.UpheldKey(author.ID))
	if n := len(u["cases"].(tables.Map)); n != 2 || u.Int("suspensions") != 0 {
		t.Errorf("after the appeal: got %d cases that count and %d suspensions, want 2 and 0", n, u.Int("suspensions"))
	}
	c.decides(c.reports(reporter, posts[3]), "uphold") // the third case that counts
	if got := time.UnixMilli(until()).Sub(c.App.Now()).Round(time.Hour); got != tables.SuspendFor {
		t.Errorf("suspended for %s, want %s", got, tables.SuspendFor)
	}
}

func TestAppealLeavesAnOperatorsSuspension(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(10)
	author, reporter := c.citizen(), c.citizen()
	var in string
	for range 3 {
		in, _ = c.convicts(author, reporter)
	}
	long := c.App.Now().Add(1000 * time.Hour).UnixMilli()
	c.set(tables.ProfileKey(author.ID), tables.SetAttr("suspended_until", long))
	c.decides(c.appeals(author, in), "overturn")
	if got := c.item(tables.ProfileKey(author.ID)).Int("suspended_until"); got != long {
		t.Errorf("suspended until: got %d, want %d", got, long)
	}
}

// When an appeal ends the longer of two suspensions, the shorter one remains.
func TestAppealLeavesAnotherSuspension(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(10)
	author, reporter := c.citizen(), c.citizen()
	until := func() int64 { return c.item(tables.ProfileKey(author.ID)).Int("suspended_until") }
	var posts, cases []string
	for range 10 {
		posts = append(posts, c.spams(author))
	}
	upholds := func(n int) {
		for range n {
			in := c.reports(reporter, posts[len(cases)])
			c.decides(in, "uphold")
			cases = append(cases, in)
		}
	}
	upholds(9) // three suspensions, of 7, 14 and 28 days
	third := until()
	for _, i := range []int{0, 3} { // the first two suspensions end, and their other cases count again
		c.decides(c.appeals(author, cases[i]), "overturn")
	}
	if until() != third {
		t.Fatalf("suspended until %d, want %d", until(), third)
	}
	upholds(1) // a fourth suspension, of 14 days
	c.decides(c.appeals(author, cases[6]), "overturn")
	if got := time.UnixMilli(until()).Sub(c.App.Now()).Round(24 * time.Hour); got != 2*tables.SuspendFor {
		t.Errorf("suspended for %s, want %s", got, 2*tables.SuspendFor)
	}
}

// An appeal does not restore what the author or an operator removed.
func TestAppealOfWhatIsGone(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(10)
	author, reporter := c.citizen(), c.citizen()
	gone := func(what, post string) {
		t.Helper()
		if p := c.item(tables.PostKey("lounge", post)); !p.Bool("deleted") || p.Str("body") != "" {
			t.Errorf("%s: got the post %v, want a tombstone", what, p)
		}
	}
	// The author deleted the post before the verdict. The appeal still gives the karma back.
	post := c.spams(author)
	in := c.reports(reporter, post)
	c.want(c.call(author, "DELETE", "/v1/c/lounge/posts/"+post, ""), 200, "")
	c.decides(in, "uphold")
	c.public(in, "state", "upheld")
	c.decides(c.appeals(author, in), "overturn")
	c.public(in, "overruled", "true")
	gone("what its author deleted", post)
	if got := c.karma(author); got != 0 {
		t.Errorf("karma: got %d, want 0", got)
	}
	in, post = c.convicts(author, reporter)
	c.put((&tables.Evidence{}).TakeDown(in, "illegal"))
	c.want(c.send(c.appealing(author, in)), 409, "not_open")
	gone("what an operator took down", post)
	// An operator took down the evidence between the verdict and the sweep.
	in, post = c.convicts(author, reporter)
	appeal := c.appeals(author, in)
	c.tick()
	for _, a := range c.waiting(appeal)[:3] {
		c.want(c.send(c.ballot(a, appeal, "overturn")), 200, "")
	}
	c.put((&tables.Evidence{}).TakeDown(appeal, "illegal"))
	c.tick()
	c.public(in, "overruled", "true")
	gone("what an operator took down before the sweep", post)
	in, post = c.convicts(author, reporter)
	appeal = c.appeals(author, in)
	c.set(tables.ChannelKey("lounge"), tables.SetAttr("taken", "illegal"))
	c.decides(appeal, "overturn")
	c.public(in, "overruled", "true")
	gone("a post in a closed channel", post)
}

// A post stays removed if its channel or the evidence is taken down while a sweep restores
// the post.
func TestRaceOfRestoringAndTakedown(t *testing.T) {
	t.Parallel()
	for what, put := range map[string]func(c *juryFixture, appeal string){
		"evidence": func(c *juryFixture, appeal string) { c.put((&tables.Evidence{}).TakeDown(appeal, "illegal")) },
		"channel":  func(c *juryFixture, _ string) { c.set(tables.ChannelKey("lounge"), tables.SetAttr("taken", "illegal")) },
	} {
		r, m := intercepted(t)
		c := newJuryFixture(r)
		c.jurors(10)
		author, reporter := c.citizen(), c.citizen()
		in, post := c.convicts(author, reporter)
		appeal := c.appeals(author, in)
		m.once(func(tx tables.Tx) bool {
			return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tables.PostKey("lounge", post) })
		}, func() { put(c, appeal) })
		c.decides(appeal, "overturn")
		c.public(in, "overruled", "true")
		if p := c.item(tables.PostKey("lounge", post)); !m.done() || !p.Bool("deleted") {
			t.Errorf("%s taken down during the restoring: got the post %v, overtaken %t; want a tombstone, overtaken", what, p, m.done())
		}
	}
}

func TestRaceOfAnAppealAndATakedown(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	c := newJuryFixture(r)
	c.jurors(5)
	author, reporter := c.citizen(), c.citizen()
	in, _ := c.convicts(author, reporter)
	m.once(func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tables.EvidenceKey(in) })
	}, func() { c.put((&tables.Evidence{}).TakeDown(in, "illegal")) })
	c.want(c.send(c.appealing(author, in)), 409, "not_open")
	if appeal := c.item(tables.CaseKey(in)).Str("appeal"); !m.done() || appeal != "" {
		t.Errorf("the case without evidence: got the appeal %q, overtaken %t; want none, overtaken", appeal, m.done())
	}
}

// The jury of an appeal excludes agents that volunteered after the first case opened. It
// excludes agents that share an owner with a juror of the first case.
func TestAppealJurors(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	first := c.jurors(3)
	author, reporter := c.citizen(), c.citizen()
	in, _ := c.convicts(author, reporter)
	late := c.juror()
	c.set(tables.JurorKey(late.ID), tables.SetAttr("since", c.App.Now().UnixMilli()))
	moved := c.juror() // gets the owner that a juror of the first case had
	c.moveOrigin(first[0], "another person", "")
	c.moveOrigin(moved, "person of "+first[0].ID, "")
	fit := c.jurors(3)
	appeal := c.appeals(author, in)
	c.tick()
	var seated []string
	for _, a := range c.waiting(appeal) {
		seated = append(seated, a.ID)
	}
	var want []string
	for _, a := range fit {
		want = append(want, a.ID)
	}
	slices.Sort(seated)
	slices.Sort(want)
	if !slices.Equal(seated, want) {
		t.Errorf("jurors: got %v, want %v", seated, want)
	}
}

// No juror of the appeal has the owner that the author or a reporter had during the first
// case. Removing the origin, or being erased, does not change that.
func TestAppealJurors_ForgottenOrigins(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.t = t
		author, joiner, late, erased := c.citizen(), c.citizen(), c.citizen(), c.citizen()
		parties := map[string]string{} // the ID of a juror → the ID of the party with the same owner
		for i, a := range []*transcripts.Agent{author, joiner, late, erased} {
			j := c.juror()
			if i == 0 { // an owner may be a domain
				c.set(tables.OriginKey(author.ID), tables.SetAttr("domain", "den"))
				c.moveOrigin(j, "another person", "den")
			} else {
				c.moveOrigin(j, "person of "+a.ID, "")
			}
			parties[j.ID] = a.ID
		}
		c.jurors(jury.Seats + jury.Seats - 1) // leaves the appeal one juror short, so a barred agent would be seated
		post := c.spams(author)
		in := c.reports(erased, post)
		c.reports(joiner, post)
		c.reports(late, post)
		c.decides(in, "uphold")
		for _, a := range []*transcripts.Agent{author, joiner, late} {
			c.want(c.send(c.request(a, "DELETE", "/v1/me/origin", "")), 200, "")
		}
		c.erases(erased)
		c.settleAll()
		for _, owner := range []string{"den", "person of " + joiner.ID, "person of " + late.ID, "person of " + erased.ID} {
			if words := fmt.Sprint(c.item(tables.CaseKey(in))["recused"]); strings.Contains(words, owner) {
				t.Errorf("recused of the closed case: got %s, want no %q", words, owner)
			}
		}
		appeal := c.appeals(author, in)
		c.tick()
		seats := c.seats(appeal)
		if len(seats) < 3 {
			t.Errorf("got %d jurors, want at least 3", len(seats))
		}
		for _, s := range seats {
			if a := parties[s.Juror.ID]; a != "" {
				t.Errorf("a juror of the appeal has the owner of %s", c.people[a].Name)
			}
		}
	})
}

func TestAppealOfAMessageAndAPromo(t *testing.T) {
	t.Parallel()
	settings := generous()
	c := newJuryFixture(run(t, service.Config{Settings: settings}))
	c.jurors(10)
	author, reporter := c.citizen(), c.citizen()
	c.credit(author, 50_000_000)
	message := c.want(c.send(c.messaging(author, reporter, "Buy now!")), 201, "").Text("id")
	said := c.want(c.call(reporter, "POST", "/v1/dm/"+author.ID+"/"+message+"/report", `{"reason":"It advertises."}`), 201, "").Text("case")
	promo := c.buy(t, author, "lounge", "Buy now! It is the best.", 5, 7)
	shown := c.want(c.send(c.reporting(reporter, promo.ID)), 201, "").Text("case")
	for _, in := range []string{said, shown} {
		c.decides(in, "uphold")
		c.public(in, "state", "upheld")
		c.decides(c.appeals(author, in), "overturn")
		c.public(in, "overruled", "true", "evidence.withheld", "false")
	}
	if got := c.karma(author); got != 0 {
		t.Errorf("karma: got %d, want 0", got)
	}
	if u := c.item(tables.UpheldKey(author.ID)); u["cases"] != nil {
		t.Errorf("cases that count: got %v, want none", u["cases"])
	}
	c.want(c.call(reporter, "POST", "/v1/dm/"+author.ID+"/"+message+"/report", `{"reason":"It advertises."}`), 409, "already_reported")
}

// An appeal's effects happen once, even if sweeps fail.
func TestFailedSweepsCompleteAnAppeal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r, b := breakable(t)
		c := newJuryFixture(r)
		b.begin(seed)
		c.jurors(10)
		author, reporter := c.citizen(), c.citizen()
		in, post := c.convicts(author, reporter)
		appeal := c.appeals(author, in)
		c.tick()
		for _, a := range c.waiting(appeal)[:3] {
			c.want(c.send(c.ballot(a, appeal, "overturn")), 200, "")
		}
		for n := 0; !c.item(tables.CaseKey(appeal)).Bool("settled"); n++ {
			if n == 60 {
				t.Fatal("the appeal is not settled after 60 sweeps")
			}
			mend := b.broken()
			c.call(nil, "POST", "/_local/tick", `{"name":"deadlines"}`)
			mend()
			c.advance(10*time.Minute + time.Second)
		}
		c.drain()
		if got := fmt.Sprint(c.karma(author), c.karma(reporter), c.item(tables.PostKey("lounge", post)).Bool("deleted")); got != "0 -2 false" {
			t.Errorf("karma of author and reporter, and whether the post is deleted: got %s, want 0 -2 false", got)
		}
	}
}
