package tables_test

import (
	"testing"
	"time"

	"agentsocial/tables"
)

func TestBoundaries(t *testing.T) {
	ms := noon.UnixMilli()
	idem := func(at time.Time) tables.Write { return tables.Idempotency(fox, "key", "digest", "201", at) }
	claim := func(at time.Time) tables.Write { return tables.ClaimRequest(fox, "key", at) }
	signed := &tables.PendingOrigin{ID: "1", ExpiresAt: ms, Signed: true}
	ask := func(at time.Time) tables.Write { return (&tables.PendingOrigin{ID: "2"}).Ask(fox, at) }
	back := (&tables.MailBack{Mail: "1", At: ms}).Put("person")
	noBack := func(at time.Time) tables.Write { return tables.NoMailBack("person", at) }
	code := func(uses int64) *tables.LinkCode {
		return &tables.LinkCode{ID: "lc_1", Hash: "hash", Agent: fox, Uses: uses, Grant: "gr_1", Epoch: 1, ExpiresAt: ms}
	}
	use := func(uses int64) func(time.Time) tables.Write {
		return func(at time.Time) tables.Write { return code(uses).Use(at)[0] }
	}
	grant := tables.Put((&tables.Grant{ID: "gr_1", Epoch: 1, ExpiresAt: ms}).Item(fox))
	open := func(n int64) tables.Write {
		return tables.Change(tables.OpenCasesKey("owner"), tables.SetAttr("n", n))
	}
	forget := func(time.Time) tables.Write { return tables.ForgetOpenCases("owner") }
	for name, c := range map[string]struct {
		before tables.Write
		write  func(at time.Time) tables.Write
		at     time.Time
		made   bool
	}{
		"idempotency key, within a day":                   {idem(noon), idem, noon.Add(day - time.Millisecond), false},
		"idempotency key, a day later":                    {idem(noon), idem, noon.Add(day), true},
		"request under way":                               {claim(noon), claim, noon.Add(30*time.Second - time.Millisecond), false},
		"request that died":                               {claim(noon), claim, noon.Add(30 * time.Second), true},
		"address asked for with a signature":              {signed.Ask(fox, noon), ask, noon.Add(-time.Millisecond), false},
		"address asked for with a signature, now expired": {signed.Ask(fox, noon), ask, noon, true},
		"mail that came back 90 days ago":                 {back, noBack, noon.Add(90 * day), false},
		"mail that came back earlier":                     {back, noBack, noon.Add(90*day + time.Millisecond), true},
		"link code that lives":                            {tables.Put(code(2).Item()), use(2), noon.Add(-time.Millisecond), true},
		"link code that expired":                          {tables.Put(code(2).Item()), use(2), noon, false},
		"last use of a code, read with two uses left":     {tables.Put(code(1).Item()), use(2), noon.Add(-time.Millisecond), false},
		"connection that minted a code":                   {grant, code(1).Lend, noon.Add(-time.Millisecond), true},
		"connection that expired":                         {grant, code(1).Lend, noon, false},
		"no open cases":                                   {open(0), forget, noon, true},
		"an open case":                                    {open(1), forget, noon, false},
	} {
		table := openTable(t)
		commit(t, table, c.before)
		if got := refused(t, table, c.write(c.at)); (got == nil) != c.made {
			t.Errorf("%s: refused writes: got %v, want none: %t", name, got, c.made)
		}
	}
}

// Only the last use takes the code off the list of live codes.
func TestLinkCode_LastUse(t *testing.T) {
	for uses, want := range map[int64]int{1: 2, 2: 1, 3: 1} {
		if got := (&tables.LinkCode{Hash: "hash", Agent: fox, Uses: uses}).Use(noon); len(got) != want {
			t.Errorf("use of a code with %d uses: got %d writes, want %d", uses, len(got), want)
		}
	}
}

func TestIsMailBack(t *testing.T) {
	item := (&tables.MailBack{At: noon.UnixMilli()}).Put("person").Item
	for after, want := range map[time.Duration]bool{0: true, 90 * day: true, 90*day + time.Millisecond: false} {
		if got := tables.IsMailBack(item, noon.Add(after)); got != want {
			t.Errorf("IsMailBack %s after the mail came back: got %t, want %t", after, got, want)
		}
	}
}

func TestPromo_End(t *testing.T) {
	p := &tables.Promo{ID: "pr_1", State: tables.PromoLive, EndsAt: noon.UnixMilli()}
	b, err := tables.ReadBoard("den", tables.Item{"p:pr_1": tables.Map{"ends_at": p.EndsAt, "daily": int64(7), "buyer": fox}})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]int{noon.Add(-time.Millisecond): 1, noon: 0} {
		live, daily := b.Live(at)
		full := b.Full(&tables.Profile{ID: fox}, at)
		if live != want || daily != int64(7*want) || p.Shown(at) != (want == 1) || (full != nil) != (want == 1) {
			t.Errorf("at %s: got %d live, %d a day, shown %t, cap %+v; want %d, %d, %t, a cap: %t", at, live, daily, p.Shown(at), full, want, 7*want, want == 1, want == 1)
		}
	}
}

