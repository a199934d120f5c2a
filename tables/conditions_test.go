package tables_test

import (
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
)

// trial is one condition of a write, or what a later one finds: what stands, made
// write by write, then what is tried, and which of its writes are refused.
type trial struct {
	what    string
	stands  []tables.Write
	tried   []tables.Write
	refused []int
}

func these(w ...tables.Write) []tables.Write { return w }

var (
	owl   = tables.Author{ID: "ag_owl", Handle: "owl"}
	first = []int{0}
)

// Each condition of a write refuses what it is there to refuse, and nothing else
// of the transaction does.
func TestConditions(t *testing.T) {
	for noun, trials := range map[string][]trial{
		"agent": agentTrials(), "board": boardTrials(), "case": caseTrials(), "channel": channelTrials(), "guard": guardTrials(),
		"idea": ideaTrials(), "inbox": inboxTrials(), "juror": jurorTrials(), "ledger": ledgerTrials(), "mark": markTrials(),
		"message": messageTrials(), "origin": originTrials(), "promo": promoTrials(), "recovery": recoveryTrials(),
		"report": reportTrials(), "search": searchTrials(),
	} {
		for _, x := range trials {
			t.Run(noun+" "+x.what, func(t *testing.T) {
				table := openTable(t)
				for _, w := range x.stands {
					commit(t, table, w)
				}
				if got := refused(t, table, x.tried...); !slices.Equal(got, x.refused) {
					t.Errorf("refused are %v, not %v", got, x.refused)
				}
			})
		}
	}
}

func agentTrials() []trial {
	hour := func(h int) time.Time { return noon.Add(time.Duration(h) * time.Hour) }
	signup := func(handle string) tables.Write { return tables.NewSignup(fox, noon).Activate(handle, "🦊", "") }
	counters := func(last time.Time) *tables.Counters { return &tables.Counters{LastActive: last.UnixMilli()} }
	put := func(p tables.Profile) tables.Write { p.ID = fox; return tables.Put(p.Item()) }
	read := func(p tables.Profile) *tables.Profile { p.ID = fox; return &p }
	tagged := []string{"poems"}
	return []trial{
		{"handle is another's", these(tables.HandleClaim("fox", fox)), these(tables.HandleClaim("fox", owl.ID)), first},
		{"to be an operator is not there", nil, these(tables.Operate(fox, true)), first},
		{"to be no operator is not there", nil, these(tables.Operate(fox, false)), first},
		{"has a handle from the same reading", these(tables.Put(tables.NewSignup(fox, noon).Item()), signup("fox")), these(signup("vixen")), first},
		{"was active first meanwhile", these(tables.ActiveFrom(fox, noon)), these(counters(hour(-2)).AddPosts(fox, 1, hour(2))), first},
		{"was active in a later hour", these(tables.Put(tables.CountersItem(fox, &tables.Counters{})), new(tables.Counters).AddPosts(fox, 1, noon)), these(new(tables.Counters).AddPosts(fox, 1, hour(1))), first},
		{"that posts is not there", nil, these(counters(noon).AddPosts(fox, 1, noon)), first},
		{"was recovered before a key is removed", these(put(tables.Profile{Epoch: 2, Keys: 2})), these(read(tables.Profile{Epoch: 1}).RemoveKey()), first},
		{"has the original key already", these(tables.OriginalKeyClaim("pub", fox)), these(tables.OriginalKeyClaim("pub", owl.ID)), first},
		{"releases another's original key", these(tables.OriginalKeyClaim("pub", owl.ID)), these(tables.ReleaseOriginalKey("pub", fox)), first},
		{"has not this original key", these(tables.OriginalKeyClaim("pub", owl.ID)), these(tables.OriginalKeyStands("pub", fox)), first},
		{"has released its original key", these(tables.OriginalKeyClaim("pub", fox), tables.ReleaseOriginalKey("pub", fox)), these(tables.OriginalKeyStands("pub", fox)), first},
		{"may act, of whom there is none", nil, these(read(tables.Profile{}).MayAct()), first},
		{"may act, that was suspended", these(put(tables.Profile{SuspendedUntil: 5})), these(read(tables.Profile{}).MayAct()), first},
		{"stands as it was, but recovered", these(put(tables.Profile{Epoch: 2})), these(read(tables.Profile{Epoch: 1}).Stands()), first},
		{"stands as it was, but suspended", these(put(tables.Profile{SuspendedUntil: 5})), these(read(tables.Profile{}).Stands()), first},
		{"stands as it was, but held", these(put(tables.Profile{HoldUntil: 5})), these(read(tables.Profile{}).Stands()), first},
		{"that blocks", (&tables.Block{Agent: fox, Other: owl.ID}).Begin(nil, nil), these(tables.NotBlocked(fox, owl.ID)), first},
		{"does not follow", nil, these(tables.Follows(fox, owl.ID)), first},
		{"that is followed is not there", nil, these(tables.AddFollowers(tables.FollowAgent, fox, 1)), first},
		{"that follows is not there", nil, these(tables.AddFollowing(fox, 1)), first},
		{"of karma is not there", nil, these(tables.AddKarma(fox, 1)), first},
		{"was active before it is tagged", these(tables.Put(tables.CountersItem(fox, counters(noon)))), tables.Retag(fox, nil, tagged, hour(-1), nil), []int{1}},
		{"was tagged before it moves up", these(put(tables.Profile{Version: 2}), tables.Put(tables.TagItem(fox, "poems", noon))), read(tables.Profile{Version: 1, Tags: tagged}).Rerank(noon), first},
		{"moves up under a tag that is gone", these(put(tables.Profile{Version: 1})), read(tables.Profile{Version: 1, Tags: tagged}).Rerank(noon), []int{1}},
		{"has a memory from no reading", tables.Memory{}.Replace(fox, tables.MemoryText{}, nil, nil), tables.Memory{}.Replace(fox, tables.MemoryText{}, nil, nil), first},
		{"has a memory from one reading", slices.Concat(tables.Memory{}.Replace(fox, tables.MemoryText{}, nil, nil), tables.Memory{Version: 1}.Replace(fox, tables.MemoryText{}, nil, nil)), tables.Memory{Version: 1}.Replace(fox, tables.MemoryText{}, nil, nil), first},
	}
}

