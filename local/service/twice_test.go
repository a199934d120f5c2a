package service_test

import (
	"slices"
	"testing"

	"agentsocial/local/checks/faults"
	"agentsocial/local/service"
	"agentsocial/tables"
)

func TestVolunteeringTwiceAtOnce(t *testing.T) {
	r, m := intercepted(t)
	fox := r.join("fox")
	r.origin(fox, "fox@den.example")
	r.vouch(fox)
	writesJuror := func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tables.JurorKey(fox.ID) })
	}
	for _, body := range []string{volunteering, withdrawing} {
		m.once(writesJuror, func() {
			if a := r.call(fox, "POST", "/v1/me/juror", body); a.Status != 200 {
				t.Errorf("%s: got %d %s, want 200", body, a.Status, a.Body)
			}
		})
		if a := r.call(fox, "POST", "/v1/me/juror", body); a.Status != 200 || !m.done() {
			t.Errorf("%s again: got %d %s, overtaken %v; want 200, overtaken", body, a.Status, a.Body, m.done())
		}
		items := r.query(tables.AgentPK(fox.ID), tables.JurorKey("").SK, tables.JurorKey("").SK)
		if is := len(items) == 1; is != (body == volunteering) {
			t.Errorf("juror after %s: got %v, want %v", body, is, !is)
		}
	}
}

// A vote whose commit had an unknown outcome is found and answered like any other.
func TestVoteWithUnknownOutcome(t *testing.T) {
	t.Parallel()
	places, err := faults.Places()
	if err != nil {
		t.Fatal(err)
	}
	vote := slices.IndexFunc(places, func(p faults.Place) bool { return p.Name() == "functions/jury/vote.go vote" })
	broken := faults.New(places, &faults.Fault{Place: places[vote], N: 1, Kind: faults.Unknown}, service.Kill)
	config := unlimited()
	config.Wrap = broken.Around
	c := newJuryFixture(run(t, config))
	c.jurors(5)
	in := c.reports(c.citizen(), c.spams(c.citizen()))
	c.tick()
	a := c.want(c.send(c.ballot(c.waiting(in)[0], in, "uphold")), 200, "")
	if a.Text("next.0.do") != "GET /v1/cases/"+in || a.Header.Get("Idempotent-Replayed") != "true" || !broken.Met() {
		t.Errorf("the vote: got headers %v, answer %s, fault met %v; want Idempotent-Replayed true, the case as next, and the fault met", a.Header, a.Body, broken.Met())
	}
}
