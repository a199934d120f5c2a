package service_test

import (
	"sync"
	"testing"
	"time"

	"agentsocial/events/deadlines"
	"agentsocial/tables"
)

// Later sweeps complete a failed sweep, and its effects happen once.
func TestFailedSweepsAreCompleted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		r, b := breakable(t)
		c := newJuryFixture(r)
		b.begin(seed)
		c.jurors(6)
		author, reporter := c.citizen(), c.citizen()
		post := c.spams(author)
		in := c.reports(reporter, post)
		// until runs failing sweeps until done reports true for the case.
		until := func(done func(tables.Item) bool) {
			for range 60 {
				mend := b.broken()
				_ = deadlines.New(c.App).Handle(t.Context())
				mend()
				if done(c.item(tables.CaseKey(in))) {
					return
				}
				c.advance(10*time.Minute + time.Second) // a failed case is due again
			}
			t.Fatal("the case is not done after 60 sweeps")
		}
		until(func(i tables.Item) bool { return i.Str("state") == tables.CaseVoting })
		verdict := []string{"uphold", "overturn"}[seed%2]
		var votes []string
		for _, a := range c.waiting(in)[:3] {
			c.want(c.send(c.ballot(a, in, verdict)), 200, "")
			votes = append(votes, a.ID+" "+verdict)
		}
		until(func(i tables.Item) bool { return i.Bool("settled") && i.Int("due") == 0 })
		if p := c.read(nil, in); len(p.Draw.Draws) != 1 || p.Filled != 5 {
			t.Errorf("draws and filled seats: got %d and %d, want 1 and 5", len(p.Draw.Draws), p.Filled)
		}
		c.ends(t, in, post, author, reporter, votes, false)
	}
}

// A jury can also decide after the promo has expired.
func TestCaseOfAPromo(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(5)
	buyer := c.grown(c.citizen())
	c.credit(buyer, 100*usd)
	c.spams(buyer) // creates the channels
	for i, ended := range []bool{false, true} {
		before := c.credits(t, buyer)
		p := c.buy(t, buyer, "lounge", []string{"The best followers.", "The very best followers."}[i], 10, 1)
		c.want(c.send(c.reporting(buyer, p.ID)), 403, "self_refused")
		in := c.reports(c.citizen(), p.ID)
		if k := c.read(nil, in); k.Target.Kind != "promo" || k.Target.ID != p.ID || k.Author.ID != buyer.ID {
			t.Errorf("case: got %+v, want a case about promo %s of %s", k, p.ID, buyer.ID)
		}
		c.tick()
		jurors := c.waiting(in)
		want := "removed"
		if ended {
			want = "expired"
			c.advance(25 * time.Hour)
			c.settleNow()
		}
		for _, a := range jurors[:3] {
			c.want(c.send(c.ballot(a, in, "uphold")), 200, "")
		}
		if k := c.read(nil, in); k.State != "upheld" {
			t.Errorf("case: got state %s, want upheld", k.State)
		}
		if page := c.call(nil, "GET", "/v1/c/lounge", ""); page.Text("promo.id") != "" {
			t.Errorf("the removed promo is still shown: %s", page.Text("promo"))
		}
		over := func() {
			by := ""
			if !ended {
				by = in
			}
			c.has(c.want(c.send(c.reporting(c.citizen(), p.ID)), 409, "not_open"), "error.existing.case", by)
		}
		over()
		c.advance(tables.SettleEvery + time.Second)
		c.settleNow()
		c.tick()
		if now := c.promo(t, buyer, "lounge", p.ID); now.State != want || now.Returned != 10*usd {
			t.Errorf("promo: got %+v, want %s with its budget returned", now, want)
		}
		if after := c.credits(t, buyer); after != before {
			t.Errorf("the buyer's credits: got %d, want %d", after, before)
		}
		over()
	}
	if k := c.karma(buyer); k != -20 {
		t.Errorf("the buyer's karma: got %d, want -20", k)
	}
	c.audited(t)
}

func (c *juryFixture) settleNow() {
	c.t.Helper()
	c.want(c.call(nil, "POST", "/_local/tick", `{"name":"settle"}`), 200, "")
}

func TestRaceOfAReporterAndADraw(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		all := c.jurors(4)
		author := c.citizen()
		seated := 0
		for range max(3, r.rounds()/10) {
			post := c.spams(author)
			in := c.reports(c.citizen(), post)
			rival := all[0]
			var sweep sync.WaitGroup
			sweep.Go(func() {
				if err := deadlines.New(c.App).Handle(t.Context()); err != nil {
					t.Error(err)
				}
			})
			answers, _ := c.settled(c.reporting(rival, post))
			sweep.Wait()
			c.swept(1)
			sits := c.item(tables.SeatKey(in, rival.ID)) != nil
			reported := answers[0].Status == 201
			if sits && reported || !sits && !reported {
				t.Fatalf("seated: %v, report: %s; want the juror either seated or able to report", sits, answers[0].Body)
			}
			if sits {
				seated++
				c.want(answers[0], 403, "self_refused")
			}
			c.decides(in, "overturn")
		}
		t.Logf("seated %d times", seated)
	})
}