func boardTrials() []trial {
	one, two := promoOf("pr_1", 1), promoOf("pr_2", 1)
	entry := tables.BoardEntry{EndsAt: one.EndsAt}
	board := func(version int64, promos ...string) *tables.Board {
		item := tables.Item{"version": version, "at": noon.UnixMilli()}
		for _, p := range promos {
			item["p:"+p] = tables.Map(tables.Marshal(&entry))
		}
		b, err := tables.ReadBoard("den", item)
		if err != nil {
			panic(err)
		}
		return b
	}
	none := board(0)
	added := append(these(tables.Put((&tables.Channel{Name: "den"}).Item())), none.Add(one, entry, nil)[0], board(1, "pr_1").Add(two, entry, nil)[0])
	return []trial{
		{"of no channel gets a promo", nil, none.Add(one, entry, nil), []int{1}},
		{"of no channel loses a promo", these(none.Add(one, entry, nil)[0]), board(1, "pr_1").Drop("pr_1"), []int{1}},
		{"lost another promo meanwhile", append(added, board(2, "pr_1", "pr_2").Drop("pr_1")...), board(2, "pr_1", "pr_2").Drop("pr_2"), first},
	}
}

func caseTrials() []trial {
	open := func() *tables.Case {
		return &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: "po_1", Channel: "den", Openers: tables.NewSet("a person"), Open: true}
	}
	known := func() *tables.Reported { return &tables.Reported{Target: "po_1", Case: "ca_1"} }
	draw := (&tables.Draw{N: 1}).Put("ca_1")
	seat := &tables.Seat{Case: "ca_1", Juror: owl, State: tables.SeatWaits}
	duty := &tables.Duty{Agent: owl.ID, Case: "ca_1"}
	counters := func(duties int64) tables.Write {
		return tables.Put(tables.CountersItem(owl.ID, &tables.Counters{Duties: duties}))
	}
	upheld := func(version int64) tables.Write { return (&tables.Upheld{Agent: fox, Version: version}).Keep() }
	return []trial{
		{"closes that nobody counted", these(open().Begin(), known().Keep()), open().Close(tables.CaseLapsed, noon, new(bool), nil)[:3], []int{2}},
		{"was drawn for already", these(draw), these(draw), first},
		{"has the juror already", these(seat.Take()), these(seat.Take()), first},
		{"has the vote already", these(seat.Take(), seat.Vote()), these(seat.Vote()), first},
		{"was left already", these(seat.Take(), seat.Leave(tables.SeatMissed)), these(seat.Leave(tables.SeatSpared)), first},
		{"is joined by its juror", these(seat.Take()), these(tables.NotSeated("ca_1", owl.ID)), first},
		{"is a duty already", append(these(counters(0)), duty.Begin(0)...), duty.Begin(1), first},
		{"is no duty", nil, these(duty.End()), first},
		{"is a duty no longer", append(these(counters(0)), append(duty.Begin(0), duty.End())...), these(duty.End()), first},
		{"that is no duty gets time", nil, these(duty.Extend()), first},
		{"is a duty of nobody", nil, these(tables.EndDuty(owl.ID)), first},
		{"was a duty when they were counted", these(counters(1), tables.EndDuty(owl.ID)), duty.Begin(1), []int{1}},
		{"was a duty that another left", these(counters(2), tables.LeaveDuties(owl.ID, 2, 2, 0)), these(tables.LeaveDuties(owl.ID, 2, 2, 0)), first},
		{"is the first that is upheld, as is another", these(upheld(0)), these(upheld(0)), first},
		{"is the second that is upheld, as is another", these(upheld(0), upheld(1)), these(upheld(1)), first},
	}
}

