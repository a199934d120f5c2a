package service_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

const volunteering, withdrawing = `{"on":true}`, `{"on":false}`

// Of one person, however it spells its address, one agent is a juror; another may
// be once that has left, and so may each behind whom is somebody else by then.
func TestOneJurorOfAPerson(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.MailsDay = 100 // to one person
	r := run(t, service.Config{Settings: settings})
	fox, vixen, owl := r.join("fox"), r.join("vixen"), r.join("owl")
	r.origin(fox, "reynard@gmail.com")
	r.origin(vixen, "r.ey.nard@googlemail.com")
	r.origin(owl, "reynard@den.org")
	juror := func(a *transcripts.Agent) string { return r.call(a, "GET", "/v1/me", "").Text("juror") }
	volunteer := func(a *transcripts.Agent, body string, status int, code string) {
		t.Helper()
		r.want(r.call(a, "POST", "/v1/me/juror", body), status, code)
		if want := fmt.Sprint(body == volunteering && status == 200); juror(a) != want {
			t.Errorf("a juror: %s", juror(a))
		}
	}
	volunteer(fox, volunteering, 200, "")
	volunteer(fox, volunteering, 200, "")
	volunteer(owl, volunteering, 200, "")
	volunteer(vixen, volunteering, 409, "limit_reached")
	volunteer(vixen, withdrawing, 200, "")
	volunteer(fox, withdrawing, 200, "")
	volunteer(vixen, volunteering, 200, "")
	volunteer(fox, volunteering, 409, "limit_reached")

	r.origin(vixen, "rey.nard@gmail.com") // the same person's
	if juror(vixen) != "true" {
		t.Error("who proves another address of the same person is a juror no longer")
	}
	r.origin(vixen, "vixen@gmail.com")
	if juror(vixen) != "false" || r.item(tables.JurorKey(vixen.ID)) != nil {
		t.Error("who proves another person's address is a juror still")
	}
	if ended := r.item(tables.JurorEndedKey(vixen.ID)); ended.Str("reason") != tables.JurorMoved || r.item(tables.JurorEndedKey(fox.ID)) != nil {
		t.Errorf("it hears %v", ended)
	}
	volunteer(fox, volunteering, 200, "")
	volunteer(vixen, volunteering, 200, "")
	r.origin(vixen, "reynard@gmail.com")
	volunteer(vixen, volunteering, 409, "limit_reached")
}

// Of a domain that is somebody's own, and of a relay, whatever addresses there are,
// one agent is a juror; it stays one while it moves within.
func TestOneJurorOfADomain(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	one, other := r.join("one"), r.join("other")
	volunteer := func(a *transcripts.Agent, body string, status int) {
		t.Helper()
		r.want(r.call(a, "POST", "/v1/me/juror", body), status, "")
	}
	for i, domains := range [][2]string{{"den.org", "mail.den.org"}, {"duck.com", "duck.com"}} {
		r.origin(one, fmt.Sprintf("fox%d@%s", i, domains[0]))
		r.origin(other, fmt.Sprintf("owl%d@%s", i, domains[1]))
		volunteer(one, volunteering, 200)
		volunteer(other, volunteering, 409)
		r.origin(one, fmt.Sprintf("elk%d@%s", i, domains[1]))
		if r.item(tables.JurorKey(one.ID)) == nil {
			t.Error("who moves within a domain is a juror no longer")
		}
		volunteer(other, volunteering, 409)
		volunteer(one, withdrawing, 200)
		volunteer(other, volunteering, 200)
	}
}

// Who cannot have a lost agent volunteer no more takes its place when it is idle,
// and what it missed.
func TestLostJurors(t *testing.T) {
	t.Parallel()
	onBoth(t, judged(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		lost, heirs := c.juror(), []*transcripts.Agent{c.citizen(), c.citizen()}
		for _, a := range heirs {
			c.behind2(a, "person of "+lost.ID, "")
		}
		seen := func(active, voted time.Duration) {
			now := c.App.Now()
			c.set(tables.CountersKey(lost.ID), tables.SetAttr("last_active", now.Add(-active).UnixMilli()))
			c.set(tables.JurorKey(lost.ID), tables.SetAttr("active_at", now.Add(-voted).UnixMilli()),
				tables.SetAttr("missed", int64(2)), tables.SetAttr("missed_on", int64(7)))
		}
		const fortnight = 14 * 24 * time.Hour
		for _, ago := range [][2]time.Duration{{fortnight - time.Hour, 2 * fortnight}, {2 * fortnight, fortnight - time.Hour}} {
			seen(ago[0], ago[1])
			c.want(c.call(heirs[0], "POST", "/v1/me/juror", volunteering), 409, "limit_reached")
		}
		seen(2*fortnight, 2*fortnight)
		answers, n := c.settled(c.request(heirs[0], "POST", "/v1/me/juror", volunteering), c.request(heirs[1], "POST", "/v1/me/juror", volunteering))
		if n[200] != 1 || n[409] != 1 {
			t.Fatalf("%v", n)
		}
		heir := heirs[0]
		if answers[0].Status != 200 {
			heir = heirs[1]
		}
		j := c.item(tables.JurorKey(heir.ID))
		if j.Int("missed") != 2 || j.Int("missed_on") != 7 || c.item(tables.JurorClaimKey("person of "+lost.ID)).Str("agent") != heir.ID {
			t.Errorf("%v", j)
		}
		if c.item(tables.JurorKey(lost.ID)) != nil || c.item(tables.ProfileKey(lost.ID)).Bool("juror") || c.item(tables.JurorEndedKey(lost.ID)).Str("reason") != tables.JurorIdle {
			t.Error("the lost one is a juror")
		}
	})
}

