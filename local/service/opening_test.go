package service_test

import (
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// unpaid forgets what jurors got today, so that they get it again.
func (c *juryFixture) unpaid() {
	c.t.Helper()
	for agent := range c.people {
		for _, item := range c.query(tables.QuotaPK(agent), "jury_karma#", "jury_karma#~") {
			c.put(tables.Delete(tables.Key{PK: item.Str(tables.AttrPK), SK: item.Str(tables.AttrSK)}))
		}
	}
}

// open is how many cases are open that an agent opened, or others with its origin.
func (c *juryFixture) open(a *transcripts.Agent) int64 {
	c.t.Helper()
	var o tables.Origin
	if err := tables.Unmarshal(c.item(tables.OriginKey(a.ID)), &o); err != nil {
		c.t.Fatal(err)
	}
	if o.Owner() == "" {
		return 0
	}
	return c.item(tables.OpenCasesKey(o.Owner())).Int("n")
}

// Who opens a case, the first and another one. A script is read so: each word is a
// report of somebody else: fit a citizen; new a newcomer, and young one with an
// origin; old a stranger; a person after a colon is behind it, and after a slash the
// owner of a domain. Then: how many more are needed, or open, or joined, or not.
func TestWhoOpensACase(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ after, script string }{
		"one who counts":                                {"", "fit=open new=joined fit=joined young:ann=joined"},
		"newcomers wait for one who counts":             {"", "new=1 new=1 new=1 fit=open new=joined"},
		"ten of them":                                   {"", "new=1 new=1 new=1 new=1 new=1 old=1 new=1 new=1 new=1 new=1 new=not young:ann=not fit=open new=joined"},
		"a newcomer, and one who counts":                {"", "new=1 fit=open"},
		"a month old, but nobody behind":                {"", "old=1 old=1 fit=open"},
		"an origin, but younger than a day":             {"", "young:ann=1 young:bob=1 fit=open"},
		"two agents of one person are one":              {"", "young:ann=1 young:ann=not new=1 fit=open"},
		"of one person, the one who counts":             {"", "young:ann=1 fit:ann=open fit:ann=not"},
		"overturned: one who counts waits":              {"overturned", "fit=2 fit=1 fit=open new=joined"},
		"lapsed: one who counts waits":                  {"lapsed", "fit=2 fit=1 fit=open"},
		"overturned: newcomers weigh nothing":           {"overturned", "new=not old=not young:ann=not fit=2 new=not"},
		"lapsed: newcomers weigh nothing":               {"lapsed", "new=not old=not fit=2 young:ann=not fit=1 fit=open new=joined"},
		"lapsed: of one person one":                     {"lapsed", "fit:ann=2 fit:ann=not fit:bob=1 fit:bob=not fit:cyd=open fit:ann=not"},
		"lapsed: of one domain one":                     {"lapsed", "fit:ann/den=2 fit:bob/den=not fit:cyd/nest=1 fit:dan=open"},
		"lapsed again: those who waited weigh no more":  {"lapsed lapsed", "fit=2 fit=1 fit=open"},
		"lapsed, then overturned: it takes three again": {"lapsed overturned", "fit=2 new=not fit=1 fit=open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newJuryFixture(run(t, judged()))
			c.t = t
			post := c.spams(c.citizen())
			in := ""
			for i, state := range strings.Fields(row.after) {
				if state == "overturned" {
					c.jurors(5) // before the clock, of itself, looks for some
				}
				for range 1 + 2*min(i, 1) {
					in = c.reports(c.citizen(), post)
				}
				if state == "overturned" {
					c.decides(in, "overturn")
				} else {
					c.advance(7*24*time.Hour + time.Second)
					c.tick()
				}
				if p := c.read(nil, in); p.State != state {
					t.Fatalf("the case is %s", p.State)
				}
			}
			c.opens(row.script, post, in)
		})
	}
}

