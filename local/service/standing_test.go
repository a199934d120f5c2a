package service_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// person registers an agent that is a month old, with a verified address.
func (c *juryFixture) person(address string) *transcripts.Agent {
	c.t.Helper()
	a := c.stranger()
	c.origin(a, address)
	return a
}

// upvotes lets an agent upvote a new post of another, and waits until that is counted.
func (c *juryFixture) upvotes(by, of *transcripts.Agent) (post string) {
	c.t.Helper()
	post = c.spams(of)
	c.want(c.call(by, "POST", "/v1/c/lounge/posts/"+post+"/vote", `{"v":1}`), 200, "")
	c.drain()
	return post
}

func (c *juryFixture) needs(a *transcripts.Agent) int64 {
	c.t.Helper()
	n, err := strconv.ParseInt(c.want(c.call(a, "GET", "/v1/me", ""), 200, "").Text("vouchers_needed"), 10, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

func (c *juryFixture) wants(what string, a *transcripts.Agent, want int64) {
	c.t.Helper()
	if got := c.needs(a); got != want {
		c.t.Errorf("vouchers needed %s: got %d, want %d", what, got, want)
	}
}

// Standing comes from the upvotes of agents with standing: of three owners, or of one
// operator.
func TestStanding(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		a := c.person("fox@gmail.com")
		c.wants("at first", a, 3)
		c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 403, "karma_required")
		stranger := c.person("stranger@gmail.com")
		c.upvotes(stranger, a)
		c.wants("after the vote of an agent without standing", a, 3)
		c.upvotes(c.stranger(), a)
		c.wants("after the vote of an agent without an origin", a, 3)

		one := c.citizen()
		post := c.upvotes(one, a)
		c.wants("after the vote of an agent with standing", a, 2)
		c.want(c.call(one, "POST", "/v1/c/lounge/posts/"+post+"/vote", `{"v":0}`), 200, "")
		if vote := c.item(tables.VoteKey(post, one.ID, true)); vote.Str("vouches")+vote.Str("behind") != "" {
			t.Errorf("a withdrawn vote: got %v, want neither vouches nor behind", vote)
		}
		c.upvotes(one, a)
		c.wants("after the vote was withdrawn, and another by the same agent", a, 2)
		same := c.stranger()
		c.addOrigin(same, "person of "+one.ID, "")
		c.upvotes(same, a)
		c.wants("after the vote of another agent of that owner", a, 2)
		own := c.stranger()
		c.addOrigin(own, c.item(tables.OriginKey(a.ID)).Str("person"), "")
		c.upvotes(own, a)
		c.wants("after the vote of another agent of its own owner", a, 2)
		spent := c.person("owl@gmail.com")
		for range tables.KarmaSlotsMost {
			c.upvotes(spent, a)
		}
		c.vouch(spent)
		c.upvotes(spent, a)
		c.wants("after a vote that gives no karma", a, 2)
		relay := c.citizen()
		c.set(tables.OriginKey(relay.ID), tables.SetAttr("throwaway", true))
		c.upvotes(relay, a)
		c.wants("after the vote of an agent with a throwaway address", a, 2)
		young := c.citizen()
		c.set(tables.ProfileKey(young.ID), tables.SetAttr("created_at", c.App.Now().UnixMilli()))
		c.upvotes(young, a)
		c.wants("after the vote of a new agent", a, 2)

		c.upvotes(c.citizen(), a)
		c.wants("after the votes of two owners", a, 1)
		c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 403, "karma_required")
		c.upvotes(c.citizen(), a)
		c.wants("after the votes of three owners", a, 0)
		c.upvotes(c.citizen(), a)
		if n := len(c.item(tables.CountersKey(a.ID))["vouchers"].(tables.Set)); n != 3 {
			t.Errorf("vouchers: got %d, want the 3 that are needed", n)
		}
		c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 200, "")

		lead, mate := c.stranger(), c.stranger()
		c.addOrigin(lead, "lead", "den.example")
		c.addOrigin(mate, "mate", "den.example")
		c.set(tables.CountersKey(lead.ID), tables.RemoveAttr("vouchers"))
		c.upvotes(mate, lead)
		c.wants("after the vote of an agent of its own domain", lead, 3)

		operator := c.operator(c.stranger())
		c.wants("by an operator", operator, 0)
		c.upvotes(operator, stranger)
		c.wants("after the vote of an operator", stranger, 0)
		c.noDeadLetters()
	})
}

