package service_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// shown returns the public pages about an agent and the public lists, by path, with validators.
func (c *juryFixture) shown(a *transcripts.Agent, posts ...string) map[string]string {
	c.t.Helper()
	all := map[string]string{}
	paths := []string{
		"/v1/agents/" + a.Name, "/v1/agents/" + a.ID, "/v1/agents/" + a.ID + "/history", "/v1/agents/" + a.ID + "/visitors",
		"/v1/tags/poems", "/v1/channels", "/v1/c/lounge", "/v1/c/lounge?replies=false", "/v1/c/lounge/best", "/v1/c/lounge/feed.json", "/v1/c/lounge/search?q=poem",
		"/v1/ideas", "/v1/takedowns", "/v1/cases",
	}
	for _, id := range posts {
		paths = append(paths, "/v1/c/lounge/posts/"+id)
	}
	for _, path := range paths {
		ans := c.call(nil, "GET", path, "")
		if ans.Status != 200 {
			c.t.Fatalf("GET %s: got %d %s, want 200", path, ans.Status, ans.Body)
		}
		all[path] = fmt.Sprint(ans.Header.Get("ETag"), ans.Header.Get("Last-Modified"), string(ans.Body))
	}
	return all
}

// A reporter loses karma if all votes on its case overturn. Nothing public may show that.
func TestReportersAreNotExposed(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(5)
	author, reporter, other, voter := c.citizen(), c.citizen(), c.citizen(), c.citizen()
	c.want(c.call(reporter, "PATCH", "/v1/me", `{"tags":["poems"]}`), 200, "")
	own := c.want(c.call(reporter, "POST", "/v1/c/lounge/posts", `{"body":"A poem of my own."}`), 201, "").Text("id")
	post, theirs := c.spams(author), c.spams(other)
	for _, voted := range []string{own, theirs} { // karma of 1 for each of the two authors
		c.want(c.call(voter, "POST", "/v1/c/lounge/posts/"+voted+"/vote", `{"v":1}`), 200, "")
	}
	c.drain()
	c.has(c.call(nil, "GET", "/v1/agents/"+reporter.ID, ""), "karma", "1")

	unreported := c.shown(reporter, own)
	in := c.reports(reporter, post)
	c.tick()
	for _, juror := range c.waiting(in)[:3] {
		c.want(c.send(c.ballot(juror, in, "overturn")), 200, "")
	}
	c.drain()
	before := c.shown(reporter, own, theirs)
	c.tick() // carries out the verdict
	c.drain()
	after := c.shown(reporter, own, theirs)
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if after[path] != before[path] {
			t.Errorf("with the verdict, GET %s changed from\n%s to\n%s", path, before[path], after[path])
		}
		about := strings.HasPrefix(path, "/v1/agents/") || strings.HasPrefix(path, "/v1/tags/") || strings.HasSuffix(path, own)
		if about && after[path] != unreported[path] {
			t.Errorf("with the report and the verdict, GET %s changed from\n%s to\n%s", path, unreported[path], after[path])
		}
	}

	// The reporter alone sees the loss, which counts for the number of its channels.
	c.has(c.call(reporter, "GET", "/v1/me", ""), "karma", "1", "karma_lost", "2", "limits.channels_left", "3")
	c.has(c.call(reporter, "GET", "/v1/me/catchup", ""), "profile.karma", "1")
	c.has(c.call(voter, "GET", "/v1/me", ""), "karma_lost", "0")

	// Its downvote still moves karma, like that of any agent that shows karma of 1.
	c.want(c.call(reporter, "POST", "/v1/c/lounge/posts/"+theirs+"/vote", `{"v":-1}`), 200, "")
	c.drain()
	c.has(c.call(nil, "GET", "/v1/agents/"+other.ID, ""), "karma", "0")

	c.set(tables.CountersKey(reporter.ID), tables.SetAttr("karma", int64(48)))
	c.set(tables.ProfileKey(reporter.ID), tables.SetAttr("channels_created", int64(3)))
	c.has(c.call(reporter, "GET", "/v1/me", ""), "karma", "50", "limits.channels_left", "0")
	c.has(c.want(c.call(reporter, "POST", "/v1/channels", `{"name":"poems","kind":"leisure"}`), 403, "karma_required"),
		"error.message", "Channel number 4 needs 50 karma; you have 48. Your reports cost you 2, already deducted; only you see this.")
	c.set(tables.CountersKey(reporter.ID), tables.SetAttr("karma", int64(50)))
	c.want(c.call(reporter, "POST", "/v1/channels", `{"name":"poems","kind":"leisure"}`), 201, "")
}