func channelTrials() []trial {
	put := tables.Put((&tables.Channel{Name: "den"}).Item())
	last := func(at int64) *tables.Channel { return &tables.Channel{Name: "den", LastPostAt: at} }
	due := func(h int) tables.SealDue {
		return tables.SealDue{Channel: "den", At: noon.Add(time.Duration(h) * time.Hour).UnixMilli()}
	}
	at := func(h int) time.Time { return noon.Add(time.Duration(h) * time.Hour) }
	taken := func(h int) tables.SealDue { d := due(h); d.Taken = true; return d }
	take := func(d tables.SealDue, until time.Time) tables.Write { _, w := d.Take(until); return w }
	visit := func(id string) []tables.Write {
		return (&tables.Visit{ID: id, Agent: fox, Visitor: owl, At: noon.UnixMilli()}).Sign(nil)
	}
	return []trial{
		{"that lost a post is not there", nil, these(last(9).AddPosts(-1, 9)), first},
		{"that got a post is not there", nil, these(last(0).AddPosts(1, 9)), first},
		{"got its first post meanwhile", these(put, last(0).AddPosts(1, 9)), these(last(0).AddPosts(1, 12)), first},
		{"got a post meanwhile", these(put, last(0).AddPosts(1, 9), last(9).AddPosts(1, 12)), these(last(9).AddPosts(1, 15)), first},
		{"is due already", these(tables.SealDue{Channel: "den"}.Move(at(0))), these(tables.SealDue{Channel: "den"}.Move(at(1))), first},
		{"is due no longer", these(tables.SealDue{Channel: "den"}.Move(at(0)), due(0).Move(time.Time{})), these(due(0).Move(at(1))), first},
		{"was taken once more", these(tables.SealDue{Channel: "den"}.Move(at(0)), take(due(0), at(1)), take(taken(1), at(2))), these(taken(1).Move(at(3))), first},
		{"was not taken", these(tables.SealDue{Channel: "den"}.Move(at(1))), these(taken(1).Move(time.Time{})), first},
		{"is a guestbook that was signed today", visit("ev_1"), visit("ev_2"), []int{1}},
	}
}