func TestBoard_Full(t *testing.T) {
	entries := func(n int, buyer, owner string) tables.Item {
		item := tables.Item{}
		for i := range n {
			e := tables.Map{"buyer": buyer, "behind": owner, "ends_at": noon.Add(time.Duration(n-i) * time.Hour).UnixMilli()}
			item["p:pr_"+buyer+owner+string(rune('a'+i))] = e
		}
		return item
	}
	for name, c := range map[string]struct {
		board tables.Item
		owner string
		want  string
	}{
		"none":                                  {nil, "me", ""},
		"two of mine":                           {entries(2, fox, "me"), "me", ""},
		"three of mine":                         {entries(3, fox, "me"), "me", tables.CapOfBuyer},
		"three of my other agent":               {entries(3, "ag_other", "me"), "me", tables.CapOfBuyer},
		"three under my former owner":           {entries(3, fox, "former"), "me", tables.CapOfBuyer},
		"three of another owner":                {entries(3, "ag_other", "you"), "me", ""},
		"nineteen of others":                    {entries(19, "ag_other", "you"), "me", ""},
		"twenty of others":                      {entries(20, "ag_other", "you"), "me", tables.CapOfChannel},
		"no origin, no promos":                  {nil, "", ""},
		"no origin, one of its own":             {entries(1, fox, ""), "", tables.CapOfBuyer},
		"no origin, four of another such buyer": {entries(4, "ag_other", ""), "", ""},
		"no origin, five of another such buyer": {entries(5, "ag_other", ""), "", tables.CapOfNobody},
		"five of a buyer without an origin":     {entries(5, "ag_other", ""), "me", ""},
		"no origin, five of an owner":           {entries(5, "ag_other", "you"), "", ""},
	} {
		b, err := tables.ReadBoard("den", c.board)
		if err != nil {
			t.Fatal(err)
		}
		full := b.Full(&tables.Profile{ID: fox, Owner: c.owner}, noon)
		switch {
		case c.want == "":
			if full != nil {
				t.Errorf("%s: Full = %+v, want no cap", name, full)
			}
		case full == nil || full.Of != c.want || full.Live != len(c.board) || !full.Room.Equal(noon.Add(time.Hour)):
			t.Errorf("%s: Full = %+v, want the cap %q with %d live promos, and room at 13:00", name, full, c.want, len(c.board))
		}
	}
}

// A second recovery extends the hold and keeps its start, unless the hold has ended.
func TestHold(t *testing.T) {
	first := noon.UnixMilli()
	end := noon.Add(72 * time.Hour).UnixMilli()
	for second, since := range map[int64]int64{end - 1: first, end: end} {
		p := &tables.Profile{ID: fox}
		p.Reconnect(first)
		if p.HoldSince != first || p.HoldUntil != end {
			t.Errorf("hold: got %d to %d, want %d to %d", p.HoldSince, p.HoldUntil, first, end)
		}
		p.Reconnect(second)
		if want := second + 72*time.Hour.Milliseconds(); p.HoldSince != since || p.HoldUntil != want {
			t.Errorf("second hold at %d: got %d to %d, want %d to %d", second, p.HoldSince, p.HoldUntil, since, want)
		}
	}
}

func TestCase_Appeal(t *testing.T) {
	until := noon.Add(7 * day).UnixMilli()
	for name, c := range map[string]struct {
		c         tables.Case
		until     int64
		withholds bool
	}{
		"upheld":            {tables.Case{State: tables.CaseUpheld}, until, true},
		"upheld, appealed":  {tables.Case{State: tables.CaseUpheld, Appeal: "ca_2"}, 0, true},
		"upheld, overruled": {tables.Case{State: tables.CaseUpheld, Appeal: "ca_2", Overruled: true}, 0, false},
		"overturned":        {tables.Case{State: tables.CaseOverturned}, 0, false},
		"voting":            {tables.Case{State: tables.CaseVoting}, 0, false},
		"appeal, upheld":    {tables.Case{State: tables.CaseUpheld, Appeals: "ca_0"}, 0, true},
		"appeal, voting":    {tables.Case{State: tables.CaseVoting, Appeals: "ca_0"}, 0, true},
		"appeal, granted":   {tables.Case{State: tables.CaseOverturned, Appeals: "ca_0"}, 0, false},
	} {
		c.c.ClosedAt = noon.UnixMilli()
		if got := c.c.AppealUntil(); got != c.until {
			t.Errorf("%s: AppealUntil = %d, want %d", name, got, c.until)
		}
		if got := c.c.Withholds(); got != c.withholds {
			t.Errorf("%s: Withholds = %t, want %t", name, got, c.withholds)
		}
	}
}

