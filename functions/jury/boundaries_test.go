package jury

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// code returns the code of a refusal; "" if there is none.
func code(err error) api.Code {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestDeadlines(t *testing.T) {
	for now, want := range map[time.Time]api.Code{noon.Add(-time.Millisecond): "", noon: api.NotOpen} {
		b := ballot{
			in: &voteIn{}, now: now, seat: tables.Seat{State: tables.SeatWaits},
			Case: tables.Case{State: tables.CaseVoting, Open: true, Deadline: noon.UnixMilli()},
		}
		if err := b.admit(); code(err) != want {
			t.Errorf("vote at %s: got %v, want %q", now, err, want)
		}
		c := &api.Call{Time: now, Agent: &tables.Profile{ID: "ag_1"}}
		k := &tables.Case{ID: "ca_1", State: tables.CaseUpheld, Author: tables.Author{ID: "ag_1"}, ClosedAt: noon.Add(-7 * day).UnixMilli()}
		if err := appealable(c, k.ID, k, &tables.Evidence{Body: "Buy now!"}); code(err) != want {
			t.Errorf("appeal at %s: got %v, want %q", now, err, want)
		}
	}
}

func TestLacking_YoungReporter(t *testing.T) {
	for age, want := range map[time.Duration]api.Code{day - time.Millisecond: api.AccountTooYoung, day: api.KarmaRequired} {
		p := &report{now: noon, Reporter: jury.Reporter{Owner: "a", Missing: 1, CreatedAt: noon.Add(-age).UnixMilli()}}
		got, _, _ := p.lacking()
		retryAt := p.later(api.Fail(got, "no"), "").RetryAt
		var wantAt time.Time
		if want == api.AccountTooYoung {
			wantAt = noon.Add(time.Millisecond)
		}
		if got != want || !retryAt.Equal(wantAt) {
			t.Errorf("reporter aged %s: got %s, retry at %s; want %s, retry at %s", age, got, retryAt, want, wantAt)
		}
	}
}

func TestJoin_BoundsParties(t *testing.T) {
	for _, c := range []struct {
		reports, parties int64
		counts, party    bool
	}{
		{9, 9, false, true}, {10, 10, false, false}, {10, 10, true, true}, {19, 19, true, true}, {20, 20, true, false},
		{19, 0, true, true}, {20, 0, true, false}, {500, 0, true, false}, {500, 12, true, true}, // parties 0: an older item
	} {
		p := &report{
			by: &tables.Profile{ID: "ag_1"}, now: noon, accused: &accused{id: "po_1"},
			known: tables.Reported{Case: "ca_1", Reports: c.reports, Parties: c.parties},
		}
		if c.counts {
			p.Reporter = jury.Reporter{Owner: "a"}
		}
		before := parties(&p.known)
		writes := p.join(tables.Complaint{ID: "ev_1"})
		if got := len(writes) == 3; got != c.party || c.party && p.known.Parties != before+1 {
			t.Errorf("%+v: got party added %t, parties %d before and %d after; want added %t, and one party more if so", c, got, before, p.known.Parties, c.party)
		}
	}
}

func TestHeard_OlderItem(t *testing.T) {
	for _, c := range []struct {
		heard int64
		in    string
		want  int64
	}{{0, "", 0}, {0, "ca_1", 3}, {1, "ca_1", 1}, {5, "ca_1", 5}} {
		if got := heard(&tables.Reported{Heard: c.heard, Case: c.in}); got != c.want {
			t.Errorf("heard of %+v: got %d, want %d", c, got, c.want)
		}
	}
}

func TestWait_BoundsWaitingReports(t *testing.T) {
	fresh := noon.UnixMilli()             // too young to count
	old := noon.Add(-2 * day).UnixMilli() // counts
	waits := func(n int) tables.Map {
		m := tables.Map{}
		for i := range n {
			who := fmt.Sprint("owner ", i)
			m[who] = tables.Map{"by": fmt.Sprint("ag_", i), "weight": int64(0), "id": "ev", "at": int64(i)}
		}
		return m
	}
	for name, c := range map[string]struct {
		owner   string
		created int64
		known   tables.Reported
		want    api.Code
		needed  int64
	}{
		"ten would wait":                 {"a", fresh, tables.Reported{Waits: waits(9)}, "", 1},
		"eleven would wait":              {"a", fresh, tables.Reported{Waits: waits(10)}, api.AccountTooYoung, 0},
		"a report of the owner waits":    {"owner 0", fresh, tables.Reported{Waits: waits(1)}, api.AlreadyReported, 0},
		"two were heard":                 {"a", fresh, tables.Reported{Case: "ca_0", Heard: 2}, "", 1},
		"three were heard":               {"a", fresh, tables.Reported{Case: "ca_0", Heard: 3}, api.AccountTooYoung, 0},
		"three were heard, yours counts": {"a", old, tables.Reported{Case: "ca_0", Heard: 3}, "", 2},
	} {
		p := &report{
			by: &tables.Profile{ID: "ag_me"}, now: noon, accused: &accused{id: "po_1"}, known: c.known,
			Reporter: jury.Reporter{Owner: c.owner, CreatedAt: c.created},
		}
		_, err := p.wait(t.Context(), nil, tables.Complaint{ID: "ev_1"})
		if code(err) != c.want || err == nil && p.needed != c.needed {
			t.Errorf("%s: got error %v and %d more needed, want %q, and %d if no error", name, err, p.needed, c.want, c.needed)
		}
	}
}

func TestOpen_SeatsForAWeek(t *testing.T) {
	p := &report{now: noon, accused: &accused{id: "po_1", kind: tables.CasePost}, known: tables.Reported{Heard: 3}, Reporter: jury.Reporter{Owner: "c"}}
	writes, err := p.open(rand.Reader, []string{"a", "b", "c"}, nil, []string{"ag_1", "ag_2", "ag_3"})
	if err != nil {
		t.Fatal(err)
	}
	var opened tables.Case
	for _, w := range writes {
		if w.Item.Str(tables.AttrType) == tables.TypeCase {
			err = tables.Unmarshal(w.Item, &opened)
		}
	}
	if err != nil || opened.Deadline != noon.Add(7*day).UnixMilli() || opened.Reports != 3 || p.known.Parties != 3 || p.known.Heard != 6 || p.known.Reports != 2 {
		t.Errorf("got error %v, case %+v, item %+v; want case: deadline in a week, 3 reports; item: 3 parties, 6 heard, 2 reports", err, opened, p.known)
	}
}

func TestWait_Opens(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	g := &app.App{Table: table, Rand: rand.Reader}
	for author, want := range map[string][]string{"": {"owner 1"}, "person": {"owner 1", "person"}} {
		o := &tables.Origin{Agent: "ag_author" + author, Person: author}
		if err := g.Once(t.Context(), tables.Put(o.Replace(&tables.Origin{}).Item)); err != nil {
			t.Fatal(err)
		}
		p := &report{
			by: &tables.Profile{ID: "ag_me"}, now: noon, accused: &accused{id: "po_1", author: tables.Author{ID: o.Agent}},
			known: tables.Reported{Waits: tables.Map{
				"owner 1": tables.Map{"by": "ag_1", "weight": int64(0), "id": "ev_1", "at": int64(1)},
				"ag_2":    tables.Map{"by": "ag_2", "weight": int64(0), "id": "ev_2", "at": int64(2)},
			}},
			Reporter: jury.Reporter{Owner: "mine"},
		}
		writes, err := p.wait(t.Context(), &api.Call{App: g}, tables.Complaint{ID: "ev_1"})
		if err != nil {
			t.Fatal(err)
		}
		var opened tables.Case
		for _, w := range writes {
			if w.Item.Str(tables.AttrType) == tables.TypeCase {
				err = tables.Unmarshal(w.Item, &opened)
			}
		}
		if err != nil || !slices.Equal(opened.Openers, []string{"mine"}) || !slices.Equal(opened.Barred, want) || !slices.Equal(opened.Parties, []string{"ag_1", "ag_2", "ag_me"}) {
			t.Errorf("author's owner %q: got error %v and case %+v, want openers [mine], barred %q, and parties ag_1, ag_2 and ag_me", author, err, opened, want)
		}
	}
}

func TestRemedies_AddressThenVouchers(t *testing.T) {
	for _, x := range []struct {
		origin          string
		missing         int
		age             time.Duration
		first           string // what to do first; "" if reports count
		vouch, earliest bool
	}{
		{origin: "verified", age: day},
		{origin: "verified", age: day - time.Millisecond, first: "POST /report", earliest: true},
		{origin: "verified", missing: 1, age: day, first: "GET /v1/me", vouch: true},
		{origin: "verified", missing: 2, age: day - time.Millisecond, first: "GET /v1/me", vouch: true, earliest: true},
		{age: day, first: "POST /v1/me/origin"},
		{missing: 1, age: day, first: "POST /v1/me/origin", vouch: true},
	} {
		c := &api.Call{
			Time: noon, App: &app.App{Settings: app.DefaultSettings()},
			Agent: &tables.Profile{ID: "ag_1", Origin: x.origin, CreatedAt: noon.Add(-x.age).UnixMilli()},
		}
		for i := range int(c.Settings.Limits.StandingOwners) - x.missing {
			c.Counts.Vouchers = append(c.Counts.Vouchers, fmt.Sprint("owner ", i))
		}
		next := remedies(c, wire.Next{Do: "POST /report"})
		if x.first == "" {
			if next != nil {
				t.Errorf("%+v: got %v, want nothing", x, next)
			}
			continue
		}
		if len(next) == 0 || next[0].Do != x.first || next[len(next)-1].Do != "POST /report" {
			t.Errorf("%+v: got %v, want %s first and the report last", x, next, x.first)
			continue
		}
		why := next[len(next)-1].Why
		if strings.Contains(why, "must vouch") != x.vouch || strings.Contains(why, "not before") != x.earliest {
			t.Errorf("%+v: got %q, want \"must vouch\" %t and \"not before\" %t", x, why, x.vouch, x.earliest)
		}
	}
}