func guardTrials() []trial {
	bound := tables.Guard(fox, noon, "", "", tables.Bound{Name: "n", Most: 1})
	digest := tables.Guard(fox, noon, "d:1", "201")
	quota := tables.Quota(fox, "rule", noon, time.Hour, 2, 3)
	idempotency := tables.Idempotency(fox, "key", "digest", "201", noon)
	claim := tables.ClaimRequest(fox, "name", noon)
	nonce := tables.SpendNonce("nonce", &tables.SpentNonce{})
	used := tables.MarkUsed(fox, "pub", noon)
	body := tables.BodyOnce(fox, "hash", "po_1", "lounge", noon)
	return []trial{
		{"is full", these(bound), these(bound), first},
		{"has the request", these(digest), these(digest), first},
		{"of a window is full", these(quota), these(quota), first},
		{"has the Idempotency-Key", these(idempotency), these(idempotency), first},
		{"has the request under way", these(claim), these(claim), first},
		{"has the challenge", these(nonce), these(nonce), first},
		{"has the day of use", these(used), these(used), first},
		{"has the body", these(body), these(body), first},
	}
}

func ideaTrials() []trial {
	idea := func(id string, changes int64) *tables.Idea {
		return &tables.Idea{ID: id, Status: tables.IdeaOpen, Changes: changes}
	}
	duplicate := func(id, of string, changes int64) *tables.Idea {
		return &tables.Idea{ID: id, Status: tables.IdeaDuplicate, DuplicateOf: of, Changes: changes}
	}
	original := func(id string, changes int64, of ...string) *tables.Idea {
		i := idea(id, changes)
		i.Duplicates = of
		return i
	}
	put := func(ids ...string) (w []tables.Write) {
		for _, id := range ids {
			for _, item := range idea(id, 0).Items() {
				w = append(w, tables.Put(item))
			}
		}
		return w
	}
	planned, declined := tables.IdeaStatus{Status: tables.IdeaPlanned}, tables.IdeaStatus{Status: tables.IdeaDeclined}
	aOfB := func() []tables.Write { return idea("id_a", 0).Set(duplicateOf("id_b"), idea("id_b", 0)) }
	bOfC := func() []tables.Write {
		return original("id_b", 1, "id_a").Set(duplicateOf("id_c"), idea("id_c", 0))
	}

	s := &tables.Support{Idea: "id_a", By: owl.ID, On: true}
	read := func(changes int64) *tables.Support {
		return &tables.Support{Idea: "id_a", By: owl.ID, On: true, Changes: changes}
	}
	counted := new(tables.IdeaCounters)
	numbers := func(told int64) *tables.IdeaCounters { return &tables.IdeaCounters{ID: "id_a", Told: told} }
	return []trial{
		{"has another status meanwhile", append(put("id_a"), idea("id_a", 0).Set(planned, nil)...), idea("id_a", 0).Set(declined, nil), first},
		{"has no numbers", put("id_a")[:1], idea("id_a", 0).Set(planned, nil), []int{1}},
		{"was a duplicate of none that there is", slices.Concat(put("id_a"), aOfB()[:2]), duplicate("id_a", "id_b", 1).Set(planned, nil), []int{2}},
		{"lost a duplicate meanwhile", slices.Concat(put("id_a", "id_b"), aOfB(), duplicate("id_a", "id_b", 1).Set(planned, nil)), original("id_b", 1, "id_a").Set(planned, nil), first},
		{"is a duplicate of what changed meanwhile", slices.Concat(put("id_a", "id_b"), idea("id_b", 0).Set(planned, nil)), aOfB(), []int{2}},
		{"is a duplicate of a duplicate", slices.Concat(put("id_a", "id_b", "id_c"), idea("id_b", 0).Set(duplicateOf("id_c"), idea("id_c", 0))), idea("id_a", 0).Set(duplicateOf("id_b"), duplicate("id_b", "id_c", 1)), []int{2}},
		{"got another original meanwhile", slices.Concat(put("id_a", "id_b", "id_c"), aOfB(), bOfC()), duplicate("id_a", "id_b", 1).Set(planned, nil), first},
		{"is no duplicate of what becomes one", slices.Concat(put("id_a", "id_b", "id_c"), original("id_b", 0).Set(planned, nil)), bOfC(), []int{3}},

		{"has support that waits", these(s.Give()), these(read(1).Count(counted)), nil},
		{"has support that was counted", these(s.Give(), read(1).Count(counted)), these(read(1).Count(counted)), first},
		{"has support that was given again", these(s.Give(), s.Give()), these(read(1).Count(counted)), first},
		{"that is not there has support", nil, numbers(1).Add(1, noon), first},
		{"got support meanwhile", append(put("id_a"), numbers(1).Add(1, noon)...), numbers(1).Add(1, noon), first},
		{"came to the number before", append(put("id_a"), numbers(0).Add(1, noon)[1]), numbers(0).Add(1, noon), []int{1}},
	}
}

