package service_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// unpaid resets the jurors' quotas of karma.
func (c *juryFixture) unpaid() {
	c.t.Helper()
	for agent := range c.people {
		for _, item := range c.query(tables.QuotaPK(agent), "jury_karma#", "jury_karma#~") {
			c.put(tables.Delete(tables.Key{PK: item.Str(tables.AttrPK), SK: item.Str(tables.AttrSK)}))
		}
	}
}

// open returns the number of open cases that agents of a's owner opened.
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

// Each word of after is an earlier case: how it ended and, after a colon, how many owners
// reported (by default one). In a row's name, heard is the number of these owners.
//
// Each word of script is a report by a new agent: kind:person/domain=result. The kinds are fit
// (a citizen, who counts), new (a newcomer), young (a newcomer with an origin), old (a stranger)
// and relay (a stranger with a throwaway origin). The result is the number of reports still
// needed, or open, joined or not (refused).
func TestWhoOpensACase(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ after, script string }{
		"one who counts":                                {"", "fit=open new=joined fit=joined young:ann=joined"},
		"newcomers wait for one who counts":             {"", "new=1 new=1 new=1 fit=open new=joined"},
		"ten newcomers, and one who counts":             {"", "new=1 new=1 new=1 new=1 new=1 old=1 new=1 new=1 new=1 new=1 new=not young:ann=not fit=open new=joined"},
		"a newcomer, and one who counts":                {"", "new=1 fit=open"},
		"a month old, but without an origin":            {"", "old=1 old=1 fit=open"},
		"an origin, but younger than a day":             {"", "young:ann=1 young:bob=1 fit=open"},
		"two agents of one person are one":              {"", "young:ann=1 young:ann=not new=1 fit=open"},
		"two users of a relay are two":                  {"", "relay:ann/relay=1 relay:bob/relay=1 fit=open relay:cyd/relay=joined"},
		"one person: the agent that counts opens it":    {"", "young:ann=1 fit:ann=open fit:ann=not"},
		"overturned, one heard: one more is enough":     {"overturned", "new=1 fit=open new=joined"},
		"lapsed, one heard: one more is enough":         {"lapsed", "fit=open"},
		"two heard, one after another":                  {"overturned lapsed", "new=1 fit=open"},
		"two heard, in one case":                        {"lapsed:2", "fit=open"},
		"three heard, one after another":                {"lapsed overturned lapsed", "fit=2 fit=1 fit=open"},
		"overturned, three heard: one who counts waits": {"overturned:3", "fit=2 fit=1 fit=open new=joined"},
		"lapsed, three heard: one who counts waits":     {"lapsed:3", "fit=2 fit=1 fit=open"},
		"overturned: newcomers are refused":             {"overturned:3", "new=not old=not young:ann=not fit=2 new=not"},
		"lapsed: newcomers are refused":                 {"lapsed:3", "new=not old=not fit=2 young:ann=not fit=1 fit=open new=joined"},
		"lapsed: one report of each person":             {"lapsed:3", "fit:ann=2 fit:ann=not fit:bob=1 fit:bob=not fit:cyd=open fit:ann=not"},
		"lapsed: one report of each domain":             {"lapsed:3", "fit:ann/den=2 fit:bob/den=not fit:cyd/nest=1 fit:dan=open"},
		"lapsed again: it takes three again":            {"lapsed:3 lapsed:3", "fit=2 fit=1 fit=open"},
		"lapsed, then overturned: it takes three again": {"lapsed:3 overturned:3", "fit=2 new=not fit=1 fit=open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newJuryFixture(run(t, unlimited()))
			c.t = t
			post := c.spams(c.citizen())
			in := ""
			for word := range strings.FieldsSeq(row.after) {
				state, n, _ := strings.Cut(word, ":")
				if state == "overturned" {
					c.jurors(5) // decides draws from them
				}
				reports, _ := strconv.Atoi(cmp.Or(n, "1"))
				for range reports {
					in = c.reports(c.citizen(), post)
				}
				if state == "overturned" {
					c.decides(in, "overturn")
				} else {
					c.advance(7*24*time.Hour + time.Second)
					c.tick()
				}
				if p := c.read(nil, in); p.State != state {
					t.Fatalf("case: got state %s, want %s", p.State, state)
				}
			}
			c.opens(row.script, post, in)
		})
	}
}

