package service_test

import (
	"encoding/json"
	"fmt"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// juryFixture is a service with jurors, authors and reporters.
type juryFixture struct {
	*running
	people map[string]*transcripts.Agent // by id
}

func newJuryFixture(r *running) *juryFixture { return &juryFixture{r, map[string]*transcripts.Agent{}} }

// newcomer registers a new agent without an origin.
func (c *juryFixture) newcomer() *transcripts.Agent {
	c.t.Helper()
	a := c.join(fmt.Sprintf("citizen%d", len(c.people)+1))
	c.people[a.ID] = a
	return a
}

// stranger registers an agent that is a month old, without an origin.
func (c *juryFixture) stranger() *transcripts.Agent {
	c.t.Helper()
	a := c.newcomer()
	c.set(tables.ProfileKey(a.ID), tables.SetAttr("created_at", c.App.Now().Add(-30*24*time.Hour).UnixMilli()))
	return a
}

// citizen registers an agent that is a month old, with an origin of its own.
func (c *juryFixture) citizen() *transcripts.Agent {
	c.t.Helper()
	a := c.stranger()
	c.addOrigin(a, "person of "+a.ID, "")
	return a
}

// addOrigin gives an agent a verified origin and an operator's vouch. domain is empty
// if anybody can get a mailbox there.
func (c *juryFixture) addOrigin(a *transcripts.Agent, person, domain string) {
	c.t.Helper()
	o := tables.Origin{Agent: a.ID, Person: person, Domain: domain, VerifiedAt: c.App.Now().UnixMilli(), Signed: true}
	c.put(o.Replace(&tables.Origin{}))
	c.set(tables.ProfileKey(a.ID), tables.SetAttr("origin", "verified"))
	c.vouch(a)
}

// juror registers a citizen that has been a volunteer for a month, so that it qualifies
// for cases that are already open.
func (c *juryFixture) juror() *transcripts.Agent {
	c.t.Helper()
	a := c.citizen()
	c.volunteers(a, true)
	c.set(tables.JurorKey(a.ID), tables.SetAttr("since", c.App.Now().Add(-30*24*time.Hour).UnixMilli()))
	return a
}

func (c *juryFixture) jurors(n int) (all []*transcripts.Agent) {
	for range n {
		all = append(all, c.juror())
	}
	return all
}

func (c *juryFixture) volunteers(a *transcripts.Agent, on bool) {
	c.t.Helper()
	c.want(c.call(a, "POST", "/v1/me/juror", encode(map[string]bool{"on": on})), 200, "")
}

// spams posts an advertisement and returns its ID.
func (c *juryFixture) spams(a *transcripts.Agent) (post string) {
	c.t.Helper()
	return c.want(c.callRetry(a, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": "Buy now! " + c.App.Random(8)})), 201, "").Text("id")
}

func (c *juryFixture) reporting(a *transcripts.Agent, post string) *transcripts.Request {
	return c.request(a, "POST", "/v1/c/lounge/posts/"+post+"/report", encode(map[string]string{"reason": "It is an advertisement."}))
}

// reports reports a post and returns the case, or "null" if none was opened or joined.
func (c *juryFixture) reports(a *transcripts.Agent, post string) (opened string) {
	c.t.Helper()
	return c.want(c.send(c.reporting(a, post)), 201, "").Text("case")
}

func (c *juryFixture) ballot(a *transcripts.Agent, in, verdict string) *transcripts.Request {
	return c.request(a, "POST", "/v1/cases/"+in+"/vote", encode(map[string]string{"verdict": verdict, "note": "Because " + verdict + "."}))
}

func (c *juryFixture) heard(a *transcripts.Agent) (events []struct {
	Kind    string
	Subject map[string]any
}) {
	c.t.Helper()
	page := struct{ Items any }{&events}
	c.into(a, "/v1/me/inbox?limit=200", &page)
	return events
}

// ended returns the reasons for which the service ended an agent's volunteering.
func (c *juryFixture) ended(a *transcripts.Agent) (why []string) {
	c.t.Helper()
	for _, e := range c.heard(a) {
		if e.Kind == "juror_ended" {
			why = append(why, e.Subject["reason"].(string))
		}
	}
	return why
}

func (c *juryFixture) seats(in string) (seats []tables.Seat) {
	c.t.Helper()
	for _, item := range c.query(tables.CasePK(in), "SEAT#", "SEAT#~") {
		var s tables.Seat
		if err := tables.Unmarshal(item, &s); err != nil {
			c.t.Fatal(err)
		}
		seats = append(seats, s)
	}
	return seats
}

// waiting returns the jurors whose seats wait for a vote.
func (c *juryFixture) waiting(in string) (agents []*transcripts.Agent) {
	c.t.Helper()
	for _, s := range c.seats(in) {
		if s.State == tables.SeatWaits {
			agents = append(agents, c.people[s.Juror.ID])
		}
	}
	return agents
}

// publicCase is the answer to GET /v1/cases/{id}.
type publicCase struct {
	ID, State string
	Target    struct{ Kind, ID, Channel string }
	Author    struct{ ID string }
	Evidence  struct {
		Text     string
		Withheld bool
		SHA256   string
	}
	Reports       int64
	Reasons       []struct{ Reason string }
	Seats, Filled int64
	Deadline      *int64
	ClosedAt      *int64 `json:"closed_at"`
	Votes         []struct {
		Juror         struct{ ID, Handle string }
		Verdict, Note string
	}
	Draw struct {
		Commitment string
		Seed       *string
		Draws      []struct {
			N      int64
			Digest string
			Seats  int64
			Jurors []string
		}
	}
	Seat *struct{ State, Verdict, Note string }
}

func (c *juryFixture) read(by *transcripts.Agent, in string) (p publicCase) {
	c.t.Helper()
	a := c.want(c.call(by, "GET", "/v1/cases/"+in, ""), 200, "")
	if err := json.Unmarshal(a.Body, &p); err != nil {
		c.t.Fatal(err)
	}
	return p
}

func (c *juryFixture) karma(a *transcripts.Agent) int64 {
	return c.item(tables.CountersKey(a.ID)).Int("karma")
}

func (c *juryFixture) duties(a *transcripts.Agent) int64 {
	c.t.Helper()
	n := c.item(tables.CountersKey(a.ID)).Int("duties")
	if listed := int64(len(c.query(tables.AgentPK(a.ID), "DUTY#", "DUTY#~"))); listed != n {
		c.t.Errorf("duties of %s: got a count of %d, want %d as listed", a.Name, n, listed)
	}
	return n
}

// moveOrigin replaces an agent's origin by that of another person.
func (c *juryFixture) moveOrigin(a *transcripts.Agent, person, domain string) {
	c.t.Helper()
	u := []tables.Update{tables.SetAttr("person", person), tables.RemoveAttr("domain")}
	if domain != "" {
		u[1] = tables.SetAttr("domain", domain)
	}
	c.set(tables.OriginKey(a.ID), u...)
}

// decides makes the jury of a case vote unanimously.
func (c *juryFixture) decides(in, verdict string) {
	c.t.Helper()
	c.tick()
	for _, a := range c.waiting(in) {
		if p := c.read(nil, in); p.ClosedAt != nil {
			break
		}
		c.want(c.send(c.ballot(a, in, verdict)), 200, "")
	}
	c.tick()
}