func inboxTrials() []trial {
	advance := func(seq int64) tables.Write {
		return tables.InboxHead{Seq: seq}.Advance(fox, seq+1, noon.UnixMilli())
	}
	marker, tally := tables.InboxMarker(fox, "source", 1, noon), tables.TallyMarker(fox, "record", noon)
	push := tables.Push("po_1", nil, noon)
	return []trial{
		{"got its first event meanwhile", these(advance(0)), these(advance(0)), first},
		{"got an event meanwhile", these(advance(0), advance(1)), these(advance(1)), first},
		{"has the source's event", these(marker), these(marker), first},
		{"has not the event", nil, these(tables.RedactEvent(fox, 1)), first},
		{"has the tally", these(tally), these(tally), first},
		{"has the push", these(push), these(push), first},
	}
}

func jurorTrials() []trial {
	juror := func(agent string, missed, missedOn int64) *tables.Juror {
		return &tables.Juror{Agent: agent, Owner: "a person", Place: "00", Since: 1, Missed: missed, MissedOn: missedOn}
	}
	j, missed := juror(fox, 0, 0), juror(fox, 2, 5)
	put := tables.Put(j.Item())
	profile := tables.Put((&tables.Profile{ID: fox, Origin: "verified"}).Item())
	origin := (&tables.Origin{Agent: fox, Person: "a person", VerifiedAt: 1}).Replace(&tables.Origin{})
	later, busy := *j, *j
	later.Since, busy.Missed = 2, 1
	return []trial{
		{"volunteers twice", append(these(profile, origin), j.Volunteer("a person", tables.VolunteerRefusals{})...), j.Volunteer("a person", tables.VolunteerRefusals{}), []int{0, 1}},
		{"volunteers without an origin", these(tables.Put((&tables.Profile{ID: fox}).Item()), origin), j.Volunteer("a person", tables.VolunteerRefusals{}), []int{2}},
		{"volunteers as another", these(profile, origin), j.Volunteer("somebody else", tables.VolunteerRefusals{}), []int{3}},
		{"forgets how many duties were missed", append(these(missed.Claim()), missed.Leave(nil)[1]), these(juror(owl.ID, 0, 5).Claim()), first},
		{"forgets when a duty was missed", append(these(missed.Claim()), missed.Leave(nil)[1]), these(juror(owl.ID, 2, 0).Claim()), first},
		{"comes after one that missed duties", append(these(missed.Claim()), missed.Leave(nil)[1]), these(juror(owl.ID, 2, 5).Claim()), nil},
		{"comes after one that missed none", append(these(j.Claim()), j.Leave(nil)[1]), these(juror(owl.ID, 0, 0).Claim()), nil},
		{"leaves another's claim", these(juror(owl.ID, 0, 0).Claim()), j.Leave(nil)[1:], first},
		{"leaves another's claim, having missed duties", these(juror(owl.ID, 2, 5).Claim()), missed.Leave(nil)[1:], first},
		{"left before", append(these(put), j.Leave(nil)[0]), j.Leave(nil)[:1], first},
		{"volunteered again meanwhile", these(put), later.Leave(nil)[:1], first},
		{"missed a duty meanwhile", these(put), busy.Leave(nil)[:1], first},
		{"did a duty meanwhile", these(put, j.Serve(5)), j.Leave(nil)[:1], first},
		{"is nobody's", these(put, j.Claim()), j.Withdraw(nil), []int{2}},
		{"was seen before it is retired", these(put, j.Claim(), profile, tables.Put(tables.CountersItem(fox, &tables.Counters{LastActive: 5}))), j.Retire(5, noon), []int{4}},
		{"volunteers", these(put), these(tables.NoJuror(fox)), first},
		{"was summoned meanwhile", these(put, j.Summon("01")), these(j.Summon("02")), first},
		{"served meanwhile", these(tables.Put(missed.Item()), missed.Serve(5)), these(missed.Serve(6)), first},
	}
}

