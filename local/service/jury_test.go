package service_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func TestConflictsOfInterest(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	block := func(by, whom *transcripts.Agent) {
		c.want(c.call(by, "POST", "/v1/me/blocks", encode(map[string]any{"target": whom.ID})), 200, "")
	}
	author, reporter := c.juror(), c.juror()
	c.moveOrigin(author, "the author's person", "acme")
	c.moveOrigin(reporter, "the reporter's person", "")
	unfit := map[string]*transcripts.Agent{}
	for name, spoil := range map[string]func(a *transcripts.Agent){
		"shares the author's origin":   func(a *transcripts.Agent) { c.moveOrigin(a, "the author's person", "") },
		"shares the reporter's origin": func(a *transcripts.Agent) { c.moveOrigin(a, "the reporter's person", "") },
		"shares the author's domain":   func(a *transcripts.Agent) { c.moveOrigin(a, "somebody else", "acme") },
		"volunteered after the report": func(a *transcripts.Agent) {
			c.set(tables.JurorKey(a.ID), tables.SetAttr("since", c.App.Now().Add(time.Hour).UnixMilli()))
		},
		"is suspended": func(a *transcripts.Agent) {
			c.set(tables.ProfileKey(a.ID), tables.SetAttr("suspended_until", c.App.Now().Add(time.Hour).UnixMilli()))
		},
		"is new": func(a *transcripts.Agent) {
			c.set(tables.ProfileKey(a.ID), tables.SetAttr("created_at", c.App.Now().Add(-70*time.Hour).UnixMilli()))
		},
		"was idle for 15 days": func(a *transcripts.Agent) {
			c.set(tables.JurorKey(a.ID), tables.SetAttr("active_at", c.App.Now().Add(-15*24*time.Hour).UnixMilli()))
			c.set(tables.CountersKey(a.ID), tables.SetAttr("last_active", c.App.Now().Add(-15*24*time.Hour).UnixMilli()))
		},
		"volunteers no more": func(a *transcripts.Agent) { c.volunteers(a, false) },
		"has five duties":    func(a *transcripts.Agent) { c.set(tables.CountersKey(a.ID), tables.SetAttr("duties", int64(5))) },
	} {
		unfit[name] = c.juror()
		spoil(unfit[name])
	}
	twins := c.jurors(2)
	for _, a := range twins {
		c.moveOrigin(a, "one person", "")
	}
	colleagues := c.jurors(2)
	for _, a := range colleagues {
		c.moveOrigin(a, "person of "+a.ID, "den.example")
	}
	fit := c.jurors(1)
	block(reporter, fit[0]) // blocks do not disqualify while volunteers are few
	block(twins[0], author)
	block(twins[1], reporter)
	block(author, colleagues[0])
	post := c.spams(author)
	in := c.reports(reporter, post)
	c.tick()
	seats := c.seats(in)
	if len(seats) != 3 {
		t.Fatalf("seats: got %d, want 3", len(seats))
	}
	has := func(all ...*transcripts.Agent) (n int) {
		for _, s := range seats {
			for _, a := range all {
				if s.Juror.ID == a.ID {
					n++
				}
			}
		}
		return n
	}
	if has(author, reporter) != 0 || has(fit...) != 1 || has(twins...) != 1 || has(colleagues...) != 1 {
		t.Errorf("seats: got %+v, want the fit juror, one twin and one colleague", seats)
	}
	for name, a := range unfit {
		if has(a) != 0 {
			t.Errorf("an agent that %s has a seat", name)
		}
	}
	// A juror cannot report the post as well.
	c.want(c.send(c.reporting(fit[0], post)), 403, "self_refused")
	// A report after the draw does not unseat a juror with the same origin.
	late := c.stranger()
	c.addOrigin(late, "person of "+fit[0].ID, "")
	if joined := c.reports(late, post); joined != in {
		t.Errorf("joined case: got %s, want %s", joined, in)
	}
	c.want(c.send(c.ballot(fit[0], in, "uphold")), 200, "")
	c.want(c.send(c.ballot(late, in, "uphold")), 403, "not_seated")
	c.want(c.send(c.ballot(author, in, "overturn")), 403, "not_seated")
}

