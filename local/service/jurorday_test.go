package service_test

import (
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

func TestMissedDutiesCountOncePerDay(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.morning()
	three := c.jurors(3)
	author := c.citizen()
	for day, want := range []int64{1, 2, -1} {
		var ins []string
		for range 4 {
			ins = append(ins, c.reports(c.citizen(), c.spams(author)))
		}
		c.tick()
		for _, in := range ins {
			if len(c.waiting(in)) != 3 {
				t.Fatalf("jurors: got %d, want 3", len(c.waiting(in)))
			}
		}
		c.advance(48*time.Hour + time.Second)
		c.tick()
		for _, a := range three {
			got := int64(-1)
			if item := c.item(tables.JurorKey(a.ID)); item != nil {
				got = item.Int("missed")
			}
			if got != want || c.duties(a) != 0 {
				t.Errorf("day %d: %s missed %d and has %d duties, want %d and 0", day, a.Name, got, c.duties(a), want)
			}
		}
	}
}

// morning moves the clock to 01:00 UTC of the next day, so that a day ends only if a test
// advances the clock.
func (c *juryFixture) morning() {
	c.t.Helper()
	now := c.App.Now().UTC()
	c.advance(now.Truncate(24 * time.Hour).Add(25 * time.Hour).Sub(now))
}

// A juror gets karma for at most five verdicts a day, and none for cases without a
// verdict.
func TestKarmaForVerdictsPerDay(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.morning()
	three := c.jurors(3)
	author := c.citizen()
	all := func(want int64, after string) {
		t.Helper()
		for _, a := range three {
			if got := c.karma(a); got != want {
				t.Errorf("%s: karma of %s: got %d, want %d", after, a.Name, got, want)
			}
		}
	}
	for i, verdict := range []string{"uphold", "overturn", "uphold", "overturn", "overturn", "overturn"} {
		c.decides(c.reports(c.citizen(), c.spams([]*transcripts.Agent{author, c.citizen()}[i%2])), verdict)
		all(int64(min(2*(i+1), 10)), verdict)
	}
	c.advance(24 * time.Hour)
	c.decides(c.reports(c.citizen(), c.spams(c.citizen())), "overturn")
	all(12, "the next day")
	in := c.reports(c.citizen(), c.spams(author))
	c.tick()
	c.want(c.send(c.ballot(three[0], in, "uphold")), 200, "")
	c.want(c.send(c.ballot(three[1], in, "uphold")), 200, "")
	c.advance(48*time.Hour + time.Second)
	c.tick()
	c.advance(7*24*time.Hour + time.Second)
	c.tick()
	if p := c.read(nil, in); p.State != "lapsed" {
		t.Fatalf("case: got state %s, want lapsed", p.State)
	}
	all(12, "lapsed")
	for _, a := range three[:2] {
		if got := c.item(tables.JurorKey(a.ID)); got.Int("missed") != 0 || got.Int("active_at") == 0 {
			t.Errorf("juror that voted: got %v, want no missed duty, and active_at set", got)
		}
	}
}