// opens plays a script of reports. before is the post's earlier case, or "".
func (c *juryFixture) opens(script, post, before string) {
	c.t.Helper()
	opened := ""
	joined, all, hidden := int64(0), 0, 0
	for word := range strings.FieldsSeq(script) {
		who, want, _ := strings.Cut(word, "=")
		kind, person, named := strings.Cut(who, ":")
		var a *transcripts.Agent
		switch kind {
		case "fit", "old", "relay":
			a = c.stranger()
		default:
			a = c.newcomer()
		}
		if kind == "fit" || kind == "young" || kind == "relay" {
			if !named {
				person = "person of " + a.ID
			}
			person, domain, _ := strings.Cut(person, "/")
			c.addOrigin(a, person, domain)
		}
		if kind == "relay" {
			c.set(tables.OriginKey(a.ID), tables.SetAttr("throwaway", true))
		}
		had := c.open(a)
		answer := c.send(c.reporting(a, post))
		if want == "not" {
			if answer.Status != 403 && answer.Status != 409 || c.item(tables.ReportKey(post, a.ID)) != nil {
				c.t.Fatalf("%s in %q: got %s, want a refusal that stores nothing", word, script, answer.Body)
			}
			continue
		}
		c.want(answer, 201, "")
		all++
		in, needed := answer.Text("case"), answer.Text("needed")
		switch want {
		case "open":
			if opened = in; in == "null" || in == before || needed != "0" || c.open(a) != had+1 {
				c.t.Fatalf("%s in %q: got %s and %d open cases, want a new case, needed 0 and %d", word, script, answer.Body, c.open(a), had+1)
			}
		case "joined":
			if in != opened || needed != "0" || c.open(a) != had {
				c.t.Fatalf("%s in %q: got %s and %d open cases, want the case %s, needed 0 and %d", word, script, answer.Body, c.open(a), opened, had)
			}
			if joined++; kind != "fit" && all > 10 {
				hidden++
			}
		default:
			if in != "null" || needed != want || c.open(a) != had {
				c.t.Fatalf("%s in %q: got %s and %d open cases, want no case, needed %s and %d", word, script, answer.Body, c.open(a), want, had)
			}
		}
	}
	if opened == "" {
		return
	}
	p := c.read(nil, opened)
	if p.State != "seating" || p.Reports != int64(len(p.Reasons)+hidden) || p.Reports <= joined {
		c.t.Errorf("%q: got the case %+v, want it in seating with all reports", script, p)
	}
	if item := c.item(tables.ReportedKey(post)); item["waits"] != nil {
		c.t.Errorf("waiting reports: got %v, want none", item["waits"])
	}
}

// All agents whose reports open a case are its parties.
func TestOpenedTogether(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(5)
	post := c.spams(c.citizen())
	first, second := c.newcomer(), c.citizen()
	if in := c.reports(first, post); in != "null" {
		t.Fatalf("case opened by one newcomer: got %s, want null", in)
	}
	if a := c.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""); a.Text("reported") != "false" || a.Text("case") != "null" {
		t.Errorf("a post with a waiting report: got %s, want it not reported", a.Body)
	}
	c.want(c.send(c.reporting(first, post)), 409, "already_reported")
	in := c.reports(second, post)
	if p := c.read(nil, in); p.Reports != 2 || len(p.Reasons) != 2 {
		t.Errorf("reports and reasons: got %d and %d, want 2 and 2", p.Reports, len(p.Reasons))
	}
	c.decides(in, "overturn")
	if c.karma(first) != -2 || c.karma(second) != -2 {
		t.Errorf("karma of the reporters: got %d and %d, want -2 each", c.karma(first), c.karma(second))
	}
}