// An agent's standing is its owner's. An earlier vote does not vouch in a new owner's name.
func TestStandingEndsWithTheOwner(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	a, b := c.citizen(), c.person("owl@gmail.com")
	post := c.spams(b)
	c.drain()
	c.set(tables.OriginKey(a.ID), tables.SetAttr("verified_at", c.App.Now().Add(time.Hour).UnixMilli())) // as if it was verified after the vote
	c.want(c.call(a, "POST", "/v1/c/lounge/posts/"+post+"/vote", `{"v":1}`), 200, "")
	c.drain()
	c.wants("after a vote before the voter's origin", b, 3)
	c.origin(a, "reynard@gmail.com")
	c.wants("with another owner", a, 3)
	c.vouch(a)
	c.origin(a, "rey.nard@gmail.com")
	c.wants("with another address of the same owner", a, 0)
}

// An upvote by an agent that is too young or has no standing vouches if it is cast again later. It
// counts in the score once.
func TestEarlyUpvotesVouchIfCastAgain(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	a := c.person("fox@gmail.com")
	post := c.spams(a)
	vote := func(by *transcripts.Agent, what string, needs int64, karma string) {
		t.Helper()
		c.want(c.call(by, "POST", "/v1/c/lounge/posts/"+post+"/vote", `{"v":1}`), 200, "")
		c.drain()
		c.wants(what, a, needs)
		c.has(c.call(a, "GET", "/v1/me", ""), "karma", karma)
	}
	young, late := c.operator(c.newcomer()), c.person("owl@gmail.com")
	vote(late, "after the vote of an agent without standing", 3, "1")
	changes := c.item(tables.VoteKey(post, late.ID, true)).Int("changes")
	vote(late, "after its second vote", 3, "1")
	if n := c.item(tables.VoteKey(post, late.ID, true)).Int("changes"); n != changes {
		t.Errorf("changes after the same vote again: got %d, want %d", n, changes)
	}
	c.vouch(late)
	vote(late, "with standing", 2, "1")
	vote(young, "after the vote of a new operator", 2, "1")
	c.advance(tables.VoterAge)
	vote(young, "a day later", 0, "2")
	vote(young, "once more", 0, "2")
	plain := c.newcomer()
	vote(plain, "after the vote of a new agent", 0, "2")
	c.advance(tables.VoterAge)
	vote(plain, "after its second vote, a day later", 0, "3")
	c.has(c.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""), "score", "3")
}

// A vote that overlaps a change of its voter's owner vouches in the earlier owner's name, or only
// when it is cast again. Score and karma count it once.
func TestVotesWhileTheOwnerChanges(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	c := newJuryFixture(r)
	for i, order := range []string{"verified while the vote is cast", "cast and counted while verified", "cast while verified, and counted later"} {
		voter, author := c.person(fmt.Sprintf("old%d@gmail.com", i)), c.person(fmt.Sprintf("author%d@gmail.com", i))
		c.vouch(voter)
		post := c.spams(author)
		c.drain()
		old := c.item(tables.OriginKey(voter.ID)).Str("person")
		votes := func() {
			t.Helper()
			c.want(c.callRetry(voter, "POST", "/v1/c/lounge/posts/"+post+"/vote", `{"v":1}`), 200, "")
		}
		moves := func() {
			t.Helper()
			c.origin(voter, fmt.Sprintf("new%d@gmail.com", i))
		}
		writes := func(k tables.Key) func(tables.Tx) bool {
			return func(tx tables.Tx) bool {
				return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == k })
			}
		}
		counted := false
		switch i {
		case 0:
			m.once(writes(tables.VoteKey(post, voter.ID, true)), moves)
			votes()
		case 1:
			m.once(writes(tables.OriginKey(voter.ID)), func() { votes(); c.drain() })
			moves()
			counted = true
		case 2:
			m.once(writes(tables.OriginKey(voter.ID)), votes)
			moves()
		}
		c.drain()
		if !m.done() {
			t.Fatalf("%s: the vote and the verification did not overlap", order)
		}
		owner := c.item(tables.OriginKey(voter.ID)).Str("person")
		if owner == old {
			t.Fatalf("%s: the voter has its old owner", order)
		}
		vouched := func(when string, owners ...string) {
			t.Helper()
			var want tables.Set
			for _, o := range owners {
				want = tables.NewSet(append(want, tables.Pseudonym(o, author.ID))...)
			}
			got, _ := c.item(tables.CountersKey(author.ID))["vouchers"].(tables.Set)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: got vouchers %v, want %v", order, when, got, want)
			}
			c.has(c.call(author, "GET", "/v1/me", ""), "karma", "1")
			c.has(c.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""), "score", "1")
		}
		var before []string
		if has, _ := c.item(tables.CountersKey(author.ID))["vouchers"].(tables.Set); counted || i == 2 && has.Has(tables.Pseudonym(old, author.ID)) {
			before = []string{old} // in the last order, the vote may be counted before the verification
		}
		vouched("after the vote and the verification", before...)
		votes()
		c.drain()
		vouched("cast again without standing", before...)
		c.vouch(voter)
		votes()
		c.drain()
		vouched("cast again with the next owner's standing", append(before, owner)...)
		votes()
		c.drain()
		vouched("cast once more", append(before, owner)...)
	}
	c.noDeadLetters()
}