func TestUpheld_Boundaries(t *testing.T) {
	owners := []string{"a", "b", "c"}
	for age, want := range map[time.Duration]bool{30*day - time.Millisecond: true, 30 * day: false} {
		u := &tables.Upheld{Agent: fox}
		u.Add("ca_1", noon.Add(-age), owners, 3, noon, 0)
		u.Add("ca_2", noon, owners, 3, noon, 0)
		if s := u.Add("ca_3", noon, owners, 3, noon, 0); (s != nil) != want {
			t.Errorf("first case %s ago: got suspension %+v, want one: %t", age, s, want)
		}
	}
	// Each suspension lasts twice as long as the one before, up to 1024 weeks.
	for earlier, weeks := range map[int64]int64{0: 1, 1: 2, 9: 512, 10: 1024, 11: 1024, 20: 1024} {
		u := &tables.Upheld{Agent: fox, Suspensions: earlier}
		var s *tables.Suspension
		for _, id := range []string{"ca_1", "ca_2", "ca_3"} {
			s = u.Add(id, noon, owners, 3, noon, 0)
		}
		if want := noon.UnixMilli() + weeks*(7*day).Milliseconds(); s == nil || s.Until != want {
			t.Errorf("after %d suspensions: got %+v, want one until %d", earlier, s, want)
		}
	}
	for age, kept := range map[time.Duration]bool{90 * day: true, 90*day + time.Millisecond: false} {
		u := &tables.Upheld{Agent: fox, Past: tables.Map{"ca_0": tables.Map{"until": noon.Add(-age).UnixMilli()}}}
		for _, id := range []string{"ca_1", "ca_2", "ca_3"} {
			u.Add(id, noon, owners, 3, noon, 0)
		}
		if (u.Past["ca_0"] != nil) != kept {
			t.Errorf("suspension that ended %s ago: got %v, want it kept: %t", age, u.Past["ca_0"], kept)
		}
	}
}

func TestKarmaSlots_Kept(t *testing.T) {
	at := noon.UnixMilli()
	old := at - 2*(30*day).Milliseconds()
	s := &tables.KarmaSlots{Posts: tables.Map{"older": old, "old": old + 1}}
	if took := s.Take("po_1", at); !took || len(s.Posts) != 2 || s.Posts["old"] != old+1 || s.Posts["po_1"] != at {
		t.Errorf("Take = %t with the slots %v, want true with po_1 at %d and old at %d", took, s.Posts, at, old+1)
	}
}

func TestVote_Gains(t *testing.T) {
	for name, c := range map[string]struct {
		v, before tables.Vote
		want      bool
	}{
		"weighs only now":             {tables.Vote{V: 1, Weighs: true}, tables.Vote{V: 1}, true},
		"weighed before":              {tables.Vote{V: 1, Weighs: true}, tables.Vote{V: 1, Weighs: true}, false},
		"taken back":                  {tables.Vote{V: 0, Weighs: true}, tables.Vote{V: 1}, false},
		"down":                        {tables.Vote{V: -1, Weighs: true}, tables.Vote{V: 1}, false},
		"vouches only now":            {tables.Vote{V: 1, Vouches: "a"}, tables.Vote{V: 1}, true},
		"vouches as before":           {tables.Vote{V: 1, Vouches: "a", Behind: "b"}, tables.Vote{V: 1, Vouches: "a", Behind: "b"}, false},
		"vouches in another way":      {tables.Vote{V: 1, Vouches: "a"}, tables.Vote{V: 1, Vouches: "c"}, true},
		"vouches under another owner": {tables.Vote{V: 1, Vouches: "a", Behind: "b"}, tables.Vote{V: 1, Vouches: "a", Behind: "c"}, true},
		"vouches for nobody":          {tables.Vote{V: 1, Behind: "b"}, tables.Vote{V: 1, Vouches: "a"}, false},
		"vouches, taken back":         {tables.Vote{V: 0, Vouches: "a"}, tables.Vote{V: 1}, false},
	} {
		if got := c.v.Gains(&c.before); got != c.want {
			t.Errorf("%s: Gains = %t, want %t", name, got, c.want)
		}
	}
}

// If a later tally than the counters' newest counted a vote or support, Of returns the
// number stored with it.
func TestOf(t *testing.T) {
	for tally, want := range map[int64]int64{4: 10, 5: 10, 6: 7} {
		if got := (&tables.Vote{V: 1, Counted: 1, Tally: tally, Score: 7}).Of(&tables.PostCounters{Score: 10, Tallies: 5}); got != want {
			t.Errorf("vote of tally %d: got %d, want %d", tally, got, want)
		}
		if got := (&tables.Support{On: true, Counted: true, Tally: tally, Number: 7}).Of(&tables.IdeaCounters{Support: 10, Tallies: 5}); got != want {
			t.Errorf("support of tally %d: got %d, want %d", tally, got, want)
		}
	}
}

func TestMessage_Movement(t *testing.T) {
	for price, want := range map[int64]bool{0: false, 1: true} {
		if got := (&tables.Message{ID: "msg_1", MicroUSD: price}).Movement(); (got != nil) != want || got != nil && got.MicroUSD != price {
			t.Errorf("price %d: got %+v, want a payment: %t", price, got, want)
		}
	}
}