// A case counts as open for the owner of each agent that opened it.
func TestOpenCasesAreShared(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(3)
	author := c.citizen()
	post := c.spams(author)
	first := c.citizen()
	judged := c.reports(first, post)
	c.reports(c.citizen(), post)
	c.reports(c.citizen(), post)
	c.decides(judged, "overturn")
	if c.open(first) != 0 {
		t.Fatalf("open cases after the verdict: got %d, want 0", c.open(first))
	}
	three := []*transcripts.Agent{c.citizen(), c.citizen(), c.citizen()}
	var in string
	for _, a := range three {
		in = c.reports(a, post)
	}
	for _, a := range three {
		if c.open(a) != 1 {
			t.Errorf("open cases of %s: got %d, want 1", a.Name, c.open(a))
		}
	}
	c.decides(in, "overturn")
	for _, a := range three {
		if c.open(a) != 0 {
			t.Errorf("open cases of %s after the verdict: got %d, want 0", a.Name, c.open(a))
		}
	}
	for i, refused := range []bool{false, false, false, true} {
		a := c.stranger()
		c.addOrigin(a, "person "+a.ID, "den")
		switch answer := c.send(c.reporting(a, c.spams(author))); {
		case refused:
			c.want(answer, 409, "limit_reached")
		default:
			c.want(answer, 201, "")
		}
		if c.open(a) != min(int64(i)+1, 3) {
			t.Errorf("open cases after report %d from one domain: got %d, want %d", i+1, c.open(a), min(i+1, 3))
		}
	}
}

// forget resets the count of an agent's open cases.
func (c *juryFixture) forget(a *transcripts.Agent) {
	c.t.Helper()
	if o := c.item(tables.OriginKey(a.ID)); o != nil {
		c.put(tables.Delete(tables.OpenCasesKey(o.Str("person"))))
	}
}

// An agent can have three open cases. Joining a case does not count.
func TestOpenCasesOfAReporter(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(5)
	author, reporter := c.citizen(), c.citizen()
	var ins []string
	for range 3 {
		ins = append(ins, c.reports(reporter, c.spams(author)))
	}
	fourth := c.spams(author)
	c.want(c.send(c.reporting(reporter, fourth)), 409, "limit_reached")
	other := c.spams(author)
	theirs := c.reports(c.citizen(), other)
	if in := c.reports(reporter, other); in != theirs {
		t.Errorf("joined case: got %s, want %s", in, theirs)
	}
	if c.item(tables.ReportKey(fourth, reporter.ID)) != nil || c.open(reporter) != 3 {
		t.Errorf("after a refused report: got the report %v and %d open cases, want none and 3", c.item(tables.ReportKey(fourth, reporter.ID)), c.open(reporter))
	}
	c.decides(ins[0], "overturn")
	if c.open(reporter) != 2 {
		t.Errorf("open cases after a verdict: got %d, want 2", c.open(reporter))
	}
	ins = append(ins, c.reports(reporter, fourth))
	c.want(c.send(c.reporting(reporter, c.spams(author))), 409, "limit_reached")
	// The clock closes the others.
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
			t.Errorf("%s: got state %s, want it closed", in, p.State)
		}
	}
	if c.open(reporter) != 0 {
		t.Errorf("open cases at the end: got %d, want 0", c.open(reporter))
	}
}

func TestRaceOfOpenCases(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.jurors(5)
		author := c.citizen()
		for range max(2, r.rounds()/20) {
			reporter := c.citizen()
			var requests []*transcripts.Request
			for range 6 {
				requests = append(requests, c.reporting(reporter, c.spams(author)))
			}
			answers, _ := c.settled(requests...)
			c.decided(0, answers, outcomes{"201": 3, "409 limit_reached": 3})
			if n := c.open(reporter); n != 3 {
				t.Fatalf("open cases: got %d, want 3", n)
			}
			var ins []string
			for _, a := range answers {
				if a.Status == 201 {
					ins = append(ins, a.Text("case"))
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
					t.Fatalf("case: got state %s, want overturned", p.State)
				}
			}
			if c.open(reporter) != 0 {
				t.Fatalf("open cases at the end: got %d, want 0", c.open(reporter))
			}
		}
	})
}