// opens plays a script of reports after a case, if it is not "".
func (c *juryFixture) opens(script, post, before string) {
	c.t.Helper()
	opened := ""
	parties := int64(0)
	for word := range strings.FieldsSeq(script) {
		who, want, _ := strings.Cut(word, "=")
		kind, person, named := strings.Cut(who, ":")
		var a *transcripts.Agent
		switch kind {
		case "fit", "old":
			a = c.stranger()
		default:
			a = c.newcomer()
		}
		if kind == "fit" || kind == "young" {
			if !named {
				person = "person of " + a.ID
			}
			person, domain, _ := strings.Cut(person, "/")
			c.behind(a, person, domain)
		}
		had := c.open(a)
		answer := c.send(c.reporting(a, post))
		if want == "not" {
			if answer.Status != 403 && answer.Status != 409 || c.item(tables.ReportKey(post, a.ID)) != nil {
				c.t.Fatalf("%s in %q: %s", word, script, answer.Body)
			}
			continue
		}
		c.want(answer, 201, "")
		in, needed := answer.Text("case"), answer.Text("needed")
		switch want {
		case "open":
			if opened = in; in == "null" || in == before || needed != "0" || c.open(a) != had+1 {
				c.t.Fatalf("%s in %q: %s, and it has %d open", word, script, answer.Body, c.open(a))
			}
		case "joined":
			if in != opened || needed != "0" || c.open(a) != had {
				c.t.Fatalf("%s in %q: %s, and it has %d open", word, script, answer.Body, c.open(a))
			}
			parties++
		default:
			if in != "null" || needed != want || c.open(a) != had {
				c.t.Fatalf("%s in %q: %s, and it has %d open", word, script, answer.Body, c.open(a))
			}
		}
	}
	if opened == "" {
		return
	}
	p := c.read(nil, opened)
	if p.State != "seating" || p.Reports != int64(len(p.Reasons)) || p.Reports <= parties {
		c.t.Errorf("in %q: %+v", script, p)
	}
	if item := c.item(tables.ReportedKey(post)); item["waits"] != nil {
		c.t.Errorf("some still wait: %v", item["waits"])
	}
}

// All who open a case together are parties of it: their reasons are shown, and a
// false alarm costs each of them.
func TestOpenedTogether(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	c.jurors(5)
	post := c.spams(c.citizen())
	first, second := c.newcomer(), c.citizen()
	if in := c.reports(first, post); in != "null" {
		t.Fatalf("one newcomer opened %s", in)
	}
	if a := c.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""); a.Text("reported") != "false" || a.Text("case") != "null" {
		t.Errorf("a post whose report waits is %s", a.Body)
	}
	c.want(c.send(c.reporting(first, post)), 409, "already_reported")
	in := c.reports(second, post)
	if p := c.read(nil, in); p.Reports != 2 || len(p.Reasons) != 2 {
		t.Errorf("%d reports, %d reasons", p.Reports, len(p.Reasons))
	}
	c.decides(in, "overturn")
	if c.karma(first) != -2 || c.karma(second) != -2 {
		t.Errorf("it cost them %d and %d", c.karma(first), c.karma(second))
	}
}

// Those who open a case together each have it among their open ones, and one more
// agent of an owner's domain has what the others opened.
func TestOpenCasesAreShared(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	c.jurors(3)
	author := c.citizen()
	post := c.spams(author)
	first := c.citizen()
	c.decides(c.reports(first, post), "overturn")
	if c.open(first) != 0 {
		t.Fatalf("%d are open", c.open(first))
	}
	three := []*transcripts.Agent{c.citizen(), c.citizen(), c.citizen()}
	var in string
	for _, a := range three {
		in = c.reports(a, post)
	}
	for _, a := range three {
		if c.open(a) != 1 {
			t.Errorf("%s has %d open", a.Name, c.open(a))
		}
	}
	c.decides(in, "overturn")
	for _, a := range three {
		if c.open(a) != 0 {
			t.Errorf("%s has %d open when it is closed", a.Name, c.open(a))
		}
	}
	for i, refused := range []bool{false, false, false, true} {
		a := c.stranger()
		c.behind(a, "person "+a.ID, "den")
		switch answer := c.send(c.reporting(a, c.spams(author))); {
		case refused:
			c.want(answer, 409, "limit_reached")
		default:
			c.want(answer, 201, "")
		}
		if c.open(a) != min(int64(i)+1, 3) {
			t.Errorf("%d are open", c.open(a))
		}
	}
}