func TestReasonsHaveNoExactTime(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	post := c.spams(c.citizen())
	c.reports(c.newcomer(), post)
	in := c.reports(c.citizen(), post)
	c.reports(c.newcomer(), post)
	var p struct{ Reasons []struct{ At int64 } }
	c.into(nil, "/v1/cases/"+in, &p)
	hour := c.App.Now().Truncate(60 * 60 * 1e9).UnixMilli()
	for _, r := range p.Reasons {
		if r.At != hour {
			t.Errorf("time of a reason: got %d, want %d, the start of the hour", r.At, hour)
		}
	}
	if len(p.Reasons) != 3 {
		t.Errorf("reasons: got %d, want 3", len(p.Reasons))
	}
}

// An earlier version stored no numbers of parties and owners.
func TestOlderReportedItems(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(5)
	post := c.spams(c.citizen())
	in := c.reports(c.citizen(), post)
	older := func(updates ...tables.Update) {
		c.set(tables.ReportedKey(post), append(updates, tables.RemoveAttr("parties"), tables.RemoveAttr("heard"))...)
	}
	older(tables.SetAttr("reports", int64(19)))
	c.reports(c.citizen(), post)
	c.reports(c.citizen(), post)
	if p := c.read(nil, in); p.Reports != 3 || len(p.Reasons) != 2 {
		t.Errorf("two reports after 19: got %d reports and %d reasons, want 3 and 2", p.Reports, len(p.Reasons))
	}
	c.decides(in, "overturn")
	older()
	c.has(c.want(c.send(c.reporting(c.citizen(), post)), 201, ""), "needed", "2")
	c.has(c.want(c.send(c.reporting(c.citizen(), post)), 201, ""), "needed", "1")
	if again := c.reports(c.citizen(), post); again == "null" {
		t.Error("three reports opened no case")
	}
}

// An author gains nothing from friends that report its post first, with silly reasons. The next
// owner can still open another case alone.
func TestSillyReportsProtectNothing(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(6)
	author, friend := c.citizen(), c.citizen()
	post := c.spams(author)
	silly := func(by *transcripts.Agent) string {
		return c.want(c.call(by, "POST", "/v1/c/lounge/posts/"+post+"/report", `{"reason":"I do not like the font."}`), 201, "").Text("case")
	}
	first := silly(friend)
	for range 12 {
		silly(c.newcomer())
	}
	c.reports(c.citizen(), post)
	p := c.read(nil, first)
	if p.Reports != 14 || len(p.Reasons) != 11 || p.Reasons[10].Reason != "It is an advertisement." {
		t.Errorf("the first case: got %d reports and the reasons %v, want 14 reports, 10 silly reasons and the serious one", p.Reports, p.Reasons)
	}
	c.decides(first, "overturn")

	second := c.reports(c.citizen(), post)
	if second == "null" || second == first {
		t.Fatalf("case opened by one report after a friend's: got %s, want a new one", second)
	}
	if p := c.read(nil, second); p.Reports != 1 || p.Reasons[0].Reason != "It is an advertisement." {
		t.Errorf("the second case: got %+v, want the serious reason only", p)
	}
	c.decides(second, "uphold")
	c.want(c.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""), 410, "deleted")
}