func TestRaceOfNewcomers(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
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
				t.Fatalf("got outcomes %v, want 6 × 201, and a case for the qualified agent; its answer is %s", byStatus, answers[5].Body)
			}
			in, open := "", c.open(all[5])
			for _, a := range answers {
				switch got := a.Text("case"); {
				case got == "null":
				case in == "" || in == got:
					in = got
				default:
					t.Errorf("got the cases %s and %s, want one case", in, got)
				}
			}
			if p := c.read(nil, in); open != 1 || p.Reports != 6 || len(p.Reasons) != 6 {
				t.Errorf("open cases, reports and reasons: got %d, %d and %d, want 1, 6 and 6", open, p.Reports, len(p.Reasons))
			}
		}
	})
}

// The report waits if the receiver does not qualify yet. Made again later, it opens a case.
func TestMessageToANewcomer(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	sender, receiver := c.citizen(), c.newcomer()
	c.credit(sender, 1_000_000)
	msg := c.want(c.send(c.messaging(sender, receiver, "Send me your key.")), 201, "").Text("id")
	report := func() *transcripts.Answer {
		return c.call(receiver, "POST", "/v1/dm/"+sender.Name+"/"+msg+"/report", `{"reason":"It asks for my key."}`)
	}
	c.has(c.want(report(), 201, ""), "case", "null", "needed", "1", "next.1.do", "POST /v1/me/origin", "next.2.do", "POST /v1/dm/"+sender.Name+"/"+msg+"/report")
	a := c.has(c.want(report(), 409, "already_reported"), "error.existing.needed", "1", "error.retry_at", "")
	if hint := a.Text("error.hint"); !strings.Contains(hint, "POST /v1/me/origin") {
		t.Errorf("hint without an origin: got %q, want POST /v1/me/origin in it", hint)
	}
	c.addOrigin(receiver, "somebody", "")
	c.has(c.want(report(), 409, "already_reported"), "error.existing.needed", "1", "error.retry_at", encode(c.item(tables.ProfileKey(receiver.ID)).Int("created_at")+24*time.Hour.Milliseconds()))
	c.drain()
	for _, e := range c.heard(sender) {
		if e.Kind == "case_opened" {
			t.Errorf("events of the sender of a message whose report waits: got %v, want no case_opened", e)
		}
	}
	c.advance(24*time.Hour + time.Second)
	in := c.want(report(), 201, "").Text("case")
	if p := c.read(nil, in); p.Reports != 1 || len(p.Reasons) != 1 || p.Evidence.Text != "Send me your key." {
		t.Errorf("the case: got %+v, want one report with its reason, and the message as evidence", p)
	}
	c.has(c.want(report(), 409, "already_reported"), "error.existing.case", in)
	if item := c.item(tables.ReportedKey(msg)); item["waits"] != nil || item["rank_pk"] != nil {
		t.Errorf("waiting reports: got %v, want none", item)
	}
}

// A waiting report can be made again once its agent qualifies. If another agent's report opens
// the case first, the waiting report joins it.
func TestWaitingReportIsMadeAgain(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	author, early, other := c.citizen(), c.newcomer(), c.newcomer()
	alone, joined := c.spams(author), c.spams(author)
	for _, post := range []string{alone, joined} {
		if in := c.reports(early, post); in != "null" {
			t.Fatalf("case opened by a newcomer: got %s, want null", in)
		}
	}
	c.reports(other, alone)
	c.addOrigin(early, "somebody", "")
	c.advance(24*time.Hour + time.Second)
	in := c.reports(early, alone)
	if p := c.read(nil, in); p.Reports != 2 || len(p.Reasons) != 2 {
		t.Errorf("case opened by a report that was made again: got %+v, want two reports and two reasons", p)
	}
	if own := c.item(tables.ReportKey(alone, early.ID)); own.Str("case") != in || !tables.IsListedGiven(own) {
		t.Errorf("the report that was made again: got %v, want one with the case %s, in the list of its agent", own, in)
	}
	c.has(c.want(c.send(c.reporting(early, alone)), 409, "already_reported"), "error.existing.case", in)
	in = c.reports(c.citizen(), joined)
	c.has(c.want(c.send(c.reporting(early, joined)), 409, "already_reported"), "error.existing.case", in)
	if p := c.read(nil, in); p.Reports != 2 {
		t.Errorf("case opened by another agent: got %+v, want two reports", p)
	}
}