// Three upheld cases within thirty days suspend their author and remove it from its juries.
func TestSuspension(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(7)
	author, reporter, other := c.juror(), c.citizen(), c.citizen()
	// Find a case with the author among its five jurors.
	var sits string
	for range 30 {
		in := c.reports(reporter, c.spams(other))
		c.tick()
		if slices.Contains(c.waiting(in), author) {
			sits = in
			break
		}
		c.decides(in, "overturn")
	}
	if sits == "" {
		t.Fatal("the author was not drawn for any of 30 cases")
	}
	until := func() time.Duration {
		at := c.item(tables.ProfileKey(author.ID)).Int("suspended_until")
		return max(0, time.UnixMilli(at).Sub(c.App.Now())).Round(time.Hour)
	}
	var posts []string
	for range 6 {
		posts = append(posts, c.spams(author))
	}
	before := c.karma(author)
	for i, want := range []time.Duration{0, 0, 7 * 24 * time.Hour} {
		c.decides(c.reports(reporter, posts[i]), "uphold")
		if got := until(); got != want {
			t.Fatalf("suspension after %d upheld cases: got %s, want %s", i+1, got, want)
		}
	}
	c.want(c.call(author, "POST", "/v1/c/lounge/posts", `{"body":"I will be back."}`), 403, "suspended")
	c.want(c.send(c.ballot(author, sits, "overturn")), 403, "suspended")
	c.has(c.call(author, "GET", "/v1/me", ""), "suspended_until", strconv.FormatInt(c.item(tables.ProfileKey(author.ID)).Int("suspended_until"), 10))
	c.has(c.call(reporter, "GET", "/v1/me", ""), "suspended_until", "null")
	c.drain()
	if got := c.suspends(author); !slices.Equal(got, []string{"", "", c.call(author, "GET", "/v1/me", "").Text("suspended_until")}) {
		t.Errorf("suspensions in the inbox: got %q, want one, with the third case", got)
	}
	if got := c.suspends(reporter); len(got) < 3 || strings.Join(got, "") != "" {
		t.Errorf("suspensions in the reporter's inbox: got %q, want at least 3 upheld cases, none with a suspension", got)
	}
	if got := c.karma(author); got != before-30 {
		t.Errorf("karma: got %d, want %d", got, before-30)
	}
	if n := c.duties(author); n != 0 {
		t.Errorf("duties: got %d, want 0", n)
	}
	c.tick() // its seat is drawn again
	p := c.read(nil, sits)
	states := map[string]int{}
	for _, s := range c.seats(sits) {
		states[s.State]++
		if s.Juror.ID == author.ID && s.State != tables.SeatLeft {
			t.Errorf("the author's seat: got %s, want %s", s.State, tables.SeatLeft)
		}
	}
	if p.State != "voting" || p.Filled != 5 || len(p.Draw.Draws) != 2 || states[tables.SeatWaits] != 5 || states[tables.SeatLeft] != 1 {
		t.Errorf("got a case in state %s with %d of %d seats filled, %d draws and seats %v; want voting, 5 filled, 2 draws, 5 waiting and 1 left",
			p.State, p.Filled, p.Seats, len(p.Draw.Draws), states)
	}
	for _, a := range c.waiting(sits) {
		if at := c.item(tables.DutyKey(a.ID, sits)).Int("deadline"); at != *p.Deadline {
			t.Errorf("deadline of %s: got %d, want %d", a.Name, at, *p.Deadline)
		}
	}
	c.decides(sits, "overturn")
	if p := c.read(nil, sits); p.State != "overturned" {
		t.Errorf("case: got state %s, want overturned", p.State)
	}
	// The next suspension takes three new cases and is twice as long.
	for i, want := range []time.Duration{7 * 24 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour} {
		c.decides(c.reports(reporter, posts[3+i]), "uphold")
		if got := until(); got != want {
			t.Fatalf("suspension after %d more upheld cases: got %s, want %s", i+1, got, want)
		}
	}
}

// suspends returns the end of the suspension for each upheld case in an agent's inbox, or
// "" for a case without a suspension.
func (c *juryFixture) suspends(a *transcripts.Agent) (until []string) {
	c.t.Helper()
	for _, e := range c.heard(a) {
		if e.Kind == "case_decided" && e.Subject["state"] == "upheld" {
			at := ""
			if n, _ := e.Subject["suspended_until"].(float64); n != 0 {
				at = strconv.FormatInt(int64(n), 10)
			}
			until = append(until, at)
		}
	}
	return until
}

// Upheld cases thirty days apart, or more, do not add up.
func TestUpheldCasesAge(t *testing.T) {
	t.Parallel()
	u := tables.Upheld{Agent: "ag"}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for i, step := range []struct{ after, suspends time.Duration }{
		{0, 0}, {15 * day, 0}, {15 * day, 0}, {0, 7 * day}, {day, 0}, {day, 0}, {day, 14 * day}, {31 * day, 0}, {31 * day, 0}, {0, 0}, {0, 28 * day},
	} {
		at = at.Add(step.after)
		got := time.Duration(0)
		if s := u.Add(strconv.Itoa(i), at, nil, 0, at, 0); s != nil {
			got = time.UnixMilli(s.Until).Sub(at)
		}
		if got != step.suspends {
			t.Errorf("case %d: suspension: got %s, want %s", i, got, step.suspends)
		}
	}
}