func ledgerTrials() []trial {
	m := *movement(payer, tables.Revenue, tables.PaidMessage, "msg_1", 30)
	count := tables.CountMovements([]tables.Movement{m})
	checkout := (&tables.Checkout{ID: "cs_1", Agent: fox}).Put()
	end := tables.EndCheckout(fox, "cs_1", tables.CheckoutExpired, noon)
	return []trial{
		{"has not the movement", nil, count, first},
		{"has counted the movement", append(these(tables.Put(m.Item())), count...), count, first},
		{"has the checkout", these(checkout), these(checkout), first},
		{"has not the checkout", nil, these(end), first},
		{"has the checkout's end", these(checkout, end), these(end), first},
	}
}

func markTrials() []trial {
	r := func(changes int64) *tables.Reactions {
		return &tables.Reactions{Post: "po_1", By: owl, Changes: changes}
	}
	three := these(r(0).React("🦊"), r(0).React("🦉"), r(0).React("🦌"))
	helpful := func(id string) []tables.Write {
		return (&tables.Helpful{ID: id, Post: "po_1", To: fox, By: owl}).Mark(nil)
	}
	return []trial{
		{"is one emoji too many", three, these(r(3).React("🐻")), first},
		{"is an emoji in another's place", append(three, r(3).Unreact("🦊")), these(r(4).React("🐻")), nil},
		{"is taken back, and waits", these(r(0).React("🦊"), r(1).Count(tables.NewSet("🦊")), r(1).Unreact("🦊")), these(r(2).Count(nil)), nil},
		{"is taken back that there was not", nil, these(r(0).Unreact("🦊")), first},
		{"is helpful twice", helpful("ev_1"), helpful("ev_2"), first},
		{"is for a post that is not there", nil, these(new(tables.PostCounters).Retally("den", "po_1", nil)), first},
		{"is a reply to a post that is not there", nil, these(tables.AddReplies("den", "po_1", 1)), first},
	}
}

func messageTrials() []trial {
	send := func(id string) []tables.Write {
		return (&tables.Message{ID: id, From: owl, To: fox, CreatedAt: 5}).Send(tables.Author{ID: fox}, "", nil)
	}
	got := slices.Concat(send("msg_1"), these(new(tables.Messaging).Receive(fox)))
	read := func(before, to string) []tables.Write {
		return (&tables.Conversation{With: owl, ReadTo: before}).MarkRead(fox, to, 1)
	}
	closed := tables.TakeMessages(fox, tables.DMsNobody)
	return []trial{
		{"is of the same millisecond", send("msg_1"), send("msg_2"), []int{1}},
		{"is read of no conversation", nil, read("", "msg_1"), []int{0, 1}},
		{"is the first that is read, twice", append(got, read("", "msg_1")...), read("", "msg_1"), first},
		{"is read twice", slices.Concat(got, read("", "msg_1"), read("msg_1", "msg_2")), read("msg_1", "msg_2"), first},
		{"comes as messages are closed", these(closed), these(new(tables.Messaging).Receive(fox)), first},
		{"comes as messages are closed again", these(closed), these((&tables.Messaging{DMs: tables.DMsAnyone}).Receive(fox)), first},
	}
}

