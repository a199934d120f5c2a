package service_test

import (
	"slices"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// No juror has the owner that the author or a reporter had at the time of the report.
// Removing the origin, or being erased, does not change that.
func TestForgottenOriginsSeatNobody(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.t = t
		author, waiter, opener, erased, joiner := c.citizen(), c.citizen(), c.citizen(), c.citizen(), c.citizen()
		c.set(tables.OriginKey(waiter.ID), tables.SetAttr("throwaway", true))
		parties := []*transcripts.Agent{author, waiter, opener, erased, joiner}
		party := map[string]string{} // the ID of a juror → the ID of the party with the same owner
		for _, a := range parties {
			j := c.juror()
			c.moveOrigin(j, "person of "+a.ID, "")
			party[j.ID] = a.ID
		}
		c.jurors(3)
		post, other := c.spams(author), c.spams(author)
		if in := c.reports(waiter, post); in != "null" {
			t.Fatalf("got case %s, want the report to wait", in)
		}
		in, second := c.reports(opener, post), c.reports(erased, other)
		if joined := c.reports(joiner, post); joined != in {
			t.Fatalf("the joiner's report: got case %s, want %s", joined, in)
		}
		barred := map[string][]string{in: {author.ID, waiter.ID, opener.ID, joiner.ID}, second: {author.ID, erased.ID}}
		for _, a := range []*transcripts.Agent{author, waiter, opener, joiner} {
			c.want(c.send(c.request(a, "DELETE", "/v1/me/origin", "")), 200, "")
		}
		c.erases(erased)
		for range 2 {
			c.advance(2 * time.Minute)
			c.want(c.call(nil, "POST", "/_local/tick", object("name", "erase")), 200, "")
		}
		c.tick()
		for _, name := range []string{in, second} {
			seats := c.seats(name)
			if len(seats) < 3 {
				t.Errorf("%s: got %d jurors, want at least the 3 of other owners", name, len(seats))
			}
			for _, s := range seats {
				if slices.Contains(barred[name], party[s.Juror.ID]) {
					t.Errorf("%s: a juror has the owner of %s, one of %v", name, party[s.Juror.ID], barred[name])
				}
			}
			if item := c.item(tables.ErasureKey(erased.ID)); name == second && item == nil {
				t.Error("the erasure has ended before the case")
			}
		}
		c.decides(in, "uphold")
		c.decides(second, "uphold")
		for range 4 {
			c.advance(6 * time.Minute)
			c.want(c.call(nil, "POST", "/_local/tick", object("name", "erase")), 200, "")
		}
		for _, name := range []string{in, second} {
			if k := c.item(tables.CaseKey(name)); k["barred"] != nil || name == second && k["openers"] != nil {
				t.Errorf("%s: got barred %v and openers %v after its end; want no barred, and no openers of %s", name, k["barred"], k["openers"], second)
			}
		}
		if c.item(tables.ErasureKey(erased.ID)) != nil {
			t.Error("the erasure has not ended after the case")
		}
	})
}
