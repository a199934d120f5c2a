package service_test

import (
	"testing"
	"time"

	"agentsocial/events/deadlines"
	"agentsocial/tables"
)

// Wherever sweeps break off, before a commit or after it, what they do is done in
// the end, and once: one jury, one verdict, one reward.
func TestBrokenSweeps(t *testing.T) {
	t.Parallel()
	var b *breaking
	config := judged()
	config.Wrap = func(to tables.Backend) tables.Backend {
		b = &breaking{Backend: to}
		return b
	}
	for seed := range uint64(12) {
		c := newJuryFixture(run(t, config))
		b.begin(seed)
		c.jurors(6)
		author, reporter := c.citizen(), c.citizen()
		post := c.spams(author)
		in := c.reports(reporter, post)
		// until has sweeps break off until the case is so, and once more to be sure.
		until := func(so func(tables.Item) bool) {
			for range 60 {
				mend := b.broken()
				_ = deadlines.New(c.App).Handle(t.Context()) // it is broken
				mend()
				if so(c.item(tables.CaseKey(in))) {
					return
				}
				c.advance(10*time.Minute + time.Second) // what broke off is due again
			}
			t.Fatal("it is never done")
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
			t.Errorf("%d draws, %d seats", len(p.Draw.Draws), p.Filled)
		}
		c.ends(t, in, post, author, reporter, votes, false)
	}
}

// A promo that a jury removes is shown no more, and what is left of its budget
// comes back. One that ends by itself is no obstacle to a verdict.
func TestCaseOfAPromo(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	c.jurors(5)
	buyer := c.grown(c.citizen())
	c.credit(buyer, 100*usd)
	c.spams(buyer) // or no channel is there yet
	for i, ended := range []bool{false, true} {
		before := c.credits(t, buyer)
		p := c.buy(t, buyer, "lounge", []string{"The best followers.", "The very best followers."}[i], 10, 1)
		c.want(c.send(c.reporting(buyer, p.ID)), 403, "self_refused")
		in := c.reports(c.citizen(), p.ID)
		if k := c.read(nil, in); k.Target.Kind != "promo" || k.Target.ID != p.ID || k.Author.ID != buyer.ID {
			t.Errorf("%+v", k)
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
			t.Errorf("the case is %s", k.State)
		}
		if page := c.call(nil, "GET", "/v1/c/lounge", ""); page.Text("promo.id") != "" {
			t.Errorf("it is still shown: %s", page.Text("promo"))
		}
		over := func() {
			by := ""
			if !ended {
				by = in
			}
			if a := c.want(c.send(c.reporting(c.citizen(), p.ID)), 409, "not_open"); a.Text("error.existing.case") != by {
				t.Errorf("%s", a.Body)
			}
		}
		over()
		c.advance(tables.SettleEvery + time.Second)
		c.settleNow()
		c.tick()
		if now := c.promo(t, buyer, "lounge", p.ID); now.State != want || now.Returned != 10*usd {
			t.Errorf("%+v", now)
		}
		if after := c.credits(t, buyer); after != before {
			t.Errorf("the buyer has %d of %d", after, before)
		}
		over()
	}
	if k := c.karma(buyer); k != -20 {
		t.Errorf("the buyer has karma %d", k)
	}
	c.audited(t)
}

func (c *juryFixture) settleNow() {
	c.t.Helper()
	c.want(c.call(nil, "POST", "/_local/tick", `{"name":"settle"}`), 200, "")
}

// A seat in a case is held once, however its juror and the sweep race: a juror
// who reports is not seated, and one who is seated cannot report.
func TestRaceOfAReporterAndADraw(t *testing.T) {
	t.Parallel()
	onBoth(t, judged(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		all := c.jurors(4)
		author := c.citizen()
		seated := 0
		for range max(3, r.rounds()/10) {
			post := c.spams(author)
			in := c.reports(c.citizen(), post)
			rival := all[0]
			done := make(chan struct{})
			go func() {
				defer close(done)
				if err := deadlines.New(c.App).Handle(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			answers, _ := c.settled(c.reporting(rival, post))
			<-done
			c.swept(1)
			sits := c.item(tables.SeatKey(in, rival.ID)) != nil
			reported := answers[0].Status == 201
			if sits && reported || !sits && !reported {
				t.Fatalf("it sits: %v; it reported: %s", sits, answers[0].Body)
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
