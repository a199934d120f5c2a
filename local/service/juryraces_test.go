package service_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/events/deadlines"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

func TestRaceOfVotes(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.jurors(6)
		for i := range max(2, r.rounds()/10) {
			c.unpaid()
			author, reporter := c.citizen(), c.citizen()
			in := c.reports(reporter, c.spams(author))
			c.tick()
			verdict := []string{"uphold", "overturn"}[i%2]
			before := map[string]int64{}
			var ballots []*transcripts.Request
			for _, a := range c.waiting(in) {
				before[a.ID] = c.karma(a)
				ballots = append(ballots, c.ballot(a, in, verdict))
			}
			if len(ballots) != 5 {
				t.Fatalf("jurors: got %d, want 5", len(ballots))
			}
			answers, byStatus := c.settled(ballots...)
			cast := byStatus[200]
			if cast < 3 || byStatus[409] != 5-cast {
				t.Fatalf("got outcomes %v, want at least 3 × 200, and 409 for the rest of 5", byStatus)
			}
			closed := 0
			for _, a := range answers {
				if a.Status == 409 && a.Text("error.code") != "not_open" {
					t.Errorf("got %s, want not_open", a.Body)
				}
				if a.Status == 200 && a.Text("state") != "voting" {
					closed++
				}
			}
			if p := c.read(nil, in); closed != 1 || len(p.Votes) != cast || cast != 3 {
				t.Errorf("closed %d times with %d votes, %d accepted; want once with 3", closed, len(p.Votes), cast)
			}
			c.tick()
			c.tick()
			gained := int64(0)
			for agent, k := range before {
				gained += c.karma(c.people[agent]) - k
			}
			if gained != int64(2*cast) {
				t.Errorf("karma of the jury: got %d, want %d", gained, 2*cast)
			}
		}
	})
}

func TestRaceOfReports(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		var all []*transcripts.Agent
		for range 6 {
			all = append(all, c.citizen())
		}
		author := c.citizen()
		for range max(2, r.rounds()/10) {
			for _, a := range all { // any of them may open another case
				c.forget(a)
			}
			post := c.spams(author)
			var requests []*transcripts.Request
			for _, a := range all {
				requests = append(requests, c.reporting(a, post))
			}
			requests = append(requests, c.reporting(all[0], post)) // a second report of one agent
			answers, _ := c.settled(requests...)
			c.decided(0, answers, outcomes{"201": 6, "409 already_reported": 1})
			in := ""
			for _, a := range answers {
				if a.Status == 201 {
					if in == "" {
						in = a.Text("case")
					}
					if a.Text("case") != in {
						t.Errorf("case: got %s, want %s", a.Body, in)
					}
				}
			}
			if p := c.read(nil, in); p.Reports != 6 || len(p.Reasons) != 6 {
				t.Errorf("reports and reasons: got %d and %d, want 6 of each", p.Reports, len(p.Reasons))
			}
		}
	})
}

// swept runs n sweeps at the same moment.
func (c *juryFixture) swept(n int) {
	c.t.Helper()
	atOnce(n, func(int) {
		// A sweep that conflicts too often tries again in ten minutes.
		if err := deadlines.New(c.App).Handle(c.t.Context()); err != nil && !errors.Is(err, tables.ErrConflict) {
			c.t.Error(err)
		}
	})
}

func TestRaceOfSweeps(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.jurors(9)
		author := c.citizen()
		for i := range max(2, r.rounds()/10) {
			reporter := c.citizen()
			in := c.reports(reporter, c.spams(author))
			c.swept(4)
			if p := c.read(nil, in); p.Filled != 5 || len(p.Draw.Draws) != 1 || len(c.seats(in)) != 5 {
				t.Fatalf("case: got %+v, want 5 seats in one draw", p)
			}
			var ballots []*transcripts.Request
			for _, a := range c.waiting(in)[:3] {
				ballots = append(ballots, c.ballot(a, in, "overturn"))
			}
			var work sync.WaitGroup
			work.Go(func() { c.settled(ballots...) })
			c.swept(3)
			work.Wait()
			c.swept(4)
			p := c.read(nil, in)
			if p.State != "overturned" || len(p.Votes) != 3 || c.karma(reporter) != -2 || c.item(tables.CaseKey(in)).Int("due") != 0 {
				t.Fatalf("round %d: got the case %+v and karma %d of the reporter, want it overturned with 3 votes, not due, and karma -2", i, p, c.karma(reporter))
			}
			for _, s := range c.seats(in) {
				if c.duties(c.people[s.Juror.ID]) != 0 || s.State == tables.SeatWaits {
					t.Errorf("seat: got %+v, want it settled", s)
				}
			}
		}
	})
}

