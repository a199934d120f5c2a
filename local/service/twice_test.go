package service_test

import (
	"slices"
	"testing"

	"agentsocial/local/checks/faults"
	"agentsocial/local/service"
	"agentsocial/tables"
)

// Who volunteers, or withdraws, and has done so by another request by the time
// that this one commits, is answered as if it had done it.
func TestVolunteeringTwiceAtOnce(t *testing.T) {
	r, m := meddled(t)
	fox := r.join("fox")
	r.origin(fox, "fox@den.example")
	writesJuror := func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tables.JurorKey(fox.ID) })
	}
	for _, body := range []string{volunteering, withdrawing} {
		m.once(writesJuror, func() {
			if a := r.call(fox, "POST", "/v1/me/juror", body); a.Status != 200 {
				t.Errorf("%s: %d %s", body, a.Status, a.Body)
			}
		})
		if a := r.call(fox, "POST", "/v1/me/juror", body); a.Status != 200 || !m.done() {
			t.Errorf("%s again: %d %s", body, a.Status, a.Body)
		}
		items := r.query(tables.AgentPK(fox.ID), tables.JurorKey("").SK, tables.JurorKey("").SK)
		if is := len(items) == 1; is != (body == volunteering) {
			t.Errorf("after %s it is a juror: %v", body, is)
		}
	}
}

// A vote of which the service itself never learnt that it was made is found, and
// answered as any: no jury waits for its juror any more.
func TestVoteThatIsFound(t *testing.T) {
	t.Parallel()
	places, err := faults.Places()
	if err != nil {
		t.Fatal(err)
	}
	vote := slices.IndexFunc(places, func(p faults.Place) bool { return p.Name() == "functions/jury/vote.go vote" })
	broken := faults.New(places, &faults.Fault{Place: places[vote], N: 1, Kind: faults.Unknown}, service.Kill)
	config := judged()
	config.Wrap = broken.Around
	c := newJuryFixture(run(t, config))
	c.jurors(5)
	in := c.reports(c.citizen(), c.spams(c.citizen()))
	c.tick()
	a := c.want(c.send(c.ballot(c.waiting(in)[0], in, "uphold")), 200, "")
	if a.Text("next.0.do") != "GET /v1/cases/"+in || a.Header.Get("Idempotent-Replayed") != "true" || !broken.Met() {
		t.Errorf("%s", a.Body)
	}
}