// Who has an address at one name of a registered domain stands behind all of them.
func TestDomainOfAnOrigin(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	domain := func(address string) string {
		a := r.join("agent" + r.App.Random(5))
		r.origin(a, address)
		return r.item(tables.OriginKey(a.ID)).Str("domain")
	}
	one := domain("fox@mail.den.co.uk")
	if one == "" || one != domain("owl@den.co.uk") || one == domain("elk@nest.co.uk") || domain("fox@gmail.com") != "" {
		t.Error("a domain is not what was registered")
	}
}

// What was missed is remembered of the person, whichever of its agents volunteers
// anew, until one votes.
func TestMissedDutiesAreRemembered(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	a, b := c.juror(), c.citizen()
	c.behind2(b, "person of "+a.ID, "")
	missed := func(a *transcripts.Agent) int64 { return c.item(tables.JurorKey(a.ID)).Int("missed") }
	c.set(tables.JurorKey(a.ID), tables.SetAttr("missed", int64(2)), tables.SetAttr("missed_on", int64(7)))
	for range 2 {
		c.volunteers(a, false)
		c.volunteers(a, true)
		if on := c.item(tables.JurorKey(a.ID)).Int("missed_on"); missed(a) != 2 || on != 7 {
			t.Fatalf("volunteering anew, it has missed %d, the last on %d", missed(a), on)
		}
	}
	c.volunteers(a, false)
	c.volunteers(b, true)
	if missed(b) != 2 {
		t.Errorf("another agent of the person has missed %d", missed(b))
	}
	c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 409, "limit_reached")
	c.set(tables.JurorKey(b.ID), tables.SetAttr("missed", int64(0))) // it voted
	c.volunteers(b, false)
	c.volunteers(a, true)
	if missed(a) != 0 {
		t.Errorf("after a vote it has missed %d", missed(a))
	}
}

// Who missed three in a row is a juror no longer, and when it volunteers again, one
// more is enough.
func TestEvictedJurors(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	idle := c.jurors(3)[0]
	c.set(tables.JurorKey(idle.ID), tables.SetAttr("missed", int64(2)))
	for range 2 {
		in := c.reports(c.citizen(), c.spams(c.citizen()))
		c.tick()
		c.advance(48*time.Hour + time.Second)
		c.tick()
		if c.read(nil, in).State != "seating" || c.item(tables.JurorKey(idle.ID)) != nil {
			t.Fatal("it is a juror")
		}
		c.advance(7*24*time.Hour + time.Second)
		c.tick()
		c.volunteers(idle, true)
		for a := range c.people { // or nobody is active
			if k := tables.JurorKey(a); c.item(k) != nil {
				c.set(k, tables.SetAttr("active_at", c.App.Now().UnixMilli()))
			}
		}
		c.advance(time.Second)
	}
	c.drain()
	if got := c.ended(idle); !slices.Equal(got, []string{"missed", "missed"}) {
		t.Errorf("it hears that it ended by %q", got)
	}
}

// Two agents of one person that volunteer at once: one is a juror. Where one
// leaves and the other comes, each is one, or was.
func TestRaceOfOnePersonsJurors(t *testing.T) {
	t.Parallel()
	onBoth(t, judged(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		for i := range max(2, r.rounds()/4) {
			one, other := c.citizen(), c.citizen()
			person := "person of " + one.ID
			c.behind2(other, person, "")
			ask := func(a *transcripts.Agent, body string) *transcripts.Request {
				return c.request(a, "POST", "/v1/me/juror", body)
			}
			is := func(a *transcripts.Agent) bool {
				stands := c.item(tables.JurorKey(a.ID)) != nil
				if stands != c.item(tables.ProfileKey(a.ID)).Bool("juror") || stands != (c.item(tables.JurorClaimKey(person)).Str("agent") == a.ID) {
					t.Fatalf("round %d: of %s, pool, profile and claim differ", i, a.Name)
				}
				return stands
			}
			answers, n := c.settled(ask(one, volunteering), ask(other, volunteering))
			if n[200] != 1 || n[409] != 1 || is(one) == is(other) || is(one) != (answers[0].Status == 200) {
				t.Fatalf("round %d: %v", i, n)
			}
			in, out := one, other
			if is(other) {
				in, out = other, one
			}
			answers, n = c.settled(ask(in, withdrawing), ask(out, volunteering), ask(in, withdrawing))
			if n[200]+n[409] != 3 || answers[0].Status != 200 || answers[2].Status != 200 || is(in) || is(out) != (answers[1].Status == 200) {
				t.Fatalf("round %d: %v", i, n)
			}
		}
	})
}

