package deadlines

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// fixture runs sweeps on a table with a pool of volunteers.
type fixture struct {
	deadlines
	t *testing.T
	n int
}

func (b *fixture) do(writes ...tables.Write) {
	b.t.Helper()
	if err := b.Transact(b.t.Context(), writes...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *fixture) item(k tables.Key) tables.Item {
	b.t.Helper()
	items, err := b.Table.Get(b.t.Context(), tables.Strong, k)
	if err != nil {
		b.t.Fatal(err)
	}
	return items[0]
}

// volunteer adds an eligible volunteer, which the function change may alter.
func (b *fixture) volunteer(change func(*tables.Profile, *tables.Counters, *tables.Juror)) tables.Juror {
	b.t.Helper()
	b.n++
	long, today := noon.Add(-30*24*time.Hour).UnixMilli(), noon.Add(-time.Hour).UnixMilli()
	agent := fmt.Sprintf("ag_%03d", b.n)
	p := &tables.Profile{ID: agent, Handle: agent, CreatedAt: long, Origin: "verified", Juror: true}
	k := &tables.Counters{LastActive: today}
	j := &tables.Juror{Agent: agent, Owner: fmt.Sprint("person ", b.n), Place: b.Random(8), Since: long, ActiveAt: today}
	if change != nil {
		change(p, k, j)
	}
	o := &tables.Origin{Agent: agent, Person: j.Owner, VerifiedAt: long, Signed: true}
	b.do(tables.Put(p.Item()), tables.Put(tables.CountersItem(agent, k)), tables.Put(j.Item()), j.Claim(), o.Replace(&tables.Origin{}))
	return *j
}

// opens adds a case that was opened an hour ago, about a post from two hours ago.
func (b *fixture) opens(change func(*tables.Case)) *tables.Case {
	b.t.Helper()
	opened := noon.Add(-time.Hour)
	c := &tables.Case{
		ID: "ca_1", Kind: tables.CasePost, Target: "po_1", Author: tables.Author{ID: "ag_author"}, State: tables.CaseSeating, Open: true,
		OpenedAt: opened.UnixMilli(), Due: opened.UnixMilli(), Deadline: noon.Add(jury.SeatingFor).UnixMilli(),
		Parties: tables.NewSet("ag_reporter"), Seed: []byte(b.Random(20)),
	}
	if change != nil {
		change(c)
	}
	e := &tables.Evidence{Body: "Buy now!", CreatedAt: noon.Add(-2 * time.Hour).UnixMilli()}
	b.do(tables.Put(c.Item(), tables.NoItem()), e.Put(c.ID))
	return c
}

// sweeps runs one sweep and returns the case and its draws.
func (b *fixture) sweeps() (*tables.Case, []tables.Draw) {
	b.t.Helper()
	if err := b.judge(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	page, err := b.Table.Query(b.t.Context(), tables.CaseParts("ca_1"))
	if err != nil {
		b.t.Fatal(err)
	}
	c := new(tables.Case)
	var draws []tables.Draw
	for _, item := range page.Items {
		var d tables.Draw
		switch item.Str(tables.AttrType) {
		case tables.TypeCase:
			err = errors.Join(err, tables.Unmarshal(item, c))
		case tables.TypeDraw:
			err = errors.Join(err, tables.Unmarshal(item, &d))
			draws = append(draws, d)
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return c, draws
}

func newFixture(t *testing.T) (*fixture, func(time.Duration)) {
	d, _, clock := newSweep(t)
	return &fixture{deadlines: d, t: t}, func(by time.Duration) { clock.Add(by.Milliseconds()) }
}

func sorted(agents ...string) []string { return slices.Sorted(slices.Values(agents)) }

func (b *fixture) volunteers(n int) (agents []string) {
	for range n {
		agents = append(agents, b.volunteer(nil).Agent)
	}
	return agents
}

func TestLateVolunteers(t *testing.T) {
	b, _ := newFixture(t)
	opened := noon.Add(-time.Hour).UnixMilli()
	since := func(at int64) tables.Juror {
		return b.volunteer(func(_ *tables.Profile, _ *tables.Counters, j *tables.Juror) { j.Since = at })
	}
	early := []string{since(opened - 1).Agent, since(opened - 1).Agent, since(opened - 1).Agent}
	since(opened)
	since(opened + 1)
	b.opens(nil)
	if c, _ := b.sweeps(); !slices.Equal(sorted(c.Jurors...), early) {
		t.Errorf("jurors: got %v, want %v", c.Jurors, early)
	}
}

func TestIdleVolunteers(t *testing.T) {
	b, _ := newFixture(t)
	idle, seen := noon.Add(-jury.ActiveIn).UnixMilli()-1, noon.Add(-jury.ActiveIn).UnixMilli()
	at := func(active, voted, missed int64) tables.Juror {
		return b.volunteer(func(_ *tables.Profile, k *tables.Counters, j *tables.Juror) {
			k.LastActive, j.ActiveAt, j.Missed, j.MissedOn = active, voted, missed, 7
		})
	}
	fit := []string{at(seen, idle, 0).Agent, at(idle, seen, 0).Agent, at(seen, seen, 0).Agent}
	gone, forgetful := at(idle, idle, 0), at(idle, idle, 2)
	b.opens(nil)
	if c, _ := b.sweeps(); !slices.Equal(sorted(c.Jurors...), fit) {
		t.Errorf("jurors: got %v, want %v", c.Jurors, fit)
	}
	for _, j := range []tables.Juror{gone, forgetful} {
		if b.item(tables.JurorKey(j.Agent)) != nil || b.item(tables.ProfileKey(j.Agent)).Bool("juror") {
			t.Errorf("idle %s: got a juror, want none", j.Agent)
		}
		if why := b.item(tables.Key{PK: tables.AgentPK(j.Agent), SK: "JUROR-ENDED"}).Str("reason"); why != tables.JurorIdle {
			t.Errorf("reason given to %s: got %q, want %q", j.Agent, why, tables.JurorIdle)
		}
	}
	if claim := b.item(tables.JurorClaimKey(gone.Owner)); claim != nil {
		t.Errorf("claim without missed duties: got %v, want none", claim)
	}
	if claim := b.item(tables.JurorClaimKey(forgetful.Owner)); claim == nil || claim["agent"] != nil || claim.Int("missed") != 2 || claim.Int("missed_on") != 7 {
		t.Errorf("claim with missed duties: got %v, want 2 missed duties, the last on 7, and no agent", claim)
	}
	for name, back := range map[string]func(j tables.Juror) tables.Write{
		"posted": func(j tables.Juror) tables.Write {
			return tables.Change(tables.CountersKey(j.Agent), tables.SetAttr("last_active", seen))
		},
		"voted": func(j tables.Juror) tables.Write { return j.Serve(seen) },
	} {
		j := at(idle, idle, 0)
		b.do(back(j))
		v := &volunteer{Candidate: jury.Candidate{Agent: j.Agent, ActiveAt: idle}, juror: j}
		if err := b.retire(t.Context(), []*volunteer{v}); err != nil || b.item(tables.JurorKey(j.Agent)) == nil {
			t.Errorf("idle volunteer that %s: got juror %v, error %v; want it kept", name, b.item(tables.JurorKey(j.Agent)), err)
		}
	}
}

// A third window is read only in the next sweep.
func TestSecondWindow(t *testing.T) {
	for _, test := range []struct {
		fit     [3]int // eligible volunteers of each window that are in no earlier one
		sweeps  int
		draws   []int // jurors by window
		windows int64
	}{
		{[3]int{5, 3, 3}, 1, []int{5}, 1},
		{[3]int{3, 3, 3}, 1, []int{3, 2}, 2},
		{[3]int{1, 2, 3}, 1, []int{1, 2}, 2},
		{[3]int{3, 1, 3}, 1, []int{3}, 2}, // four are not a jury, so the fourth gets no seat
		{[3]int{0, 4, 3}, 1, []int{0, 3}, 2},
		{[3]int{1, 1, 0}, 1, nil, 2},
		{[3]int{0, 0, 5}, 2, []int{0, 0, 5}, 3},
	} {
		b, advance := newFixture(t)
		for range 300 {
			b.volunteer(func(_ *tables.Profile, k *tables.Counters, _ *tables.Juror) { k.Duties = jury.DutiesMost })
		}
		var c *tables.Case
		windows := func() (fresh [3][]string) {
			seen := map[string]bool{}
			for i := range fresh {
				all, err := b.window(t.Context(), &tables.Case{ID: c.ID, Seed: c.Seed, Windows: int64(i)})
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range all {
					if !seen[a] {
						fresh[i] = append(fresh[i], a)
					}
					seen[a] = true
				}
			}
			return fresh
		}
		var fresh [3][]string
		c = &tables.Case{ID: "ca_1"}
		for try := 0; len(fresh[1]) < 5 || len(fresh[2]) < 5; try++ {
			if try == 100 {
				t.Fatal("no seed gives different windows")
			}
			c.Seed = []byte(b.Random(20))
			fresh = windows()
		}
		for i, n := range test.fit {
			for _, a := range fresh[i][:n] {
				b.do(tables.Change(tables.CountersKey(a), tables.SetAttr("duties", int64(0))))
			}
		}
		b.opens(func(is *tables.Case) { is.Seed = c.Seed })
		var draws []tables.Draw
		for range test.sweeps {
			c, draws = b.sweeps()
			advance(jury.RetryFirst)
		}
		var want []tables.Draw
		total := 0
		for i, n := range test.draws {
			if total += n; n > 0 {
				want = append(want, tables.Draw{N: int64(len(want)), Window: int64(i), Jurors: make([]string, n)})
			}
		}
		if c.Filled != int64(total) || c.Windows != test.windows || len(draws) != len(want) || int(c.Draws) != len(want) {
			t.Errorf("%v: got Filled %d, Windows %d, Draws %d and %d draw items; want %d, %d, %d and %[8]d", test.fit, c.Filled, c.Windows, c.Draws, len(draws), total, test.windows, len(want))
			continue
		}
		for i, d := range draws {
			if d.N != want[i].N || d.Window != want[i].Window || len(d.Jurors) != len(want[i].Jurors) || d.Digest != jury.Digest(c.Seed, c.ID, d.N, d.Jurors) {
				t.Errorf("%v: draw %d: got %+v, want %+v with its digest", test.fit, i, d, want[i])
			}
			for _, a := range d.Jurors {
				if !slices.Contains(fresh[d.Window], a) || !c.Jurors.Has(a) {
					t.Errorf("%v: got juror %s outside its draw's window or missing in the case, want it in both", test.fit, a)
				}
			}
		}
	}
}

func TestDrawFollowsTheSeed(t *testing.T) {
	b, _ := newFixture(t)
	var fit []string
	for i := range 60 {
		j := b.volunteer(func(_ *tables.Profile, k *tables.Counters, _ *tables.Juror) {
			if i%2 == 0 {
				k.Duties = jury.DutiesMost
			}
		})
		if i%2 == 1 {
			fit = append(fit, j.Agent)
		}
	}
	c := b.opens(nil)
	slices.SortFunc(fit, func(x, y string) int {
		return cmp.Compare(jury.Rank(c.Seed, c.ID, x), jury.Rank(c.Seed, c.ID, y))
	})
	if _, draws := b.sweeps(); len(draws) != 1 || !slices.Equal(draws[0].Jurors, fit[:jury.Seats]) {
		t.Errorf("draws: got %+v, want one draw with the jurors %v", draws, fit[:jury.Seats])
	}
}

func TestBackoff(t *testing.T) {
	b, advance := newFixture(t)
	b.opens(nil)
	for i, want := range []time.Duration{15, 30, 60, 120, 240, 240, 240} {
		c, _ := b.sweeps()
		if got := time.UnixMilli(c.Due).Sub(b.Now()); got != want*time.Minute || c.State != tables.CaseSeating {
			t.Fatalf("after %d failed tries: got a wait of %s in state %s, want %s in %s", i+1, got, c.State, want*time.Minute, tables.CaseSeating)
		}
		advance(want * time.Minute)
	}
	for range 3 {
		b.volunteer(nil)
	}
	if c, _ := b.sweeps(); c.State != tables.CaseVoting || c.Vain != 0 || c.Due != c.Deadline {
		t.Errorf("case with three volunteers: got %+v, want it in voting, with Vain 0, and due at its deadline", c)
	}
}

func TestBusyJurors(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*tables.Profile, *tables.Counters, *tables.Juror)
		waits  time.Duration // the third wait
	}{
		"busy": {func(*tables.Profile, *tables.Counters, *tables.Juror) {}, jury.RetryFirst},
		"busy, and late": {func(_ *tables.Profile, _ *tables.Counters, j *tables.Juror) {
			j.Since = noon.UnixMilli()
		}, 4 * jury.RetryFirst},
		"busy, and of the author's origin": {func(_ *tables.Profile, _ *tables.Counters, j *tables.Juror) { j.Owner = "the author" }, 4 * jury.RetryFirst},
	} {
		b, advance := newFixture(t)
		author := &tables.Origin{Agent: "ag_author", Person: "the author", VerifiedAt: 1}
		b.do(author.Replace(&tables.Origin{}))
		b.volunteer(func(p *tables.Profile, k *tables.Counters, j *tables.Juror) {
			k.Duties = jury.DutiesMost
			test.change(p, k, j)
		})
		b.opens(nil)
		var waits time.Duration
		for range 3 {
			c, _ := b.sweeps()
			waits = time.UnixMilli(c.Due).Sub(b.Now())
			advance(waits)
		}
		if waits != test.waits {
			t.Errorf("%s: third wait: got %s, want %s", name, waits, test.waits)
		}
	}
}

// Earlier failed draws (Vain) do not lengthen the wait.
func TestEmptySeats(t *testing.T) {
	b, _ := newFixture(t)
	b.volunteer(nil)
	b.opens(func(c *tables.Case) {
		c.State, c.Seats, c.Filled, c.Vain = tables.CaseVoting, jury.Seats, 3, 4
	})
	if c, _ := b.sweeps(); c.Filled != 4 || c.Seats != jury.Seats || c.Due != noon.Add(jury.RetryFirst).UnixMilli() {
		t.Errorf("case in voting: got %+v, want 4 of %d seats filled, and due in %s", c, jury.Seats, jury.RetryFirst)
	}

	b, _ = newFixture(t)
	b.opens(func(c *tables.Case) {
		c.State, c.Seats, c.Filled, c.Vain, c.Deadline = tables.CaseVoting, jury.Seats, 3, 4, noon.UnixMilli()
	})
	if c, _ := b.sweeps(); c.State != tables.CaseSeating || c.Reseats != 1 || c.Due != noon.Add(jury.RetryFirst).UnixMilli() {
		t.Errorf("case at its deadline: got %+v, want it in seating, with Reseats 1, and due in %s", c, jury.RetryFirst)
	}
}

// The claim keeps the day of the last missed duty, so that the miss does not count twice.
func TestLastMissIsKept(t *testing.T) {
	b, _ := newFixture(t)
	j := b.volunteer(func(_ *tables.Profile, _ *tables.Counters, j *tables.Juror) { j.Missed = jury.MissedMost - 1 })
	b.do(tables.Change(tables.CountersKey(j.Agent), tables.SetAttr("duties", int64(1))))
	duty := tables.Duty{Agent: j.Agent, Case: "ca_1"}
	seat := tables.Seat{Case: "ca_1", Juror: tables.Author{ID: j.Agent}, State: tables.SeatWaits}
	b.do(append(duty.Begin(1), seat.Take())...)
	s := seated{Seat: seat, juror: j}
	b.do(s.miss(noon.UnixMilli(), noon)...)
	claim := b.item(tables.JurorClaimKey(j.Owner))
	if b.item(tables.JurorKey(j.Agent)) != nil || claim.Int("missed") != jury.MissedMost-1 || claim.Int("missed_on") != noon.Truncate(day).UnixMilli() {
		t.Errorf("got juror %v and claim %v, want no juror, and a claim with %d missed duties, the last on %d", b.item(tables.JurorKey(j.Agent)), claim, jury.MissedMost-1, noon.Truncate(day).UnixMilli())
	}
}

func TestSummon(t *testing.T) {
	for name, change := range map[string]func(b *fixture, j tables.Juror){
		"is suspended": func(b *fixture, j tables.Juror) {
			b.do(tables.Change(tables.ProfileKey(j.Agent), tables.SetAttr("suspended_until", noon.Add(time.Hour).UnixMilli())))
		},
		"reports": func(b *fixture, j tables.Juror) {
			b.do((&tables.Report{ID: "ev_1", Target: "po_1", By: j.Agent}).Once())
		},
		"is drawn elsewhere": func(b *fixture, j tables.Juror) { b.do(j.Summon("0123456789abcdef")) },
		"withdraws":          func(b *fixture, j tables.Juror) { b.do(j.Withdraw(nil, noon)...) },
		"stays":              func(*fixture, tables.Juror) {},
	} {
		b, _ := newFixture(t)
		j := b.volunteer(nil)
		c := b.opens(nil)
		drawn, _, err := b.look(t.Context(), c)
		if err != nil || len(drawn) != 1 {
			t.Fatalf("look: got %v, error %v, want one volunteer", drawn, err)
		}
		writes, err := b.summon(c, drawn[0])
		if err != nil {
			t.Fatal(err)
		}
		change(b, j)
		err = b.Transact(t.Context(), writes...)
		if name != "stays" {
			var cancelled *tables.Cancelled
			if !errors.As(err, &cancelled) {
				t.Errorf("seating a juror that %s: got error %v, want a failed condition", name, err)
			}
			continue
		}
		item := b.item(tables.JurorKey(j.Agent))
		if err != nil || item.Str("place") == j.Place || item.Str("rank_sk") != item.Str("place")+"#"+j.Agent || len(item.Str("place")) != 16 {
			t.Errorf("juror: got %v, error %v, want a place of 16 characters other than %s, also in rank_sk", item, err, j.Place)
		}
	}
}

func TestWithdrawnMeanwhile(t *testing.T) {
	b, _ := newFixture(t)
	j, other := b.volunteer(nil), b.volunteer(nil)
	h, err := b.hear(t.Context(), b.opens(nil))
	if err != nil {
		t.Fatal(err)
	}
	b.do(j.Withdraw(nil, noon)...)
	list, err := b.candidates(t.Context(), h, []string{j.Agent, other.Agent})
	if err != nil || len(list) != 1 || list[0].Agent != other.Agent {
		t.Errorf("candidates: got %v, error %v, want only %s", list, err, other.Agent)
	}
}
