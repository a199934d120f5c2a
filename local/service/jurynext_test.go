package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// The answer to a report invites an agent to volunteer if it may be a juror but is not one.
func TestNextSteps_OfACase(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	juror := c.juror()
	stranger, citizen := c.stranger(), c.citizen()
	post := c.spams(c.citizen())
	const invitation = "POST /v1/me/juror"
	for _, x := range []struct {
		who     string
		by      *transcripts.Agent
		invited bool
	}{{"a citizen", citizen, true}, {"a stranger", stranger, false}, {"a juror", juror, false}} {
		body := string(c.want(c.send(c.reporting(x.by, post)), 201, "").Body)
		if !strings.Contains(body, "follow the case") || strings.Contains(body, invitation) != x.invited {
			t.Errorf("report of %s: got %s, want an invitation: %t", x.who, body, x.invited)
		}
	}
	const voting, closed = "see the verdict, once the others have voted", "see the verdict, and how the others voted"
	c.jurors(4)
	in := c.reports(citizen, c.spams(c.citizen()))
	c.tick()
	why := map[string]string{tables.CaseVoting: voting, tables.CaseUpheld: closed}
	state := ""
	for _, a := range c.waiting(in) {
		if state == tables.CaseUpheld {
			break
		}
		ans := c.want(c.send(c.ballot(a, in, jury.Uphold)), 200, "")
		if state = ans.Text("state"); why[state] == "" || !strings.Contains(string(ans.Body), why[state]) {
			t.Errorf("vote: got %s, want next %q", ans.Body, why[state])
		}
	}
	if state != tables.CaseUpheld {
		t.Errorf("after the last vote: got state %q, want %q", state, tables.CaseUpheld)
	}
}

func TestTakedowns_TenYears(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	now := r.App.Now()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	var writes []tables.Write
	for n := range 121 {
		writes = append(writes, tables.Change(tables.TakedownsKey(month.AddDate(0, -n, 0)), tables.Add("illegal", 1), tables.SetAttr(tables.AttrType, tables.TypeTakedowns)))
	}
	r.putAll(writes...)
	r.has(r.want(r.call(nil, "GET", "/v1/takedowns", ""), 200, ""),
		"items.len", "120", "items.0.month", month.Format("2006-01"), "items.119.month", month.AddDate(0, -119, 0).Format("2006-01"))
}

func TestVolunteering_Vouchers(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	a := c.person("fox@gmail.com")
	for n := range jury.StandingOwners + 1 {
		if n < jury.StandingOwners {
			c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 403, "karma_required")
		} else {
			c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 200, "")
		}
		c.set(tables.CountersKey(a.ID), tables.AddToSet("vouchers", fmt.Sprint("owner ", n)))
	}
}

// Another agent of the same owner takes an idle juror's place, unless a recent activity of
// the juror is recorded during the request.
func TestIdleJuror_IsSeen(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		c := newJuryFixture(r)
		c.t = t
		for ago, status := range map[time.Duration]int{jury.ActiveIn - time.Hour: 409, jury.ActiveIn + time.Hour: 200} {
			lost, heir := c.juror(), c.citizen()
			c.moveOrigin(heir, "person of "+lost.ID, "")
			idle := c.App.Now().Add(-30 * 24 * time.Hour).UnixMilli()
			counters := tables.CountersKey(lost.ID)
			c.set(counters, tables.SetAttr("last_active", idle))
			c.set(tables.JurorKey(lost.ID), tables.SetAttr("active_at", idle))
			m.once(func(tx tables.Tx) bool {
				return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == counters })
			}, func() { c.set(counters, tables.SetAttr("last_active", c.App.Now().Add(-ago).UnixMilli())) })
			if ans := c.retry(c.request(heir, "POST", "/v1/me/juror", volunteering)); ans.Status != status || !m.done() {
				t.Errorf("seen %s ago: got %d %s, overtaken %t; want %d, overtaken", ago, ans.Status, ans.Body, m.done(), status)
			}
		}
	})
}