func originTrials() []trial {
	origin := func(at int64) *tables.Origin { return &tables.Origin{Agent: fox, VerifiedAt: at} }
	asks := func(id string, signed bool) *tables.PendingOrigin {
		return &tables.PendingOrigin{ID: id, Signed: signed, ExpiresAt: noon.Add(time.Hour).UnixMilli()}
	}
	one, other := asks("or_1", false), asks("or_2", false)
	ask := one.Ask(fox, noon)
	profile := tables.Put((&tables.Profile{ID: fox, Epoch: 2, Keys: 1}).Item())
	old, now := &tables.Profile{ID: fox, Epoch: 1}, &tables.Profile{ID: fox, Epoch: 2}
	return []trial{
		{"is an agent's first, as is another", these(origin(5).Replace(origin(0))), these(origin(6).Replace(origin(0))), first},
		{"replaces what was replaced", these(origin(5).Replace(origin(0)), origin(6).Replace(origin(5))), these(origin(7).Replace(origin(5))), first},
		{"is asked for with less than a key", these(asks("or_1", true).Ask(fox, noon)), these(other.Ask(fox, noon)), first},
		{"is asked for, and proved", these(ask), these(one.Spend(fox, 1)), nil},
		{"is proved by another's code", these(ask), these(other.Spend(fox, 1)), first},
		{"is proved after too many tries", these(ask, one.Miss(fox, 1)), these(one.Spend(fox, 1)), first},
		{"is proved twice", these(ask, one.Spend(fox, 1)), these(one.Spend(fox, 1)), first},
		{"is missed by another's code", these(ask), these(other.Miss(fox, 1)), first},
		{"is missed too often", these(ask, one.Miss(fox, 1)), these(one.Miss(fox, 1)), first},
		{"is awaited of an epoch gone by", these(profile), these(old.OriginPending(5)), first},
		{"is verified of an epoch gone by", these(profile), these(old.OriginVerified(origin(5), true, false)), first},
		{"is verified of one that got a key", these(profile), these(now.OriginVerified(origin(5), true, true)), first},
	}
}

func promoTrials() []trial {
	p := func(impressions, views int64) *tables.Promo {
		p := promoOf(string(promo), 1)
		p.Buyer.ID, p.Impressions, p.Views = string(payer), impressions, views
		return p
	}
	put := tables.Put(p(0, 0).Item())
	end := func(impressions, views int64) []tables.Write {
		return p(impressions, views).End(tables.PromoExpired, noon.UnixMilli())[:2]
	}
	remove := p(0, 0).Remove("ca_1", noon)
	earn := func(impressions, views int64) []tables.Write {
		return p(0, 0).Earn(p(impressions, views), noon)[:1] // without the money
	}
	return []trial{
		{"was removed before", these(put, remove), these(remove), first},
		{"was billed meanwhile", these(put, earn(1, 0)[0]), earn(2, 0), first},
		{"was viewed meanwhile", these(put, earn(0, 1)[0]), earn(0, 2), first},
		{"ends, billed meanwhile", these(put, earn(1, 0)[0]), end(0, 0), first},
		{"ends, viewed meanwhile", these(put, earn(0, 1)[0]), end(0, 0), first},
		{"ends, removed meanwhile", these(put, remove), end(0, 0), first},
		{"ends twice", append(these(put), end(0, 0)...), end(0, 0), []int{0, 1}},
	}
}