// An agent that volunteers while somebody else comes to stand behind it is that
// one's juror, or nobody's.
func TestRaceOfVolunteeringAndOrigin(t *testing.T) {
	t.Parallel()
	onBoth(t, judged(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		for i := range max(2, r.rounds()/4) {
			a := c.citizen()
			address := fmt.Sprintf("another%d@gmail.com", i)
			c.want(c.call(a, "POST", "/v1/me/origin", email(address)), 202, "")
			requests := []*transcripts.Request{
				c.request(a, "POST", "/v1/me/juror", volunteering),
				c.request(a, "POST", "/v1/me/origin/verify", codeBody(c.code(address))),
			}
			answers, _ := c.settled(requests...)
			for i := range answers { // one was in the way of the other
				if answers[i].Text("error.code") == "busy" {
					answers[i] = c.steady(requests[i])
				}
			}
			j, person := c.item(tables.JurorKey(a.ID)), c.item(tables.OriginKey(a.ID)).Str("person")
			if answers[0].Status != 200 || answers[1].Status != 200 || person == "person of "+a.ID {
				t.Fatalf("round %d: %s, %s", i, answers[0].Body, answers[1].Body)
			}
			if (j != nil) != c.item(tables.ProfileKey(a.ID)).Bool("juror") || j != nil && j.Str("behind") != person ||
				(j != nil) != (c.item(tables.JurorClaimKey(person)) != nil) || c.item(tables.JurorClaimKey("person of "+a.ID)) != nil {
				t.Fatalf("round %d: the juror of %s is %v", i, person, j)
			}
		}
	})
}

// TestCheckOfADraw does with a closed case what /docs/jury tells, with what
// everybody can read, and nothing of the service's own code.
func TestCheckOfADraw(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, judged()))
	c.jurors(12)
	type public struct {
		ID    string
		Votes []struct{ Juror struct{ ID string } }
		Draw  struct {
			Commitment string
			Seed       *string
			Draws      []struct {
				N, Window, Seats int64
				Digest           string
				Jurors           []string
			}
		}
	}
	var before, drawn, closed public
	in := c.reports(c.citizen(), c.spams(c.citizen()))
	look := func(p *public) {
		t.Helper()
		if err := json.Unmarshal(c.want(c.call(nil, "GET", "/v1/cases/"+in, ""), 200, "").Body, p); err != nil {
			t.Fatal(err)
		}
	}
	look(&before)
	c.tick()
	c.advance(48*time.Hour + time.Second) // nobody votes, and others are drawn
	c.tick()
	look(&drawn)
	c.decides(in, "overturn")
	look(&closed)
	if closed.Draw.Seed == nil || drawn.Draw.Seed != nil || len(closed.Draw.Draws) != 2 || len(closed.Votes) != 3 {
		t.Fatalf("%+v", closed)
	}
	seed, err := hex.DecodeString(*closed.Draw.Seed)
	if err != nil {
		t.Fatal(err)
	}
	mac := func(lines ...string) string {
		h := hmac.New(sha256.New, seed)
		h.Write([]byte(strings.Join(lines, "\n")))
		return hex.EncodeToString(h.Sum(nil))
	}
	if made := mac("jury", in); made != before.Draw.Commitment || made != closed.Draw.Commitment {
		t.Errorf("the seed commits to %s", made)
	}
	var all []string
	for i, d := range closed.Draw.Draws {
		if made := mac(append([]string{"seats", in, fmt.Sprint(i)}, d.Jurors...)...); made != d.Digest || i < len(drawn.Draw.Draws) && made != drawn.Draw.Draws[i].Digest {
			t.Errorf("draw %d commits to %s", i, made)
		}
		if len(d.Jurors) != 5 || d.Seats != 5 || d.N != int64(i) || d.Window != int64(i) {
			t.Errorf("%+v", d)
		}
		for j, a := range d.Jurors {
			if j > 0 && mac("juror", in, a) <= mac("juror", in, d.Jurors[j-1]) || slices.Contains(all, a) {
				t.Errorf("draw %d, juror %d: is not in the seed's order, or was drawn before", i, j)
			}
			all = append(all, a)
		}
	}
	for _, v := range closed.Votes {
		if !slices.Contains(all, v.Juror.ID) {
			t.Errorf("%s was not drawn", v.Juror.ID)
		}
	}
}