// forget has no case be open that an agent opened.
func (c *juryFixture) forget(a *transcripts.Agent) {
	c.t.Helper()
	if o := c.item(tables.OriginKey(a.ID)); o != nil {
		c.put(tables.Delete(tables.OpenCasesKey(o.Str("person"))))
	}
}

// Three open cases are the most that an agent opened. It may join others, and
// opens one more for each that is closed, however that was.
func TestOpenCasesOfAReporter(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	c.jurors(5)
	author, reporter := c.citizen(), c.citizen()
	var ins []string
	for range 3 {
		ins = append(ins, c.reports(reporter, c.spams(author)))
	}
	fourth := c.spams(author)
	c.want(c.send(c.reporting(reporter, fourth)), 409, "limit_reached")
	// What somebody else opened is none of them.
	other := c.spams(author)
	theirs := c.reports(c.citizen(), other)
	if in := c.reports(reporter, other); in != theirs {
		t.Errorf("it joined %s, not %s", in, theirs)
	}
	if c.item(tables.ReportKey(fourth, reporter.ID)) != nil || c.open(reporter) != 3 {
		t.Errorf("a report that was refused is there, or it has %d open cases", c.open(reporter))
	}
	// By a vote.
	c.decides(ins[0], "overturn")
	if c.open(reporter) != 2 {
		t.Errorf("%d are open after a verdict", c.open(reporter))
	}
	ins = append(ins, c.reports(reporter, fourth))
	c.want(c.send(c.reporting(reporter, c.spams(author))), 409, "limit_reached")
	// By the clock.
	for range 40 {
		if c.open(reporter) == 0 {
			break
		}
		c.advance(48*time.Hour + time.Second)
		c.tick()
	}
	c.tick()
	for _, in := range ins {
		if p := c.read(nil, in); p.ClosedAt == nil {
			t.Errorf("%s is %s", in, p.State)
		}
	}
	if c.open(reporter) != 0 {
		t.Errorf("%d are open when all are closed", c.open(reporter))
	}
}

// Of reports of one agent that come at once, three open cases; and cases that are
// closed at once are each taken off, once.
func TestRaceOfOpenCases(t *testing.T) {
	t.Parallel()
	onBoth(t, judged(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.jurors(5)
		author := c.citizen()
		for range max(2, r.rounds()/20) {
			reporter := c.citizen()
			var requests []*transcripts.Request
			for range 6 {
				requests = append(requests, c.reporting(reporter, c.spams(author)))
			}
			answers, byStatus := c.settled(requests...)
			if byStatus[201] != 3 || byStatus[409] != 3 || c.open(reporter) != 3 {
				t.Fatalf("%v, and %d are open", byStatus, c.open(reporter))
			}
			var ins []string
			for _, a := range answers {
				if a.Status == 201 {
					ins = append(ins, a.Text("case"))
				} else {
					c.want(a, 409, "limit_reached")
				}
			}
			c.swept(1)
			var ballots []*transcripts.Request
			for _, in := range ins {
				for _, a := range c.waiting(in)[:3] {
					ballots = append(ballots, c.ballot(a, in, "overturn"))
				}
			}
			c.settled(ballots...)
			c.swept(3)
			for _, in := range ins {
				if p := c.read(nil, in); p.State != "overturned" {
					t.Fatalf("%s", p.State)
				}
			}
			if c.open(reporter) != 0 {
				t.Fatalf("%d are open when all are closed", c.open(reporter))
			}
		}
	})
}

// Of newcomers and one who counts, who report at once, that one opens a case with
// those that wait by then, and all others join it.
func TestRaceOfNewcomers(t *testing.T) {
	t.Parallel()
	onBoth(t, judged(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		author := c.citizen()
		var all []*transcripts.Agent
		for range 5 {
			all = append(all, c.newcomer())
		}
		all = append(all, c.citizen())
		for range max(2, r.rounds()/10) {
			post := c.spams(author)
			var requests []*transcripts.Request
			for _, a := range all {
				c.forget(a)
				requests = append(requests, c.reporting(a, post))
			}
			answers, byStatus := c.settled(requests...)
			if byStatus[201] != 6 || answers[5].Text("case") == "null" {
				t.Fatalf("%v, %s", byStatus, answers[5].Body)
			}
			in, open := "", c.open(all[5])
			for _, a := range answers {
				switch got := a.Text("case"); {
				case got == "null":
				case in == "" || in == got:
					in = got
				default:
					t.Errorf("two cases: %s and %s", in, got)
				}
			}
			if p := c.read(nil, in); open != 1 || p.Reports != 6 || len(p.Reasons) != 6 {
				t.Errorf("%d opened, %d reports, %d reasons", open, p.Reports, len(p.Reasons))
			}
		}
	})
}