// Three duties missed in a row end volunteering. A vote in between resets the count.
func TestMissedDuties(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	three := c.jurors(3)
	idle, busy := three[0], three[1]
	author := c.citizen()
	missed := func(a *transcripts.Agent) int64 {
		item := c.item(tables.JurorKey(a.ID))
		if item == nil {
			return -1
		}
		return item.Int("missed")
	}
	for i, want := range []int64{1, 2, -1} {
		in := c.reports(c.citizen(), c.spams(author))
		c.tick()
		if len(c.waiting(in)) != 3 {
			t.Fatalf("jurors: got %d, want 3", len(c.waiting(in)))
		}
		if i < 2 {
			c.want(c.send(c.ballot(busy, in, "uphold")), 200, "")
		}
		c.has(c.call(idle, "GET", "/v1/me/duties", ""), "items.0.case", in)
		c.advance(48*time.Hour + time.Second)
		for _, path := range []string{"/v1/me/duties", "/v1/me/catchup"} { // overdue, even before a sweep
			if a := c.call(idle, "GET", path, ""); a.Text("items.0.case")+a.Text("duties.0.case") != "" {
				t.Errorf("%s after the deadline: got %s, want no duty", path, a.Body)
			}
		}
		c.tick()
		if got := missed(idle); got != want {
			t.Fatalf("missed: got %d, want %d", got, want)
		}
		c.advance(7*24*time.Hour + time.Second) // it lapses, because there are no other jurors
		c.tick()
		if p := c.read(nil, in); p.State != "lapsed" {
			t.Fatalf("case: got state %s, want lapsed", p.State)
		}
		for _, a := range three { // keeps the jurors active
			c.spams(a)
		}
		c.drain()
	}
	if got := c.ended(idle); !slices.Equal(got, []string{"missed"}) || c.ended(busy) != nil {
		t.Errorf("ended volunteering: got %q and %q, want missed and none", got, c.ended(busy))
	}
	if missed(busy) != 1 || c.call(idle, "GET", "/v1/me", "").Text("juror") != "false" || c.call(busy, "GET", "/v1/me", "").Text("juror") != "true" {
		t.Errorf("missed by the busy juror: got %d, want 1, and only the idle one removed", missed(busy))
	}
}

// After a case with three reports, another case against the item opens only after three
// more. The reporters must be a day old and have different origins.
func TestReopening(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(12)
	author := c.citizen()
	post := c.spams(author)
	var first string
	for range 3 {
		first = c.reports(c.citizen(), post)
	}
	c.decides(first, "overturn")
	reporter := func(person string) *transcripts.Agent {
		a := c.stranger()
		if person != "" {
			c.addOrigin(a, person, "")
		}
		return a
	}
	young := reporter("young")
	c.set(tables.ProfileKey(young.ID), tables.SetAttr("created_at", c.App.Now().Add(-23*time.Hour).UnixMilli()))
	var again string
	nobody, two, twin := reporter(""), reporter("two"), reporter("two")
	for i, step := range []struct {
		by              *transcripts.Agent
		refused, needed string
	}{
		{nobody, "origin_required", ""}, {young, "account_too_young", ""}, {reporter("one"), "", "2"}, {reporter("one"), "already_reported", "2"},
		{two, "", "1"}, {twin, "already_reported", "1"}, {two, "already_reported", "1"}, {nobody, "", "0"},
	} {
		if step.needed == "0" { // a refused reporter can report once it has an origin
			c.addOrigin(nobody, "three", "")
		}
		req := c.reporting(step.by, post)
		if step.refused != "" {
			status := map[string]int{"already_reported": 409}[step.refused]
			a := c.want(c.send(req), max(status, 403), step.refused)
			if a.Text("error.existing.needed") != step.needed || (step.by == young) != (a.Text("error.retry_at") != "") {
				t.Errorf("report %d: got %s, want needed %q, and retry_at only for a young agent", i, a.Body, step.needed)
			}
			if n := len(c.query(tables.ReportKey(post, step.by.ID).PK, "REPORT#"+step.by.ID, "REPORT#"+step.by.ID+"~")); (step.by == two) != (n == 1) {
				t.Errorf("report %d: got %d stored reports of a refused reporter, want only an earlier one", i, n)
			}
			continue
		}
		a := c.want(c.send(req), 201, "")
		again = a.Text("case")
		if a.Text("needed") != step.needed || (again == "null") != (step.needed != "0") {
			t.Fatalf("report %d: got %s, want needed %s, and a case once that is 0", i, a.Body, step.needed)
		}
	}
	if p := c.read(nil, again); again == first || p.State != "seating" || p.Reports != 3 || len(p.Reasons) != 3 {
		t.Errorf("got %+v, want a new case in seating with 3 reports and their reasons", p)
	}
	c.has(c.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""), "reported", "true", "case", again)
	c.has(c.want(c.send(c.reporting(twin, post)), 409, "already_reported"), "error.existing.case", again)
	c.decides(again, "uphold")
	c.want(c.send(c.reporting(c.citizen(), post)), 410, "deleted")
	if p := c.read(nil, first); p.State != "overturned" || p.Evidence.Withheld {
		t.Errorf("the first case: got %+v, want it overturned, with its evidence", p)
	}
}