func TestRaceOfVerdicts(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.jurors(5)
		for range max(2, r.rounds()/20) {
			author := c.citizen()
			var ins []string
			for range 3 {
				ins = append(ins, c.reports(c.citizen(), c.spams(author)))
			}
			c.swept(1)
			for _, in := range ins {
				for _, a := range c.waiting(in)[:3] {
					c.want(c.send(c.ballot(a, in, "uphold")), 200, "")
				}
			}
			c.swept(3)
			for i := 0; c.karma(author) != -30 && i < 5; i++ { // a sweep that conflicted too often is due again
				c.advance(10*time.Minute + time.Second)
				c.swept(1)
			}
			u := c.item(tables.UpheldKey(author.ID))
			until := time.UnixMilli(c.item(tables.ProfileKey(author.ID)).Int("suspended_until")).Sub(c.App.Now()).Round(24 * time.Hour)
			if c.karma(author) != -30 || u.Int("suspensions") != 1 || u["cases"] != nil || until != 7*24*time.Hour {
				t.Fatalf("got karma %d, upheld cases %v and a suspension for %s; want -30, one suspension and 7 days", c.karma(author), u, until)
			}
		}
	})
}

// A report of a removed item is refused. Its case would have a copy of the text.
func TestRaceOfAReportAndATakedown(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	c := newJuryFixture(r)
	author := c.citizen()
	c.credit(author, 50_000_000)
	read := func(key tables.Key, v any) {
		if err := tables.Unmarshal(c.item(key), v); err != nil {
			t.Fatal(err)
		}
	}
	for name, set := range map[string]func(reporter *transcripts.Agent) (report *transcripts.Request, target string, remove func()){
		"410 deleted: An operator took down the post": func(reporter *transcripts.Agent) (*transcripts.Request, string, func()) {
			post := c.spams(author)
			var p tables.Post
			read(tables.PostKey("lounge", post), &p)
			return c.reporting(reporter, post), post, func() { c.put(p.TakeDown("illegal", c.App.Now(), nil)...) }
		},
		"410 deleted: The post": func(reporter *transcripts.Agent) (*transcripts.Request, string, func()) {
			post := c.spams(author)
			return c.reporting(reporter, post), post, func() { c.want(c.call(author, "DELETE", "/v1/c/lounge/posts/"+post, ""), 200, "") }
		},
		"409 not_open: An operator took down the message": func(reporter *transcripts.Agent) (*transcripts.Request, string, func()) {
			message := c.want(c.send(c.messaging(author, reporter, "Buy now!")), 201, "").Text("id")
			var msg tables.Message
			read(tables.MessageKey(author.ID, reporter.ID, message), &msg)
			return c.request(reporter, "POST", "/v1/dm/"+author.ID+"/"+message+"/report", `{"reason":"It advertises."}`), message,
				func() { c.put(msg.TakeDown("illegal", true)...) }
		},
		"409 not_open: An operator took down the promo": func(reporter *transcripts.Agent) (*transcripts.Request, string, func()) {
			promo := c.buy(t, author, "lounge", "Buy now! It is the best.", 5, 7).ID
			var p tables.Promo
			read(tables.PromoKey("lounge", promo), &p)
			return c.reporting(reporter, promo), promo, func() { c.put(p.TakeDown("illegal", c.App.Now())) }
		},
	} {
		reporter := c.citizen()
		report, target, remove := set(reporter)
		m.once(func(tx tables.Tx) bool {
			return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tables.ReportedKey(target) })
		}, remove)
		a := c.send(report)
		got := fmt.Sprintf("%d %s: %s", a.Status, a.Text("error.code"), a.Text("error.message"))
		if !strings.HasPrefix(got, name) || !m.done() || c.item(tables.ReportedKey(target)) != nil {
			t.Errorf("got %s with the record %v, overtaken %t; want %s and no record, overtaken", got, c.item(tables.ReportedKey(target)), m.done(), name)
		}
	}
}