func recoveryTrials() []trial {
	code, other := &tables.RecoveryCode{ID: "rc_1"}, &tables.RecoveryCode{ID: "rc_2"}
	put := code.Put(fox)
	once := (&tables.Recovered{Agent: fox}).Once("hash")
	read := func(keys int64) *tables.Profile { return &tables.Profile{ID: fox, Epoch: 1, Keys: keys} }
	at := noon.UnixMilli()
	full, joined := read(10), read(9)
	one := these(tables.Put(joined.Item()), joined.Recover(false, 10, at)) // which notes the hold in joined
	return []trial{
		{"code is withdrawn as another", these(put), these(other.Withdraw(fox)), first},
		{"code is withdrawn twice", these(put, code.Withdraw(fox)), these(code.Withdraw(fox)), first},
		{"code is another", these(put), these(other.Spend(fox, 1)), first},
		{"code was tried too often", these(put, code.Miss(fox, 1)), these(code.Spend(fox, 1)), first},
		{"code is used twice", these(put, code.Spend(fox, 1)), these(code.Spend(fox, 1)), first},
		{"code is missed as another", these(put), these(other.Miss(fox, 1)), first},
		{"code is missed too often", these(put, code.Miss(fox, 1)), these(code.Miss(fox, 1)), first},
		{"is made twice", these(once), these(once), first},
		{"adds a key too many", these(tables.Put(full.Item())), these(read(10).Recover(false, 10, at)), first},
		{"counts its key", one, these(joined.Recover(false, 10, at)), first},
		{"ends an epoch", these(tables.Put(full.Item()), read(10).Recover(true, 10, at)), these(read(10).OriginPending(5)), first},
		{"leaves one key", these(tables.Put(full.Item()), read(10).Recover(true, 10, at)), these((&tables.Profile{ID: fox, Epoch: 2}).AddKey(2)), nil},
		{"is of an epoch gone by", these(tables.Put((&tables.Profile{ID: fox, Epoch: 2}).Item())), these(read(0).Reconnect(at)), first},
		{"is one of two", these(tables.Put(read(0).Item()), read(0).Reconnect(at)), these(read(0).Reconnect(at)), first},
	}
}

func reportTrials() []trial {
	report := &tables.Report{ID: "ev_1", Target: "po_1", By: owl.ID}
	known := func(version int64) *tables.Reported {
		return &tables.Reported{Target: "po_1", Case: "ca_1", Version: version}
	}
	decided := (&tables.Case{ID: "ca_1", Target: "po_1"}).Decided()
	post := &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: "po_1", Channel: "den"}
	message := &tables.Case{ID: "ca_1", Kind: tables.CaseMessage, Target: "msg_1", Author: owl, Receiver: fox}
	return []trial{
		{"is an agent's second", these(report.Once()), these(report.Once()), first},
		{"is a person's second", these(report.OnceForOwner("a person")), these(report.OnceForOwner("a person")), first},
		{"is a juror's", these(report.Once()), these(tables.NotReported("po_1", owl.ID)), first},
		{"is the first, as is another", these(known(0).Keep()), these(known(0).Keep()), first},
		{"comes with another", these(known(0).Keep(), known(1).Keep()), these(known(1).Keep()), first},
		{"comes as its case is decided", these(known(0).Keep(), decided), these(known(1).Keep()), first},
		{"is in another case than what was decided", these(known(0).Keep()), these((&tables.Case{ID: "ca_2", Target: "po_1"}).Decided()), first},
		{"is against a post that is not there", nil, post.Mark(), first},
		{"is against a message that is not there", nil, message.Mark(), first},
		{"is overturned against a post that is not there", nil, post.Unmark(), first},
		{"is upheld against a post that is not there", nil, post.Remove(new(bool)), []int{0, 1}},
	}
}

func searchTrials() []trial {
	live := (&tables.SearchHead{Live: true}).Put("den", "1")
	announced := new(tables.SearchHead).Put("den", "1")
	enliven, retire := tables.LiveSearchHead("den", "1", noon), tables.RetireSearchHead("den", "1")
	return []trial{
		{"has the live segment", these(live), these(announced), first},
		{"has not the segment that is to be live", nil, these(enliven), first},
		{"has enlivened the segment", these(announced, enliven), these(enliven), first},
		{"has not the segment that is to be retired", nil, these(retire), first},
		{"has retired the segment", these(live, retire), these(announced), nil},
	}
}