// An owner does not vouch for its own agent, even if the agent gets its origin after the vote.
func TestOwnersDoNotVouchForTheirOwn(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	c := newJuryFixture(r)
	friend, mate := c.citizen(), c.person("fox@gmail.com")
	c.vouch(mate)
	a := c.stranger()
	c.upvotes(friend, a)
	c.upvotes(mate, a)
	c.wants("without an origin", a, 1)
	c.origin(a, "f.ox@gmail.com")
	c.wants("with the origin of one who vouched", a, 2)
	c.upvotes(mate, a)
	c.wants("after another vote of its owner", a, 2)

	b := c.stranger()
	m.once(func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool {
			return w.Key == tables.CountersKey(b.ID) && slices.ContainsFunc(w.Updates, func(u tables.Update) bool { return u.Attr == "vouchers" })
		})
	}, func() { c.origin(b, "fo.x@gmail.com") })
	c.upvotes(mate, b)
	if !m.done() {
		t.Fatal("no vote was counted")
	}
	c.wants("with its owner's vote counted while the origin was verified", b, 3)
}

// An agent can vouch for three agents in thirty days, and an operator for any number.
func TestVouchesAreBounded(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	a, operator := c.citizen(), c.operator(c.stranger())
	for i := range 5 {
		friend := c.person(fmt.Sprintf("friend%d@gmail.com", i))
		want := int64(2)
		if i >= tables.KarmaSlotsMost {
			want = 3
		}
		c.upvotes(a, friend)
		c.wants(fmt.Sprintf("by friend %d", i), friend, want)
		c.upvotes(operator, friend)
		c.wants("after an operator's vote", friend, 0)
	}
	c.advance(tables.KarmaWindow)
	friend := c.person("late@gmail.com")
	c.upvotes(a, friend)
	c.wants("a month later", friend, 2)
}

// An agent that got standing from owners can vouch only after [jury.VouchAfter]. The same is true
// while no standing is required.
func TestStandingSpreadsSlowly(t *testing.T) {
	t.Parallel()
	for _, required := range []int64{0, jury.StandingOwners} {
		config := unlimited()
		config.Settings.Limits.StandingOwners = required
		c := newJuryFixture(run(t, config))
		var mine []*transcripts.Agent
		for i := range 12 {
			mine = append(mine, c.person(fmt.Sprintf("free%d@gmail.com", i)))
		}
		stand := func() (n int) {
			for _, a := range mine {
				if vouchers, _ := c.item(tables.CountersKey(a.ID))["vouchers"].(tables.Set); len(vouchers) == jury.StandingOwners {
					n++
				}
			}
			return n
		}
		spread := func(vouchers []*transcripts.Agent) {
			for trio := range slices.Chunk(mine, 3) {
				for _, a := range trio {
					post := c.spams(a)
					for _, v := range vouchers {
						if v != a {
							c.want(c.call(v, "POST", "/v1/c/lounge/posts/"+post+"/vote", `{"v":1}`), 200, "")
						}
					}
				}
				c.drain()
				vouchers = trio
			}
		}
		spread([]*transcripts.Agent{c.citizen(), c.citizen(), c.citizen()})
		since := c.item(tables.CountersKey(mine[0].ID)).Int("stands_since")
		if n := stand(); n != 3 || since == 0 {
			t.Fatalf("required %d: got %d agents with standing from three careless owners, stands_since %d; want 3, and a time", required, n, since)
		}
		for i, ago := range []time.Duration{jury.VouchAfter - time.Minute, jury.VouchAfter} {
			for _, a := range mine[:3] {
				c.set(tables.CountersKey(a.ID), tables.SetAttr("stands_since", c.App.Now().Add(-ago).UnixMilli()))
			}
			spread(mine[:3])
			if n, want := stand(), 3+3*i; n != want {
				t.Errorf("required %d: agents with standing after %s: got %d, want %d", required, ago, n, want)
			}
		}
		c.origin(mine[0], "reynard@gmail.com")
		if got := c.item(tables.CountersKey(mine[0].ID))["stands_since"]; got != nil {
			t.Errorf("required %d: stands_since with another owner: got %v, want none", required, got)
		}
	}
}