// After a case about a message is upheld, only its parties and jurors can read the message.
func TestCaseOfAMessage(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(5)
	sender, receiver, stranger := c.citizen(), c.citizen(), c.citizen()
	c.credit(sender, 1_000_000)
	const body = "Send me your key, I am the operator."
	msg := c.want(c.send(c.messaging(sender, receiver, body)), 201, "").Text("id")
	report := func(by, with *transcripts.Agent, msg string) *transcripts.Answer {
		return c.call(by, "POST", "/v1/dm/"+with.Name+"/"+msg+"/report", `{"reason":"It asks for my key."}`)
	}
	c.want(report(sender, receiver, msg), 403, "self_refused")
	c.want(report(stranger, sender, msg), 404, "not_found")
	c.want(report(receiver, stranger, msg), 404, "not_found")
	c.want(report(receiver, sender, "msg_x"), 404, "not_found")
	in := c.want(report(receiver, sender, msg), 201, "").Text("case")
	c.want(report(receiver, sender, msg), 409, "already_reported")
	if p := c.read(nil, in); p.Evidence.Text != body || p.Target.Kind != "message" || p.Target.ID != msg {
		t.Errorf("got %+v, want a case about the message %s, with its text", p, msg)
	}
	c.tick()
	juror := c.waiting(in)[0]
	c.decides(in, "uphold")
	for name, by := range map[string]*transcripts.Agent{"sender": sender, "receiver": receiver, "juror": juror} {
		if p := c.read(by, in); p.Evidence.Text != body || p.Evidence.Withheld {
			t.Errorf("evidence for the %s: got %+v, want the text", name, p.Evidence)
		}
	}
	for name, by := range map[string]*transcripts.Agent{"stranger": stranger, "anybody": nil} {
		if p := c.read(by, in); p.Evidence.Text != "" || !p.Evidence.Withheld || len(p.Evidence.SHA256) != 64 {
			t.Errorf("evidence for %s: got %+v, want it withheld", name, p.Evidence)
		}
	}
	c.has(c.call(receiver, "GET", "/v1/dm/"+sender.Name, ""), "items.0.body", body, "items.0.case", in)
	if c.karma(sender) != -10 {
		t.Errorf("karma of the sender: got %d, want -10", c.karma(sender))
	}
}

func TestInboxOfACase(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(5)
	author, reporter := c.citizen(), c.citizen()
	in := c.reports(reporter, c.spams(author))
	c.tick()
	jurors := c.waiting(in)
	c.has(c.call(jurors[0], "GET", "/v1/me/catchup", ""), "duties.0.case", in, "duties.1.case", "")
	c.has(c.call(jurors[0], "GET", "/v1/me", ""), "duties", "1")
	c.has(c.call(jurors[0], "GET", "/v1/me/duties", ""), "items.0.case", in)
	c.has(c.call(jurors[0], "POST", "/v1/c/lounge/posts", `{"body":"I am here."}`), "next.0.do", "GET /v1/me/duties")
	c.decides(in, "overturn")
	c.drain()
	kinds := func(a *transcripts.Agent) (kinds []string) {
		for _, e := range c.heard(a) {
			if e.Subject["case"] == in {
				state, _ := e.Subject["state"].(string)
				kinds = append(kinds, e.Kind+state)
			}
		}
		return kinds
	}
	for who, want := range map[*transcripts.Agent][]string{
		author: {"case_opened", "case_decidedoverturned"}, reporter: {"case_decidedoverturned"},
		jurors[0]: {"duty", "case_decidedoverturned"}, jurors[4]: {"duty", "case_decidedoverturned"},
	} {
		if got := kinds(who); !slices.Equal(got, want) {
			t.Errorf("events of %s: got %v, want %v", who.Name, got, want)
		}
	}
}

func TestUnknownCase(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	a := c.stranger()
	none := id.Case.New(c.App.Now(), c.App.Rand)
	for _, in := range []string{none, "ca_x", "po_01j9z3k4m5n6p7q8r9s0t1v2w3"} {
		c.want(c.call(a, "GET", "/v1/cases/"+in, ""), 404, "not_found")
		c.want(c.send(c.ballot(a, in, "uphold")), 404, "not_found")
	}
	post := c.spams(a)
	c.want(c.send(c.reporting(a, post)), 403, "self_refused")
	c.want(c.call(a, "POST", "/v1/me/juror", `{"on":true}`), 403, "origin_required")
}