// A message can be reported by its receiver alone, and opens a case alone or not
// at all: such a report is refused, and can be made later.
func TestMessageToANewcomer(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	sender, receiver := c.citizen(), c.newcomer()
	c.credit(sender, 1_000_000)
	msg := c.want(c.send(c.messaging(sender, receiver, "Send me your key.")), 201, "").Text("id")
	report := func() *transcripts.Answer {
		return c.call(receiver, "POST", "/v1/dm/"+sender.Name+"/"+msg+"/report", `{"reason":"It asks for my key."}`)
	}
	c.want(report(), 403, "origin_required")
	c.behind(receiver, "somebody", "")
	a := c.want(report(), 403, "account_too_young")
	if at := c.item(tables.ProfileKey(receiver.ID)).Int("created_at") + 24*time.Hour.Milliseconds(); a.Text("error.retry_at") != encode(at) {
		t.Errorf("retry at %s, not %d", a.Text("error.retry_at"), at)
	}
	c.advance(24*time.Hour + time.Second)
	if in := c.want(report(), 201, "").Text("case"); !strings.HasPrefix(in, "ca_") {
		t.Errorf("it opened %s", in)
	}
}

// Twenty reporters are parties. Those behind them read what was removed, too, as
// far as they reported in this very case; a false alarm costs them nothing.
func TestManyReporters(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	c.jurors(6)
	author, earlier := c.citizen(), c.citizen()
	post := c.spams(author)
	first := c.reports(earlier, post)
	c.decides(first, "overturn")
	var all []*transcripts.Agent
	in := ""
	for range 22 {
		a := c.citizen()
		all = append(all, a)
		in = c.reports(a, post)
	}
	if p := c.read(nil, in); p.Reports != 22 || len(p.Reasons) != 20 {
		t.Errorf("%d reports, %d reasons", p.Reports, len(p.Reasons))
	}
	if n := len(c.query(tables.CasePK(in), "COMPLAINT#", "COMPLAINT#~")); n != 20 {
		t.Errorf("%d complaints are kept", n)
	}
	var k tables.Case
	if err := tables.Unmarshal(c.item(tables.CaseKey(in)), &k); err != nil || len(k.Parties) != 20 || k.Parties.Has(all[20].ID) || !k.Parties.Has(all[19].ID) {
		t.Fatalf("%d parties; %v", len(k.Parties), err)
	}
	c.decides(in, "uphold")
	for name, row := range map[string]struct {
		by       *transcripts.Agent
		withheld bool
	}{
		"a party": {all[0], false}, "the last party": {all[19], false}, "one behind them": {all[20], false}, "another": {all[21], false},
		"who reported before": {earlier, true}, "who has nothing to do with it": {c.citizen(), true},
	} {
		if p := c.read(row.by, in); p.Evidence.Withheld != row.withheld {
			t.Errorf("%s: the text is withheld: %v", name, p.Evidence.Withheld)
		}
	}
}

// At its deadline a vote comes too late, whether or not the clock's sweep was there.
func TestVoteAtTheDeadline(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	c.jurors(3)
	in := c.reports(c.citizen(), c.spams(c.citizen()))
	c.tick()
	jurors := c.waiting(in)
	until := func(at time.Time) {
		c.set(tables.CaseKey(in), tables.SetAttr("deadline", at.UnixMilli()))
	}
	until(c.App.Now().Add(time.Hour))
	c.want(c.send(c.ballot(jurors[0], in, "uphold")), 200, "")
	until(c.App.Now().Add(-time.Millisecond))
	c.want(c.send(c.ballot(jurors[1], in, "uphold")), 409, "not_open")
	if p := c.read(nil, in); p.State != "voting" || c.duties(jurors[1]) != 1 {
		t.Errorf("%s, with %d duties", p.State, c.duties(jurors[1]))
	}
}