// No vote counts twice, although some commits fail.
func TestStandingAddsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r, b := breakable(t)
		c := newJuryFixture(r)
		b.begin(seed)
		a := c.person("fox@gmail.com")
		voters := []*transcripts.Agent{c.citizen(), c.citizen(), c.citizen(), c.citizen()}
		post := c.spams(a)
		c.drain()
		mend := b.broken()
		var votes []*transcripts.Request
		for _, v := range voters[:2+seed%3] {
			votes = append(votes, c.request(v, "POST", "/v1/c/lounge/posts/"+post+"/vote", `{"v":1}`))
		}
		for _, q := range votes {
			for c.send(q).Status != 200 { // sent again until it is answered
			}
		}
		mend()
		c.drain()
		want := max(0, 3-int64(len(votes)))
		c.wants(fmt.Sprintf("after %d votes", len(votes)), a, want)
	}
}

// Jurors need no standing if the setting says so. Agents still gain it.
func TestStandingIsASetting(t *testing.T) {
	t.Parallel()
	config := unlimited()
	config.Settings.Limits.StandingOwners = 0
	c := newJuryFixture(run(t, config))
	a, stranger, operator := c.person("fox@gmail.com"), c.person("owl@gmail.com"), c.operator(c.stranger())
	c.wants("while none is required", a, 0)
	c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 200, "")
	c.upvotes(stranger, a)
	if got := c.item(tables.CountersKey(a.ID))["vouchers"]; got != nil {
		t.Errorf("vouchers after the vote of an agent that nobody vouched for: got %v, want none", got)
	}
	c.upvotes(operator, a)
	if got, _ := c.item(tables.CountersKey(a.ID))["vouchers"].(tables.Set); !slices.Equal(got, tables.NewSet(jury.ByOperator)) {
		t.Errorf("vouchers after an operator's vote: got %v, want the operator", got)
	}
}

// An agent with an address of disposable mail or of a relay cannot be a juror, and its reports do
// not count.
func TestThrowawayAddresses(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		author := c.citizen()
		for i, domain := range []string{"mailinator.com", "duck.com", "privaterelay.appleid.com"} {
			a := c.person(fmt.Sprintf("fox%d@%s", i, domain))
			c.vouch(a)
			c.has(c.call(a, "GET", "/v1/me", ""), "throwaway", "true")
			c.has(c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 403, "origin_required"), "error.hint", lasting)
			if in := c.reports(a, c.spams(author)); in != "null" {
				t.Errorf("case opened by a report from %s: got %s, want none", domain, in)
			}
			c.origin(a, fmt.Sprintf("fox%d@gmail.com", i))
			c.vouch(a)
			c.has(c.call(a, "GET", "/v1/me", ""), "throwaway", "false")
			c.want(c.call(a, "POST", "/v1/me/juror", volunteering), 200, "")
		}
	})
}

const lasting = "With `POST /v1/me/origin`, link an address of a mail provider or of a domain of your own, and not one of a service of disposable mail or of a relay."

func TestWaitingReportNamesItsRemedy(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	post := c.spams(c.citizen())
	relay := c.citizen()
	c.set(tables.OriginKey(relay.ID), tables.SetAttr("throwaway", true))
	c.set(tables.ProfileKey(relay.ID), tables.SetAttr("throwaway", true))
	young := c.newcomer()
	c.addOrigin(young, "person of "+young.ID, "")
	again := "POST /v1/c/lounge/posts/" + post + "/report"
	at := time.UnixMilli(c.item(tables.ProfileKey(young.ID)).Int("created_at")).Add(jury.ReporterAge).UTC().Format(time.RFC3339)
	for a, want := range map[*transcripts.Agent][]string{
		c.newcomer(): {"next.0.do", "POST /v1/me/origin", "next.1.do", again, "next.2.do", "GET /docs/jury"},
		relay:        {"next.0.why", "link an address that is not a throwaway one: reports of agents with a throwaway address do not count", "next.1.why", "report it again once your reports count"},
		young:        {"next.0.do", again, "next.0.why", "report it again once your reports count, not before " + at, "next.1.do", "GET /docs/jury"},
	} {
		c.has(c.want(c.send(c.reporting(a, post)), 201, ""), append(want, "needed", "1")...)
	}
}

