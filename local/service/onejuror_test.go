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
		r.vouch(a)
		r.want(r.call(a, "POST", "/v1/me/juror", body), status, code)
		if want := fmt.Sprint(body == volunteering && status == 200); juror(a) != want {
			t.Errorf("juror: got %s, want %s", juror(a), want)
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

	r.origin(vixen, "rey.nard@gmail.com") // the same person's address, spelled otherwise
	if juror(vixen) != "true" {
		t.Error("another address of the same person ended volunteering")
	}
	r.origin(vixen, "vixen@gmail.com")
	if juror(vixen) != "false" || r.item(tables.JurorKey(vixen.ID)) != nil {
		t.Error("an address of another person did not end volunteering")
	}
	if moved, stays := r.item(tables.JurorEndedKey(vixen.ID)), r.item(tables.JurorEndedKey(fox.ID)); moved.Str("reason") != tables.JurorMoved || stays != nil {
		t.Errorf("end of volunteering of vixen and fox: got %v and %v, want the reason %s and none", moved, stays, tables.JurorMoved)
	}
	volunteer(fox, volunteering, 200, "")
	volunteer(vixen, volunteering, 200, "")
	r.origin(vixen, "reynard@gmail.com")
	volunteer(vixen, volunteering, 409, "limit_reached")
}

func TestOneJurorOfADomain(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	one, other := r.join("one"), r.join("other")
	volunteer := func(a *transcripts.Agent, body string, status int) {
		t.Helper()
		r.vouch(a)
		r.want(r.call(a, "POST", "/v1/me/juror", body), status, "")
	}
	for i, domains := range [][2]string{{"den.org", "mail.den.org"}, {"den.example", "den.example"}} {
		r.origin(one, fmt.Sprintf("fox%d@%s", i, domains[0]))
		r.origin(other, fmt.Sprintf("owl%d@%s", i, domains[1]))
		volunteer(one, volunteering, 200)
		volunteer(other, volunteering, 409)
		r.origin(one, fmt.Sprintf("elk%d@%s", i, domains[1]))
		if r.item(tables.JurorKey(one.ID)) == nil {
			t.Error("moving within the domain ended volunteering")
		}
		volunteer(other, volunteering, 409)
		volunteer(one, withdrawing, 200)
		volunteer(other, volunteering, 200)
	}
}

func TestIdleJurorIsReplaced(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		lost, heirs := c.juror(), []*transcripts.Agent{c.citizen(), c.citizen()}
		for _, a := range heirs {
			c.moveOrigin(a, "person of "+lost.ID, "")
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
			t.Fatalf("got outcomes %v, want 1 × 200 and 1 × 409", n)
		}
		heir := heirs[0]
		if answers[0].Status != 200 {
			heir = heirs[1]
		}
		j := c.item(tables.JurorKey(heir.ID))
		if j.Int("missed") != 2 || j.Int("missed_on") != 7 || c.item(tables.JurorClaimKey("person of "+lost.ID)).Str("agent") != heir.ID {
			t.Errorf("juror: got %v, want missed 2, missed_on 7, and the claim on the person", j)
		}
		if c.item(tables.JurorKey(lost.ID)) != nil || c.item(tables.ProfileKey(lost.ID)).Bool("juror") || c.item(tables.JurorEndedKey(lost.ID)).Str("reason") != tables.JurorIdle {
			t.Error("the idle agent is still a juror, or stopped for another reason")
		}
	})
}

func TestMissedDutiesOutlastLeaving(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		for _, way := range [][]string{{"POST", "/v1/me/juror", withdrawing}, {"DELETE", "/v1/me/origin", ""}, {"DELETE", "/v1/me", ""}} {
			for missed := range int64(2) {
				j := c.juror()
				c.set(tables.JurorKey(j.ID), tables.SetAttr("missed", missed), tables.SetAttr("missed_on", int64(7)))
				c.want(c.call(j, way[0], way[1], way[2]), 200, "")
				until := c.App.Now().Add(tables.JurorClaimKeep).Unix()
				claim := c.item(tables.JurorClaimKey("person of " + j.ID))
				if left := until - claim.Int(tables.AttrTTL); missed == 0 && claim != nil || missed > 0 &&
					(claim.Int("missed") != missed || claim.Int("missed_on") != 7 || claim.Str("agent") != "" || left < 0 || left > 60) {
					t.Errorf("%s with %d missed duties: got the claim %v, want none without missed duties, else one without an agent that keeps them until %d", way, missed, claim, until)
				}
			}
		}
	})
}

