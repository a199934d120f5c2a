package tables_test

import (
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
)

// Each write in before is committed alone. Then the writes in tried are committed as one
// transaction.
type trial struct {
	name    string // continues the noun in the subtest's name
	before  []tables.Write
	tried   []tables.Write
	refused []int // indices of the writes in tried whose conditions fail
}

func writes(w ...tables.Write) []tables.Write { return w }

var (
	owl   = tables.Author{ID: "ag_owl", Handle: "owl"}
	first = []int{0}
)

func TestConditions(t *testing.T) {
	for noun, trials := range map[string][]trial{
		"act": actTrials(), "agent": agentTrials(), "appeal": appealTrials(), "board": boardTrials(), "case": caseTrials(), "channel": channelTrials(), "erasure": eraseTrials(), "guard": guardTrials(),
		"idea": ideaTrials(), "inbox": inboxTrials(), "juror": jurorTrials(), "lane": laneTrials(), "ledger": ledgerTrials(), "mark": markTrials(),
		"message": messageTrials(), "origin": originTrials(), "promo": promoTrials(), "recovery": recoveryTrials(),
		"report": reportTrials(), "search": searchTrials(), "takedown": takedownTrials(),
	} {
		for _, x := range trials {
			t.Run(noun+" "+x.name, func(t *testing.T) {
				table := openTable(t)
				for _, w := range x.before {
					commit(t, table, w)
				}
				if got := refused(t, table, x.tried...); !slices.Equal(got, x.refused) {
					t.Errorf("refused writes: got %v, want %v", got, x.refused)
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
	original, added := &tables.AgentKey{Pub: "pub", Original: true}, &tables.AgentKey{Pub: "pub"}
	visit := func(id string) []tables.Write {
		return (&tables.Visit{ID: id, Agent: fox, Visitor: owl, At: noon.UnixMilli()}).Sign(nil)
	}
	return []trial{
		{"signs a guestbook twice on one day", visit("ev_1"), visit("ev_2"), []int{1}},
		{"claims a taken handle", writes(tables.HandleClaim("fox", fox)), writes(tables.HandleClaim("fox", owl.ID)), first},
		{"changes the mentions of another's handle", writes(tables.HandleClaim("fox", owl.ID)), writes(tables.TakeMentions("fox", fox, tables.FromNobody)), first},
		{"that does not exist becomes an operator", nil, writes(tables.Operate(fox, true)), first},
		{"that does not exist stops being an operator", nil, writes(tables.Operate(fox, false)), first},
		{"signs up twice from one read", writes(tables.Put(tables.NewSignup(fox, noon).Item()), signup("fox")), writes(signup("vixen")), first},
		{"posts after a concurrent first activity", writes(tables.ActiveFrom(fox, noon)), writes(counters(hour(-2)).AddPosts(fox, 1, hour(2))), first},
		{"posts in a new hour after a concurrent post", writes(tables.Put(tables.CountersItem(fox, &tables.Counters{})), new(tables.Counters).AddPosts(fox, 1, noon)), writes(new(tables.Counters).AddPosts(fox, 1, hour(1))), first},
		{"that does not exist posts", nil, writes(counters(noon).AddPosts(fox, 1, noon)), first},
		{"removes a key of an old epoch", writes(put(tables.Profile{Epoch: 2, Keys: 2})), writes(read(tables.Profile{Epoch: 1}).RemoveKey()), first},
		{"claims a taken original key", writes(tables.OriginalKeyClaim("pub", fox)), writes(tables.OriginalKeyClaim("pub", owl.ID)), first},
		{"adds another's original key", writes(tables.OriginalKeyClaim("pub", owl.ID)), writes(added.Claim(fox)), first},
		{"adds another's added key", writes(added.Claim(owl.ID)), writes(added.Claim(fox)), first},
		{"registers with another's added key", writes(added.Claim(owl.ID)), writes(tables.OriginalKeyClaim("pub", fox)), first},
		{"removes another's original key", writes(tables.OriginalKeyClaim("pub", owl.ID)), writes(original.EndOriginal(fox)), first},
		{"requires another's original key", writes(tables.OriginalKeyClaim("pub", owl.ID)), writes(original.Claim(fox)), first},
		{"requires an original key that was removed", writes(tables.OriginalKeyClaim("pub", fox), original.EndOriginal(fox)), writes(original.Claim(fox)), first},
		{"that does not exist is required to be able to act", nil, writes(read(tables.Profile{}).MayAct()), first},
		{"is required to be able to act after a concurrent suspension", writes(put(tables.Profile{SuspendedUntil: 5})), writes(read(tables.Profile{}).MayAct()), first},
		{"is required unchanged after a concurrent recovery", writes(put(tables.Profile{Epoch: 2})), writes(read(tables.Profile{Epoch: 1}).Stands()), first},
		{"is required unchanged after a concurrent suspension", writes(put(tables.Profile{SuspendedUntil: 5})), writes(read(tables.Profile{}).Stands()), first},
		{"is required unchanged after a concurrent hold", writes(put(tables.Profile{HoldUntil: 5})), writes(read(tables.Profile{}).Stands()), first},
		{"is blocked", (&tables.Block{Agent: fox, Other: owl.ID}).Begin(nil, nil), writes(tables.NotBlocked(fox, owl.ID)), first},
		{"requires a follow that does not exist", nil, writes(tables.Follows(fox, owl.ID)), first},
		{"that does not exist gets a follower", nil, writes(tables.AddFollowers(tables.FollowAgent, fox, 1)), first},
		{"that does not exist follows", nil, writes(tables.AddFollowing(fox, 1)), first},
		{"that does not exist gets karma", nil, writes(tables.AddKarma(fox, 1)), first},
		{"that does not exist loses karma", nil, writes(tables.LoseKarma(fox, 1)), first},
		{"is tagged after a concurrent activity", writes(tables.Put(tables.CountersItem(fox, counters(noon)))), tables.Retag(fox, nil, tagged, hour(-1), nil), []int{1}},
		{"moves up after a concurrent change of tags", writes(put(tables.Profile{Version: 2}), tables.Put(tables.TagItem(fox, "poems", noon))), read(tables.Profile{Version: 1, Tags: tagged}).Rerank(noon), first},
		{"moves up under a removed tag", writes(put(tables.Profile{Version: 1})), read(tables.Profile{Version: 1, Tags: tagged}).Rerank(noon), []int{1}},
		{"writes its first memory twice from one read", tables.Memory{}.Replace(fox, tables.MemoryText{}, nil, nil), tables.Memory{}.Replace(fox, tables.MemoryText{}, nil, nil), first},
		{"writes its memory twice from one read", slices.Concat(tables.Memory{}.Replace(fox, tables.MemoryText{}, nil, nil), tables.Memory{Version: 1}.Replace(fox, tables.MemoryText{}, nil, nil)), tables.Memory{Version: 1}.Replace(fox, tables.MemoryText{}, nil, nil), first},
	}
}

func appealTrials() []trial {
	at := noon.UnixMilli()
	upheld := func() *tables.Case {
		return &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: "po_1", Channel: "den", State: tables.CaseUpheld, ClosedAt: at}
	}
	other := func(change func(*tables.Case)) tables.Write { c := upheld(); change(c); return c.Begin() }
	known := func(in string) tables.Write { return (&tables.Reported{Target: "po_1", Case: in}).Keep() }
	post := &tables.Post{ID: "po_1", Channel: "den", Author: owl, CreatedAt: at}
	tombstone := *post
	tombstone.Deleted, tombstone.DeletedAt, tombstone.Case = true, at, "ca_1"
	byAuthor, byOther := tombstone, tombstone
	byAuthor.DeletedAt, byOther.Case = at-1, "ca_2"
	counters, channel := tables.Put(post.CountersItem()), tables.Put((&tables.Channel{Name: "den"}).Item())
	evidence := (&tables.Evidence{Body: "Buy!"}).Put("ca_9")
	restore := post.Restore(upheld(), "ca_9", "Buy!", &tables.PostCounters{})
	standing := tables.AddKarmaOf(fox, 1, noon, "an owner")
	suspended := func(until int64) *tables.Profile { return &tables.Profile{ID: fox, SuspendedUntil: until} }
	operated := &tables.Profile{ID: fox, SuspendedUntil: 9, OperatorUntil: 9}
	return []trial{
		{"is made", writes(upheld().Begin()), writes(upheld().BeAppealed("ca_9")), nil},
		{"is made twice", writes(upheld().Begin(), upheld().BeAppealed("ca_9")), writes(upheld().BeAppealed("ca_8")), first},
		{"is made of a case that is not upheld", writes(other(func(c *tables.Case) { c.State = tables.CaseOverturned })), writes(upheld().BeAppealed("ca_9")), first},
		{"is made of an appeal", writes(other(func(c *tables.Case) { c.Appeals = "ca_0" })), writes(upheld().BeAppealed("ca_9")), first},
		{"overrules a case that changed meanwhile", writes(upheld().Begin(), upheld().BeAppealed("ca_9"), known("ca_1")), upheld().Overrule(), first},
		{"overrules a case that is not the item's newest", writes(upheld().Begin(), known("ca_2")), upheld().Overrule(), []int{1}},
		{"restores a post", writes(tables.Put(tombstone.Item()), counters, channel, evidence), restore, nil},
		{"restores a post that another case removed", writes(tables.Put(byOther.Item()), counters, channel, evidence), restore, first},
		{"restores a post that its author deleted", writes(tables.Put(byAuthor.Item()), counters, channel, evidence), restore, first},
		{"restores a post whose mark was counted meanwhile", writes(tables.Put(tombstone.Item()), tables.Change(tables.PostCountersKey("den", "po_1"), tables.SetAttr("tallies", int64(1))), channel, evidence), restore, []int{1}},
		{"restores a post without counters", writes(tables.Put(tombstone.Item()), channel, evidence), restore, []int{1}},
		{"restores a post in a closed channel", writes(tables.Put(tombstone.Item()), counters, channel, (&tables.Channel{Name: "den"}).TakeDown("illegal")[0], evidence), restore, []int{2}},
		{"restores a post in no channel", writes(tables.Put(tombstone.Item()), counters, evidence), restore, []int{2}},
		{"restores a post whose text was taken down", writes(tables.Put(tombstone.Item()), counters, channel, evidence, (&tables.Evidence{}).TakeDown("ca_9", "illegal")), restore, []int{3}},
		{"lifts a suspension that an operator also set meanwhile", writes(tables.Put(suspended(9).Item()), suspended(9).SuspendByOperator(7)), writes(suspended(9).LiftTo(3)), first},
		{"lifts a suspension after an operator's own was lifted", writes(tables.Put(operated.Item()), operated.Lift(), suspended(0).Suspend(9)), writes(suspended(9).LiftTo(3)), nil},
		{"lifts a suspension that changed meanwhile", writes(tables.Put(suspended(9).Item())), writes(suspended(5).LiftTo(3)), first},
		{"gives standing to an agent that does not exist", nil, writes(standing), first},
		{"takes standing from an agent that does not exist", nil, writes(tables.Unvouch(fox)), first},
		{"takes an owner's vouch from an agent that does not exist", nil, writes(tables.UnvouchBy(fox, "an owner")), first},
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
	added := append(writes(tables.Put((&tables.Channel{Name: "den"}).Item())), none.Add(one, entry, nil)[0], board(1, "pr_1").Add(two, entry, nil)[0])
	return []trial{
		{"of a channel that does not exist gets a promo", nil, none.Add(one, entry, nil), []int{1}},
		{"of a channel that does not exist loses a promo", writes(none.Add(one, entry, nil)[0]), board(1, "pr_1").Drop("pr_1"), []int{1}},
		{"loses a promo after a concurrent loss", append(added, board(2, "pr_1", "pr_2").Drop("pr_1")...), board(2, "pr_1", "pr_2").Drop("pr_2"), first},
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
		{"is required unchanged after a concurrent report", writes(open().Begin(), tables.JoinCase("ca_1", owl.ID, "", false)), writes(open().Unchanged()), first},
		{"closes without being counted as open", writes(open().Begin(), known().Keep()), open().Close(tables.CaseLapsed, noon, new(bool), nil)[:3], []int{2}},
		{"repeats a draw", writes(draw), writes(draw), first},
		{"seats a juror twice", writes(seat.Take()), writes(seat.Take()), first},
		{"gets a vote twice", writes(seat.Take(), seat.Vote()), writes(seat.Vote()), first},
		{"is left twice", writes(seat.Take(), seat.Leave(tables.SeatMissed)), writes(seat.Leave(tables.SeatSpared)), first},
		{"is joined by its juror", writes(seat.Take()), writes(tables.NotSeated("ca_1", owl.ID)), first},
		{"becomes a duty twice", append(writes(counters(0)), duty.Begin(0)...), duty.Begin(1), first},
		{"ends a duty that does not exist", nil, writes(duty.End()), first},
		{"ends a duty twice", append(writes(counters(0)), append(duty.Begin(0), duty.End())...), writes(duty.End()), first},
		{"extends a duty that does not exist", nil, writes(duty.Extend()), first},
		{"ends a duty of an agent that does not exist", nil, writes(tables.EndDuty(owl.ID)), first},
		{"becomes a duty after a concurrent end of another", writes(counters(1), tables.EndDuty(owl.ID)), duty.Begin(1), []int{1}},
		{"is left twice from one count of duties", writes(counters(2), tables.LeaveDuties(owl.ID, 2, 2, 0)), writes(tables.LeaveDuties(owl.ID, 2, 2, 0)), first},
		{"is upheld first, concurrently with another", writes(upheld(0)), writes(upheld(0)), first},
		{"is upheld second, concurrently with another", writes(upheld(0), upheld(1)), writes(upheld(1)), first},
	}
}

func channelTrials() []trial {
	put := tables.Put((&tables.Channel{Name: "den"}).Item())
	last := func(at int64) *tables.Channel { return &tables.Channel{Name: "den", LastPostAt: at} }
	later := time.Hour.Milliseconds()
	due := func(h int) tables.SealDue {
		return tables.SealDue{Channel: "den", At: noon.Add(time.Duration(h) * time.Hour).UnixMilli()}
	}
	at := func(h int) time.Time { return noon.Add(time.Duration(h) * time.Hour) }
	taken := func(h int) tables.SealDue { d := due(h); d.Taken = true; return d }
	take := func(d tables.SealDue, until time.Time) tables.Write { _, w := d.Take(until); return w }
	return []trial{
		{"that does not exist loses a post", nil, last(9).AddPosts(-1, 9), first},
		{"that does not exist gets a post", nil, last(0).AddPosts(1, 9), first},
		{"gets a post after a concurrent first one", append(writes(put), last(0).AddPosts(1, 9)...), last(0).AddPosts(1, 12), first},
		{"gets a post after a concurrent one", slices.Concat(writes(put), last(0).AddPosts(1, 9), last(9).AddPosts(1, 12)), last(9).AddPosts(1, 15), first},
		{"moves in the directory", writes(put), last(0).AddPosts(1, later), nil},
		{"moves in the directory after it was taken down", append(writes(put), last(0).TakeDown("illegal")...), last(0).AddPosts(1, later), first},
		{"becomes due twice from one read", writes(tables.SealDue{Channel: "den"}.Move(at(0))), writes(tables.SealDue{Channel: "den"}.Move(at(1))), first},
		{"moves a due time that was removed", writes(tables.SealDue{Channel: "den"}.Move(at(0)), due(0).Move(time.Time{})), writes(due(0).Move(at(1))), first},
		{"moves a due time that was taken again", writes(tables.SealDue{Channel: "den"}.Move(at(0)), take(due(0), at(1)), take(taken(1), at(2))), writes(taken(1).Move(at(3))), first},
		{"removes a due time that was not taken", writes(tables.SealDue{Channel: "den"}.Move(at(1))), writes(taken(1).Move(time.Time{})), first},
	}
}

func guardTrials() []trial {
	bound := tables.Guard(fox, noon, noon, "", "", tables.Bound{Name: "n", Most: 1})
	digest := tables.Guard(fox, noon, noon, "d:1", "201")
	quota := tables.Quota(fox, "rule", noon, time.Hour, 2, 3)
	idempotency := tables.Idempotency(fox, "key", "digest", "201", noon)
	claim := tables.ClaimRequest(fox, "name", noon)
	nonce := tables.SpendNonce("nonce", &tables.SpentNonce{})
	used := tables.MarkUsed(fox, "pub", noon)
	body := func(after time.Duration) tables.Write {
		return tables.BodyOnce(fox, "hash", "po_1", "lounge", noon.Add(after))
	}
	return []trial{
		{"exceeds a bound", writes(bound), writes(bound), first},
		{"repeats a request", writes(digest), writes(digest), first},
		{"exceeds a quota", writes(quota), writes(quota), first},
		{"repeats an Idempotency-Key", writes(idempotency), writes(idempotency), first},
		{"repeats a request under way", writes(claim), writes(claim), first},
		{"spends a challenge twice", writes(nonce), writes(nonce), first},
		{"records a day of use twice", writes(used), writes(used), first},
		{"repeats a body", writes(body(0)), writes(body(0)), first},
		{"repeats a body a millisecond before a day has passed", writes(body(0)), writes(body(24*time.Hour - time.Millisecond)), first},
		{"repeats a body after a day", writes(body(0)), writes(body(24 * time.Hour)), nil},
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
		{"gets a status after a concurrent one", append(put("id_a"), idea("id_a", 0).Set(planned, nil)...), idea("id_a", 0).Set(declined, nil), first},
		{"without counters gets a status", put("id_a")[:1], idea("id_a", 0).Set(planned, nil), []int{1}},
		{"leaves an original that does not exist", slices.Concat(put("id_a"), aOfB()[:2]), duplicate("id_a", "id_b", 1).Set(planned, nil), []int{2}},
		{"gets a status after a concurrent loss of a duplicate", slices.Concat(put("id_a", "id_b"), aOfB(), duplicate("id_a", "id_b", 1).Set(planned, nil)), original("id_b", 1, "id_a").Set(planned, nil), first},
		{"becomes a duplicate of an original that changed", slices.Concat(put("id_a", "id_b"), idea("id_b", 0).Set(planned, nil)), aOfB(), []int{2}},
		{"becomes a duplicate of a duplicate", slices.Concat(put("id_a", "id_b", "id_c"), idea("id_b", 0).Set(duplicateOf("id_c"), idea("id_c", 0))), idea("id_a", 0).Set(duplicateOf("id_b"), duplicate("id_b", "id_c", 1)), []int{2}},
		{"gets a status after a concurrent change of its original", slices.Concat(put("id_a", "id_b", "id_c"), aOfB(), bOfC()), duplicate("id_a", "id_b", 1).Set(planned, nil), first},
		{"becomes a duplicate after a concurrent loss of its own", slices.Concat(put("id_a", "id_b", "id_c"), original("id_b", 0).Set(planned, nil)), bOfC(), []int{3}},

		{"counts waiting support", writes(s.Give()), writes(read(1).Count(counted)), nil},
		{"counts support twice", writes(s.Give(), read(1).Count(counted)), writes(read(1).Count(counted)), first},
		{"counts support that was given again", writes(s.Give(), s.Give()), writes(read(1).Count(counted)), first},
		{"that does not exist gets support", nil, numbers(1).Add(1, noon), first},
		{"adds support after a concurrent addition", append(put("id_a"), numbers(1).Add(1, noon)...), numbers(1).Add(1, noon), first},
		{"reaches a milestone twice", append(put("id_a"), numbers(0).Add(1, noon)[1]), numbers(0).Add(1, noon), []int{1}},
	}
}

func inboxTrials() []trial {
	advance := func(seq int64) tables.Write {
		return tables.InboxHead{Seq: seq}.Advance(fox, seq+1, noon.UnixMilli())
	}
	marker, tally := tables.InboxMarker(fox, "source", 1, noon), tables.TallyMarker(fox, "record", noon)
	push := tables.Push("po_1", nil, noon)
	event := tables.InboxEvent{Kind: tables.EventReply, HappenedAt: noon.UnixMilli(), Text: "hello"}
	waits := event.Wait(fox, "source", noon, 0)
	number := func(changes int64) []tables.Write {
		w := &tables.WaitingEvent{InboxEvent: event, Key: waits.Key, Source: "source"}
		w.Changes = changes
		_, writes := w.Number(fox, &tables.InboxHead{}, nil)
		return writes
	}
	redacts := tables.RedactEvent(waits.Key)
	return []trial{
		{"puts the same waiting event twice", writes(waits), writes(waits), first},
		{"numbers an event", writes(waits), number(0), nil},
		{"numbers an event whose source has a marker", writes(waits, marker), number(0), []int{1}},
		{"numbers an event whose text was removed meanwhile", writes(waits, redacts), number(0), []int{2}},
		{"numbers an event without its text", writes(waits, redacts), number(1), nil},
		{"numbers an event whose sender's name was removed meanwhile", writes(waits, redacts, tables.ForgetSender(waits.Key, owl.ID)), number(1), []int{2}},
		{"numbers a changed event that is gone", nil, number(1), []int{2}},
		{"forgets the sender of an event that does not exist", nil, writes(tables.ForgetSender(waits.Key, owl.ID)), first},
		{"appends after a concurrent first event", writes(advance(0)), writes(advance(0)), first},
		{"appends after a concurrent event", writes(advance(0), advance(1)), writes(advance(1)), first},
		{"repeats a source's event", writes(marker), writes(marker), first},
		{"redacts an event that does not exist", nil, writes(tables.RedactEvent(tables.InboxEventKey(fox, 1))), first},
		{"repeats a tally", writes(tally), writes(tally), first},
		{"repeats a push", writes(push), writes(push), first},
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
		{"volunteers twice", append(writes(profile, origin), j.Volunteer("a person", tables.VolunteerRefusals{})...), j.Volunteer("a person", tables.VolunteerRefusals{}), []int{0, 1}},
		{"volunteers without an origin", writes(tables.Put((&tables.Profile{ID: fox}).Item()), origin), j.Volunteer("a person", tables.VolunteerRefusals{}), []int{2}},
		{"volunteers with another person's origin", writes(profile, origin), j.Volunteer("somebody else", tables.VolunteerRefusals{}), []int{3}},
		{"of the same owner forgets the missed duties", append(writes(missed.Claim()), missed.Leave(nil, noon)[1]), writes(juror(owl.ID, 0, 5).Claim()), first},
		{"of the same owner forgets the day of a missed duty", append(writes(missed.Claim()), missed.Leave(nil, noon)[1]), writes(juror(owl.ID, 2, 0).Claim()), first},
		{"of the same owner inherits the missed duties", append(writes(missed.Claim()), missed.Leave(nil, noon)[1]), writes(juror(owl.ID, 2, 5).Claim()), nil},
		{"of the same owner follows one without missed duties", append(writes(j.Claim()), j.Leave(nil, noon)[1]), writes(juror(owl.ID, 0, 0).Claim()), nil},
		{"ends another's claim", writes(juror(owl.ID, 0, 0).Claim()), j.Leave(nil, noon)[1:], first},
		{"with missed duties ends another's claim", writes(juror(owl.ID, 2, 5).Claim()), missed.Leave(nil, noon)[1:], first},
		{"leaves twice", append(writes(put), j.Leave(nil, noon)[0]), j.Leave(nil, noon)[:1], first},
		{"leaves after volunteering again", writes(put), later.Leave(nil, noon)[:1], first},
		{"leaves after a concurrent missed duty", writes(put), busy.Leave(nil, noon)[:1], first},
		{"leaves after a concurrent vote", writes(put, j.Serve(5)), j.Leave(nil, noon)[:1], first},
		{"without a profile withdraws", writes(put, j.Claim()), j.Withdraw(nil, noon), []int{2}},
		{"is retired after a concurrent activity", writes(put, j.Claim(), profile, tables.Put(tables.CountersItem(fox, &tables.Counters{LastActive: 5}))), j.Retire(5, noon), []int{4}},
		{"is required not to be in the pool", writes(put), writes(tables.NoJuror(fox)), first},
		{"is summoned twice from one read", writes(put, j.Summon("01")), writes(j.Summon("02")), first},
		{"serves twice from one read", writes(tables.Put(missed.Item()), missed.Serve(5)), writes(missed.Serve(6)), first},
	}
}

func ledgerTrials() []trial {
	m := *movement(payer, tables.Revenue, tables.PaidMessage, "msg_1", 30)
	count := tables.CountMovements([]tables.Movement{m})
	checkout := (&tables.Checkout{ID: "cs_1", Agent: fox}).Put()
	end := tables.EndCheckout(fox, "cs_1", tables.CheckoutExpired, noon)
	return []trial{
		{"counts a movement that does not exist", nil, count, first},
		{"counts a movement twice", append(writes(tables.Put(m.Item())), count...), count, first},
		{"stores a checkout twice", writes(checkout), writes(checkout), first},
		{"ends a checkout that does not exist", nil, writes(end), first},
		{"ends a checkout twice", writes(checkout, end), writes(end), first},
	}
}

func markTrials() []trial {
	r := func(changes int64) *tables.Reactions {
		return &tables.Reactions{Post: "po_1", By: owl, Changes: changes}
	}
	three := writes(r(0).React("🦊"), r(0).React("🦉"), r(0).React("🦌"))
	helpful := func(id string) []tables.Write {
		return (&tables.Helpful{ID: id, Post: "po_1", To: fox, By: owl}).Mark(nil)
	}
	return []trial{
		{"is one emoji too many", three, writes(r(3).React("🐻")), first},
		{"is an emoji after another was removed", append(three, r(3).Unreact("🦊")), writes(r(4).React("🐻")), nil},
		{"is counted after it was taken back", writes(r(0).React("🦊"), r(1).Count(tables.NewSet("🦊")), r(1).Unreact("🦊")), writes(r(2).Count(nil)), nil},
		{"waits although it is counted", append(helpful("ev_1"), (&tables.Helpful{Post: "po_1"}).Count(1)), writes(tables.WaitMark(tables.Item{"pk": "P#po_1", "sk": "HELPFUL", "type": tables.TypeHelpful})), first},
		{"that does not exist is taken back", nil, writes(r(0).Unreact("🦊")), first},
		{"is helpful twice", helpful("ev_1"), helpful("ev_2"), first},
		{"is tallied for a post that does not exist", nil, writes(new(tables.PostCounters).Retally("den", "po_1", nil)), first},
		{"is a reply to a post that does not exist", nil, writes(tables.AddReplies("den", "po_1", 1)), first},
	}
}

func messageTrials() []trial {
	send := func(id string) []tables.Write {
		return (&tables.Message{ID: id, From: owl, To: fox, CreatedAt: 5}).Send(tables.Author{ID: fox}, "", nil)
	}
	got := slices.Concat(send("msg_1"), writes(new(tables.Messaging).Receive(fox)))
	read := func(before, to string) []tables.Write {
		return (&tables.Conversation{With: owl, ReadTo: before}).MarkRead(fox, to, 1)
	}
	closed := tables.TakeMessages(fox, tables.FromNobody)
	return []trial{
		{"is of the same millisecond as the last one", send("msg_1"), send("msg_2"), []int{1}},
		{"is read in a conversation that does not exist", nil, read("", "msg_1"), []int{0, 1}},
		{"is read twice, as the first of its conversation", append(got, read("", "msg_1")...), read("", "msg_1"), first},
		{"is read twice", slices.Concat(got, read("", "msg_1"), read("msg_1", "msg_2")), read("msg_1", "msg_2"), first},
		{"arrives after a concurrent first change of dms", writes(closed), writes(new(tables.Messaging).Receive(fox)), first},
		{"arrives after a concurrent change of dms", writes(closed), writes((&tables.Messaging{DMs: tables.FromAnyone}).Receive(fox)), first},
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
	shared := func(id string) *tables.SharedCode { return &tables.SharedCode{ID: id, ExpiresAt: noon.UnixMilli()} }
	return []trial{
		{"is verified by a shared code that was replaced", writes(shared("mail_1").Put("person"), shared("mail_2").Put("person")), writes(shared("mail_1").Spend("person")), first},
		{"is verified twice by a shared code", writes(shared("mail_1").Put("person"), shared("mail_1").Spend("person")), writes(shared("mail_1").Spend("person")), first},
		{"becomes an agent's first twice", writes(origin(5).Replace(origin(0))), writes(origin(6).Replace(origin(0))), first},
		{"replaces another twice from one read", writes(origin(5).Replace(origin(0)), origin(6).Replace(origin(5))), writes(origin(7).Replace(origin(5))), first},
		{"is requested without a signature after a request with one", writes(asks("or_1", true).Ask(fox, noon)), writes(other.Ask(fox, noon)), first},
		{"is verified", writes(ask), writes(one.Spend(fox, 1)), nil},
		{"is verified by another request's code", writes(ask), writes(other.Spend(fox, 1)), first},
		{"is verified after too many tries", writes(ask, one.Miss(fox, 1)), writes(one.Spend(fox, 1)), first},
		{"is verified twice", writes(ask, one.Spend(fox, 1)), writes(one.Spend(fox, 1)), first},
		{"counts a miss of another request", writes(ask), writes(other.Miss(fox, 1)), first},
		{"counts a miss after too many tries", writes(ask, one.Miss(fox, 1)), writes(one.Miss(fox, 1)), first},
		{"is requested in an old epoch", writes(profile), writes(old.OriginPending(5)), first},
		{"is forgotten after it was replaced", writes(profile, origin(6).Replace(origin(0))), now.ForgetOrigin(origin(5), nil, noon, nil, nil), []int{1}},
		{"is verified in an old epoch", writes(profile), writes(old.OriginVerified(origin(5), true, false)), first},
		{"is verified without a key by an agent that has one", writes(profile), writes(now.OriginVerified(origin(5), true, true)), first},
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
		return p(0, 0).Earn(p(impressions, views), noon)[:1] // without the writes of the movement
	}
	return []trial{
		{"is removed twice", writes(put, remove), writes(remove), first},
		{"earns after concurrent impressions", writes(put, earn(1, 0)[0]), earn(2, 0), first},
		{"earns after concurrent views", writes(put, earn(0, 1)[0]), earn(0, 2), first},
		{"ends after concurrent impressions", writes(put, earn(1, 0)[0]), end(0, 0), first},
		{"ends after concurrent views", writes(put, earn(0, 1)[0]), end(0, 0), first},
		{"ends after a concurrent removal", writes(put, remove), end(0, 0), first},
		{"ends twice", append(writes(put), end(0, 0)...), end(0, 0), []int{0, 1}},
	}
}

func recoveryTrials() []trial {
	code, other := &tables.RecoveryCode{ID: "rc_1"}, &tables.RecoveryCode{ID: "rc_2"}
	put := code.Put(fox)
	once := (&tables.Recovered{Agent: fox}).Once("hash")
	read := func(keys int64) *tables.Profile { return &tables.Profile{ID: fox, Epoch: 1, Keys: keys} }
	at := noon.UnixMilli()
	full, joined, joinedTwice := read(10), read(9), read(8)
	one := writes(tables.Put(joined.Item()), joined.Recover(false, 10, at)) // also sets the hold in joined
	return []trial{
		{"code of another request is withdrawn", writes(put), writes(other.Withdraw(fox)), first},
		{"code is withdrawn twice", writes(put, code.Withdraw(fox)), writes(code.Withdraw(fox)), first},
		{"code of another request is used", writes(put), writes(other.Spend(fox, 1)), first},
		{"code is used after too many tries", writes(put, code.Miss(fox, 1)), writes(code.Spend(fox, 1)), first},
		{"code is used twice", writes(put, code.Spend(fox, 1)), writes(code.Spend(fox, 1)), first},
		{"code of another request gets a failed try", writes(put), writes(other.Miss(fox, 1)), first},
		{"code gets a failed try after too many", writes(put, code.Miss(fox, 1)), writes(code.Miss(fox, 1)), first},
		{"is recorded twice", writes(once), writes(once), first},
		{"adds one key too many", writes(tables.Put(full.Item())), writes(read(10).Recover(false, 10, at)), first},
		{"adds one key too many, based on the same read", one, writes(joined.Recover(false, 10, at)), first},
		{"adds the last allowed key, based on the same read", writes(tables.Put(read(8).Item()), joinedTwice.Recover(false, 10, at)), writes(joinedTwice.Recover(false, 10, at)), nil},
		{"ends the epoch", writes(tables.Put(full.Item()), read(10).Recover(true, 10, at)), writes(read(10).OriginPending(5)), first},
		{"leaves one key", writes(tables.Put(full.Item()), read(10).Recover(true, 10, at)), writes((&tables.Profile{ID: fox, Epoch: 2}).AddKey(2)), nil},
		{"is in an old epoch", writes(tables.Put((&tables.Profile{ID: fox, Epoch: 2}).Item())), writes(read(0).Reconnect(at)), first},
		{"is made twice from one read", writes(tables.Put(read(0).Item()), read(0).Reconnect(at)), writes(read(0).Reconnect(at)), first},
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
		{"is an agent's second", writes(report.Once()), writes(report.Once()), first},
		{"is an owner's second", writes(report.OnceForOwner("a person")), writes(report.OnceForOwner("a person")), first},
		{"replaces a report other than the one that was read", writes(report.Once()), writes(report.Again("ev_2")), first},
		{"replaces one that does not exist", nil, writes(report.Again("ev_1")), first},
		{"is by a juror", writes(report.Once()), writes(tables.NotReported("po_1", owl.ID)), first},
		{"is the first, concurrently with another", writes(known(0).Keep()), writes(known(0).Keep()), first},
		{"is made after a concurrent one", writes(known(0).Keep(), known(1).Keep()), writes(known(1).Keep()), first},
		{"is made after its case was decided", writes(known(0).Keep(), decided), writes(known(1).Keep()), first},
		{"belongs to another case than the decided one", writes(known(0).Keep()), writes((&tables.Case{ID: "ca_2", Target: "po_1"}).Decided()), first},
		{"marks a post that does not exist", nil, post.Mark(), first},
		{"marks a message that does not exist", nil, message.Mark(), first},
		{"unmarks a post that does not exist", nil, post.Unmark(), first},
		{"removes a post that does not exist", nil, post.Remove(new(bool)), []int{0, 1}},
	}
}

func searchTrials() []trial {
	live := (&tables.SearchHead{Live: true}).Put("den", "1")
	announced := new(tables.SearchHead).Put("den", "1")
	enliven, retire := tables.LiveSearchHead("den", "1", noon), tables.RetireSearchHead("den", "1")
	return []trial{
		{"announces a live segment", writes(live), writes(announced), first},
		{"makes a segment live that does not exist", nil, writes(enliven), first},
		{"makes a segment live twice", writes(announced, enliven), writes(enliven), first},
		{"retires a segment that does not exist", nil, writes(retire), first},
		{"announces a retired segment", writes(live, retire), writes(announced), nil},
	}
}

func laneTrials() []trial {
	lane := tables.Lane{To: "karma", Name: fox}
	key := tables.LaneKey(tables.CountersKey(fox), lane.To, 1)
	at := func(n, at int64) tables.Lane { return tables.Lane{N: n, At: at} }
	add := func(old tables.Item, n, at int64) []tables.Write { return writes(lane.Add(key, old, n, at)) }
	return []trial{
		{"is added to twice", add(nil, 5, 0), add(nil, 5, 0), nil},
		{"moves after an addition", append(add(nil, 5, 0), add(nil, 2, 0)...), writes(at(5, 0).Take(key)), first},
		{"moves after an activity", append(add(nil, 5, 0), add(nil, 0, 7)...), writes(at(5, 0).Take(key)), first},
		{"moves after a later activity", append(add(nil, 5, 7), add(tables.Item{"at": int64(7)}, 0, 8)...), writes(at(5, 7).Take(key)), first},
		{"moves again", append(add(nil, 5, 0), at(5, 0).Take(key)), writes(at(5, 0).Take(key)), first},
		{"moves as read", add(nil, 5, 7), writes(at(5, 7).Take(key)), nil},
		{"gets a first activity after a concurrent one", add(nil, 1, 7), add(nil, 1, 6), first},
		{"gets a later activity after a concurrent one", append(add(nil, 1, 7), add(tables.Item{"at": int64(7)}, 1, 9)...), add(tables.Item{"at": int64(7)}, 1, 8), first},
		{"gets an earlier activity than it has", add(nil, 1, 7), add(tables.Item{"at": int64(7)}, 1, 6), nil},
		{"that was moved waits", nil, writes(lane.Wait(key)), first},
	}
}