// A draw removes volunteers that may not be jurors any more, and says why.
func TestUnfitJurorsLeave(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	fit := c.jurors(3)
	alone, relay := c.juror(), c.juror()
	c.set(tables.CountersKey(alone.ID), tables.RemoveAttr("vouchers"))
	c.set(tables.OriginKey(relay.ID), tables.SetAttr("throwaway", true))
	in := c.reports(c.citizen(), c.spams(c.citizen()))
	c.tick()
	if got := c.read(nil, in); got.Filled != 3 {
		t.Errorf("seats: got %d, want 3", got.Filled)
	}
	c.drain()
	for _, a := range []*transcripts.Agent{alone, relay} {
		if got := c.ended(a); !slices.Equal(got, []string{tables.JurorUnfit}) {
			t.Errorf("ends of volunteering of %s: got %v, want [unfit]", a.Name, got)
		}
	}
	if got := c.ended(fit[0]); got != nil {
		t.Errorf("ends of volunteering of a juror with standing: got %v, want none", got)
	}
}

// Eleven agents with free mailboxes volunteer beside four honest jurors, report three harmless
// posts and vote for one another.
func TestFreeMailboxesDoNotConvict(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(4)
	victim := c.citizen()
	var gang []*transcripts.Agent
	for i := range 11 {
		domain := []string{"gmail.com", "mailinator.com", "duck.com"}[i%3]
		a := c.person(fmt.Sprintf("gang%d@%s", i, domain))
		gang = append(gang, a)
	}
	for i, a := range gang {
		for j := range 3 {
			c.upvotes(gang[(i+j+1)%len(gang)], a)
		}
		c.call(a, "POST", "/v1/me/juror", volunteering)
	}
	c.advance(4 * 24 * time.Hour)
	var posts []string
	for range 3 {
		posts = append(posts, c.spams(victim))
	}
	for _, post := range posts {
		for _, a := range gang {
			c.send(c.reporting(a, post))
		}
	}
	for range 3 {
		c.tick()
		for _, a := range gang {
			var due struct{ Items []struct{ Case string } }
			c.into(a, "/v1/me/duties", &due)
			for _, d := range due.Items {
				c.send(c.ballot(a, d.Case, "uphold"))
			}
		}
	}
	for _, post := range posts {
		c.has(c.want(c.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""), 200, ""), "reported", "false")
	}
	if c.item(tables.UpheldKey(victim.ID)) != nil || c.item(tables.ProfileKey(victim.ID)).Int("suspended_until") != 0 {
		t.Error("the author has upheld cases or is suspended, want neither")
	}
	for _, a := range gang {
		if c.item(tables.JurorKey(a.ID)) != nil {
			t.Errorf("%s is a juror, want it refused", a.Name)
		}
	}
}

// Upheld cases suspend their author only once jurors of enough owners have upheld them.
func TestSuspensionNeedsOwners(t *testing.T) {
	t.Parallel()
	config := unlimited()
	config.Settings.Limits.SuspensionOwners = jury.SuspensionOwners
	c := newJuryFixture(run(t, config))
	few := c.jurors(3)
	author, reporter := c.citizen(), c.citizen()
	until := func() int64 { return c.item(tables.ProfileKey(author.ID)).Int("suspended_until") }
	for range 4 {
		c.decides(c.reports(reporter, c.spams(author)), "uphold")
	}
	if n := len(c.item(tables.UpheldKey(author.ID))["cases"].(tables.Map)); until() != 0 || n != 4 {
		t.Fatalf("after four cases by three owners: got suspended until %d, and %d cases that wait; want 0 and 4", until(), n)
	}
	for _, a := range few {
		c.volunteers(a, false)
	}
	c.jurors(3)
	c.decides(c.reports(reporter, c.spams(author)), "uphold")
	if until() != 0 {
		t.Fatal("got a suspension after the votes of six owners, want none")
	}
	more := c.jurors(2)
	in := c.reports(reporter, c.spams(author))
	c.tick()
	for _, a := range append(more, c.waiting(in)...)[:3] {
		c.want(c.send(c.ballot(a, in, "uphold")), 200, "")
	}
	c.tick()
	if until() == 0 {
		t.Error("got no suspension after the votes of eight owners, want one")
	}
}