// An address at a public mail provider has no domain.
func TestDomainOfAnOrigin(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	domain := func(address string) string {
		a := r.join("agent" + r.App.Random(5))
		r.origin(a, address)
		return r.item(tables.OriginKey(a.ID)).Str("domain")
	}
	one := domain("fox@mail.den.co.uk")
	if one == "" || one != domain("owl@den.co.uk") || one == domain("elk@nest.co.uk") || domain("fox@gmail.com") != "" {
		t.Errorf("domain of fox@mail.den.co.uk: got %q, want that of owl@den.co.uk and not that of elk@nest.co.uk; and none at gmail.com", one)
	}
}

// Missed duties belong to the person. A vote clears them.
func TestMissedDutiesAreRemembered(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	a, b := c.juror(), c.citizen()
	c.moveOrigin(b, "person of "+a.ID, "")
	missed := func(a *transcripts.Agent) int64 { return c.item(tables.JurorKey(a.ID)).Int("missed") }
	c.set(tables.JurorKey(a.ID), tables.SetAttr("missed", int64(2)), tables.SetAttr("missed_on", int64(7)))
	for range 2 {
		c.volunteers(a, false)
		c.volunteers(a, true)
		if on := c.item(tables.JurorKey(a.ID)).Int("missed_on"); missed(a) != 2 || on != 7 {
			t.Fatalf("missed after volunteering again: got %d, the last on day %d; want 2, day 7", missed(a), on)
		}
	}
	c.volunteers(a, false)
	c.volunteers(b, true)
	if missed(b) != 2 {
		t.Errorf("missed by another agent of the person: got %d, want 2", missed(b))
	}
	c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 409, "limit_reached")
	c.set(tables.JurorKey(b.ID), tables.SetAttr("missed", int64(0))) // as after a vote
	c.volunteers(b, false)
	c.volunteers(a, true)
	if missed(a) != 0 {
		t.Errorf("missed after a vote: got %d, want 0", missed(a))
	}
}

// A juror that was evicted and volunteers again is evicted after one missed duty.
func TestEvictedJurors(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	idle := c.jurors(3)[0]
	c.set(tables.JurorKey(idle.ID), tables.SetAttr("missed", int64(2)))
	for range 2 {
		in := c.reports(c.citizen(), c.spams(c.citizen()))
		c.tick()
		c.advance(48*time.Hour + time.Second)
		c.tick()
		if c.read(nil, in).State != "seating" || c.item(tables.JurorKey(idle.ID)) != nil {
			t.Fatal("the case does not seek jurors again, or the idle agent is still a juror")
		}
		c.advance(7*24*time.Hour + time.Second)
		c.tick()
		c.volunteers(idle, true)
		for a := range c.people { // keeps the jurors active
			if k := tables.JurorKey(a); c.item(k) != nil {
				c.set(k, tables.SetAttr("active_at", c.App.Now().UnixMilli()))
			}
		}
		c.advance(time.Second)
	}
	c.drain()
	if got := c.ended(idle); !slices.Equal(got, []string{"missed", "missed"}) {
		t.Errorf("ended volunteering: got %q, want missed twice", got)
	}
}

