package deadlines

import (
	"testing"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

func TestTimesOfACase(t *testing.T) {
	b, advance := newFixture(t)
	juror := b.volunteer(nil).Agent
	b.volunteers(2)
	b.opens(nil)
	missed := func() int64 { return b.item(tables.JurorKey(juror)).Int("missed") }
	c, _ := b.sweeps()
	if want := noon.Add(48 * time.Hour).UnixMilli(); c.State != tables.CaseVoting || c.Deadline != want || c.Due != want {
		t.Fatalf("case with jurors: got %+v, want it in voting, due at its deadline %d", c, want)
	}
	advance(48*time.Hour - time.Millisecond)
	if c, _ = b.sweeps(); c.State != tables.CaseVoting || missed() != 0 {
		t.Errorf("before the deadline: got %+v and %d missed duties, want voting and none", c, missed())
	}
	advance(time.Millisecond)
	c, _ = b.sweeps()
	if want := b.Now().Add(7 * 24 * time.Hour).UnixMilli(); c.State != tables.CaseSeating || c.Deadline != want || missed() != 1 {
		t.Errorf("at the deadline: got %+v and %d missed duties, want seating until %d and one", c, missed(), want)
	}
}

func TestMissedAtTheDeadline(t *testing.T) {
	for early, want := range map[int64]int64{0: 1, 1: 0} {
		b, _ := newFixture(t)
		juror := b.volunteer(nil).Agent
		b.do(tables.Change(tables.CountersKey(juror), tables.SetAttr("duties", int64(1))))
		c := b.opens(func(c *tables.Case) {
			c.State, c.Open, c.Jurors = tables.CaseLapsed, false, tables.NewSet(juror)
			c.Deadline, c.ClosedAt = noon.UnixMilli(), noon.UnixMilli()-early
		})
		seat := tables.Seat{Case: c.ID, Juror: tables.Author{ID: juror}, State: tables.SeatWaits}
		duty := tables.Duty{Agent: juror, Case: c.ID}
		b.do(append(duty.Begin(1), seat.Take())...)
		b.sweeps()
		if got := b.item(tables.JurorKey(juror)).Int("missed"); got != want {
			t.Errorf("closed %d ms before the deadline: got %d missed duties, want %d", early, got, want)
		}
	}
}

// Earlier draws that found busy volunteers do not count.
func TestRetryAfterFirstEmptyDraw(t *testing.T) {
	b, advance := newFixture(t)
	j := b.volunteer(func(_ *tables.Profile, k *tables.Counters, _ *tables.Juror) { k.Duties = jury.DutiesMost })
	b.opens(nil)
	b.sweeps()
	advance(jury.RetryFirst)
	b.do(j.Withdraw(nil, b.Now())...)
	if c, _ := b.sweeps(); c.Due != b.Now().Add(15*time.Minute).UnixMilli() || c.Vain != 1 {
		t.Errorf("case without volunteers: got %+v, want it due in 15 minutes, with Vain 1", c)
	}
}

func TestKarmaOfADay(t *testing.T) {
	b, advance := newFixture(t)
	agent := b.volunteer(nil).Agent
	advance(-11 * time.Hour) // 01:00
	voted := []seated{{Seat: tables.Seat{Juror: tables.Author{ID: agent}, State: tables.SeatVoted}}}
	for i, want := range []int64{2, 4, 6, 8, 10, 10, 12} {
		if i == 3 {
			advance(22*time.Hour + 59*time.Minute) // 23:59
			ttl := b.item(tables.QuotaKey(agent, juryKarma, noon.Truncate(day))).Int(tables.AttrTTL)
			if end := noon.Truncate(day).Add(day).Unix(); ttl < end || ttl > end+60 {
				t.Errorf("ttl of the day's karma: got %d, want 0 to 60 s after %d", ttl, end)
			}
		}
		if i == 6 {
			advance(time.Minute) // midnight
		}
		writes, err := b.pay(t.Context(), &tables.Case{State: tables.CaseUpheld}, voted)
		if err != nil {
			t.Fatal(err)
		}
		if len(writes) > 0 {
			b.do(writes...)
		}
		if got := b.item(tables.CountersKey(agent)).Int("karma"); got != want {
			t.Errorf("karma after verdict %d: got %d, want %d", i+1, got, want)
		}
	}
}

func TestFullJuryWaits(t *testing.T) {
	for filled, full := range map[int64]bool{jury.Seats: true, jury.Seats - 1: false} {
		b, _ := newFixture(t)
		b.opens(func(c *tables.Case) {
			c.State, c.Seats, c.Filled, c.Deadline = tables.CaseVoting, jury.Seats, filled, noon.Add(24*time.Hour).UnixMilli()
		})
		due, windows := noon.Add(24*time.Hour), int64(0)
		if !full {
			due, windows = noon.Add(jury.RetryFirst), 1
		}
		if c, _ := b.sweeps(); c.Due != due.UnixMilli() || c.Windows != windows {
			t.Errorf("%d of %d seats filled: got due %d and %d windows read, want %d and %d", filled, jury.Seats, c.Due, c.Windows, due.UnixMilli(), windows)
		}
	}
}

func TestDrawEndsWhenFull(t *testing.T) {
	for fit, want := range map[int]int64{jury.Window: 1, jury.Seats - 1: jury.WindowsMost} {
		b, _ := newFixture(t)
		b.volunteers(fit)
		for range jury.Window - fit {
			b.volunteer(func(p *tables.Profile, _ *tables.Counters, _ *tables.Juror) {
				p.SuspendedUntil = noon.Add(time.Hour).UnixMilli()
			})
		}
		b.opens(nil)
		if c, _ := b.sweeps(); c.Windows != want || c.State != tables.CaseVoting {
			t.Errorf("%d of %d may sit: got %d windows and state %s, want %d and %s", fit, jury.Window, c.Windows, c.State, want, tables.CaseVoting)
		}
	}
}

func TestAppealKeepsOperatorSuspension(t *testing.T) {
	for left, want := range map[int64]int64{0: 0, 1: noon.UnixMilli() + 1} {
		b, _ := newFixture(t)
		until := noon.Add(time.Hour).UnixMilli()
		author := &tables.Profile{ID: "ag_author", SuspendedUntil: until, OperatorUntil: noon.UnixMilli() + left}
		suspension := &tables.Suspension{Until: until, Cases: tables.Map{"ca_0": noon.UnixMilli()}}
		upheld := &tables.Upheld{Agent: author.ID, Suspensions: 1, Past: tables.Map{"ca_0": tables.Map(tables.Marshal(suspension))}}
		first := &tables.Case{ID: "ca_0", Kind: tables.CaseMessage, Target: "msg_1", Author: tables.Author{ID: author.ID}, State: tables.CaseUpheld, Settled: true}
		known := &tables.Reported{Target: first.Target, Case: first.ID}
		b.do(tables.Put(author.Item()), tables.Put(tables.CountersItem(author.ID, &tables.Counters{})), upheld.Keep(), first.Begin(), known.Keep())
		b.opens(func(c *tables.Case) {
			c.Kind, c.Target, c.Appeals, c.State, c.Open = first.Kind, first.Target, first.ID, tables.CaseOverturned, false
			c.Uphold, c.Overturn = 1, 3
		})
		b.sweeps()
		if got := b.item(tables.ProfileKey(author.ID)).Int("suspended_until"); got != want {
			t.Errorf("suspended by an operator for %d ms more: got suspended_until %d, want %d", left, got, want)
		}
	}
}