// The case has one report of each agent.
func TestRaceOfReportsMadeAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		author, early, other := c.citizen(), c.newcomer(), c.citizen()
		rounds := max(2, r.rounds()/20)
		var posts []string
		for range rounds {
			post := c.spams(author)
			c.reports(early, post)
			posts = append(posts, post)
		}
		c.addOrigin(early, "person of "+early.ID, "")
		c.advance(24*time.Hour + time.Second)
		for i, post := range posts {
			c.forget(early)
			c.forget(other)
			requests := []*transcripts.Request{c.reporting(early, post), c.reporting(early, post)}
			want := []outcomes{{"201": 1, "409 already_reported": 1}}
			if i%2 == 1 {
				requests = append(requests, c.reporting(other, post))
				want = []outcomes{{"201": 2, "409 already_reported": 1}, {"201": 1, "409 already_reported": 2}}
			}
			answers, byStatus := c.settled(requests...)
			if byStatus[201] == 1 {
				c.decided(i, answers, want[len(want)-1])
			} else {
				c.decided(i, answers, want[0])
			}
			in := c.item(tables.ReportedKey(post)).Str("case")
			if p := c.read(nil, in); p.Reports != int64(len(requests)-1) || len(p.Reasons) != len(requests)-1 {
				t.Fatalf("round %d: got %d reports and %d reasons, want %d", i, p.Reports, len(p.Reasons), len(requests)-1)
			}
		}
	})
}

// The first twenty reporters are parties. Later reporters can read the evidence too.
func TestManyReporters(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
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
		t.Errorf("reports and reasons: got %d and %d, want 22 and 20", p.Reports, len(p.Reasons))
	}
	if n := len(c.query(tables.CasePK(in), "COMPLAINT#", "COMPLAINT#~")); n != 20 {
		t.Errorf("stored complaints: got %d, want 20", n)
	}
	var k tables.Case
	if err := tables.Unmarshal(c.item(tables.CaseKey(in)), &k); err != nil || len(k.Parties) != 20 || k.Parties.Has(all[20].ID) || !k.Parties.Has(all[19].ID) {
		t.Fatalf("parties: got %d, want the first 20; %v", len(k.Parties), err)
	}
	c.decides(in, "uphold")
	for name, row := range map[string]struct {
		by       *transcripts.Agent
		withheld bool
	}{
		"a party": {all[0], false}, "the last party": {all[19], false}, "reporter 21": {all[20], false}, "reporter 22": {all[21], false},
		"a reporter of the earlier case": {earlier, true}, "an uninvolved agent": {c.citizen(), true},
	} {
		if p := c.read(row.by, in); p.Evidence.Withheld != row.withheld {
			t.Errorf("%s: withheld: got %v, want %v", name, p.Evidence.Withheld, row.withheld)
		}
	}
}

// Reporters after the twenty parties do not judge either.
func TestLateReportersDoNotJudge(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	var fit []string
	for _, a := range c.jurors(3) {
		fit = append(fit, a.ID)
	}
	post, in := c.spams(c.citizen()), ""
	for range jury.PartiesMost {
		in = c.reports(c.citizen(), post)
	}
	for _, late := range c.jurors(4) {
		c.reports(late, post)
	}
	c.tick()
	var seated []string
	for _, s := range c.seats(in) {
		seated = append(seated, s.Juror.ID)
	}
	slices.Sort(fit)
	if slices.Sort(seated); !slices.Equal(seated, fit) {
		t.Errorf("jurors: got %v, want the volunteers that reported nothing, %v", seated, fit)
	}
}

// A vote after the deadline is refused, even before a sweep.
func TestVoteAtTheDeadline(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
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
		t.Errorf("after a late vote: got state %s and %d duties, want voting and 1", p.State, c.duties(jurors[1]))
	}
}