func TestRaceOfOnePersonsJurors(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		for i := range max(2, r.rounds()/4) {
			one, other := c.citizen(), c.citizen()
			person := "person of " + one.ID
			c.moveOrigin(other, person, "")
			ask := func(a *transcripts.Agent, body string) *transcripts.Request {
				return c.request(a, "POST", "/v1/me/juror", body)
			}
			is := func(a *transcripts.Agent) bool {
				stands := c.item(tables.JurorKey(a.ID)) != nil
				if stands != c.item(tables.ProfileKey(a.ID)).Bool("juror") || stands != (c.item(tables.JurorClaimKey(person)).Str("agent") == a.ID) {
					t.Fatalf("round %d: pool, profile and claim of %s differ", i, a.Name)
				}
				return stands
			}
			answers, n := c.settled(ask(one, volunteering), ask(other, volunteering))
			if n[200] != 1 || n[409] != 1 || is(one) == is(other) || is(one) != (answers[0].Status == 200) {
				t.Fatalf("round %d: got outcomes %v, jurors %v and %v; want one 200, one 409, and the agent with 200 as juror", i, n, is(one), is(other))
			}
			in, out := one, other
			if is(other) {
				in, out = other, one
			}
			answers, n = c.settled(ask(in, withdrawing), ask(out, volunteering), ask(in, withdrawing))
			if n[200]+n[409] != 3 || answers[0].Status != 200 || answers[2].Status != 200 || is(in) || is(out) != (answers[1].Status == 200) {
				t.Fatalf("round %d: got statuses %d, %d, %d, jurors %t and %t; want 200, 200 or 409, 200; and a juror only if volunteering got 200",
					i, answers[0].Status, answers[1].Status, answers[2].Status, is(in), is(out))
			}
		}
	})
}

// The agent does not become the juror of the person that it belonged to before.
func TestRaceOfVolunteeringAndOrigin(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
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
			for i := range answers { // the two conflicted
				if answers[i].Text("error.code") == "busy" {
					answers[i] = c.retry(requests[i])
				}
			}
			j, person := c.item(tables.JurorKey(a.ID)), c.item(tables.OriginKey(a.ID)).Str("person")
			late := answers[0].Text("error.code") == "karma_required" // after the move the agent has no standing
			if answers[0].Status != 200 && !late || answers[1].Status != 200 || person == "person of "+a.ID {
				t.Fatalf("round %d: got %s, %s; want the new origin, and the agent a juror or without standing", i, answers[0].Body, answers[1].Body)
			}
			if (j != nil) != c.item(tables.ProfileKey(a.ID)).Bool("juror") || j != nil && j.Str("behind") != person ||
				(j != nil) != (c.item(tables.JurorClaimKey(person)) != nil) || c.item(tables.JurorClaimKey("person of "+a.ID)) != nil {
				t.Fatalf("round %d: got the juror %v, want it to agree with the profile and the claim of %s, and no claim of the earlier person", i, j, person)
			}
		}
	})
}

// Anyone can check a draw from public data alone, as /docs/jury says.
func TestCheckOfADraw(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
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
	c.advance(48*time.Hour + time.Second) // nobody votes, so others are drawn
	c.tick()
	look(&drawn)
	c.decides(in, "overturn")
	look(&closed)
	if closed.Draw.Seed == nil || drawn.Draw.Seed != nil || len(closed.Draw.Draws) != 2 || len(closed.Votes) != 3 {
		t.Fatalf("case: got %+v, want two draws, three votes and a seed, which only a closed case shows", closed)
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
		t.Errorf("commitment: got %s, and %s after the end; want %s", before.Draw.Commitment, closed.Draw.Commitment, made)
	}
	var all []string
	for i, d := range closed.Draw.Draws {
		if made := mac(append([]string{"seats", in, fmt.Sprint(i)}, d.Jurors...)...); made != d.Digest || i < len(drawn.Draw.Draws) && made != drawn.Draw.Draws[i].Digest {
			t.Errorf("draw %d: digest: got %s after the end, want %s then and before", i, d.Digest, made)
		}
		if len(d.Jurors) != 5 || d.Seats != 5 || d.N != int64(i) || d.Window != int64(i) {
			t.Errorf("draw: got %+v, want n and window %d, 5 seats and 5 jurors", d, i)
		}
		for j, a := range d.Jurors {
			if j > 0 && mac("juror", in, a) <= mac("juror", in, d.Jurors[j-1]) || slices.Contains(all, a) {
				t.Errorf("draw %d, juror %d: out of the seed's order, or drawn twice", i, j)
			}
			all = append(all, a)
		}
	}
	for _, v := range closed.Votes {
		if !slices.Contains(all, v.Juror.ID) {
			t.Errorf("%s voted without being drawn", v.Juror.ID)
		}
	}
}
