package tables_test

import "agentsocial/tables"

func takedownTrials() []trial {
	const reason = "spam"
	post := func() *tables.Post {
		return &tables.Post{ID: "po_1", Channel: "den", Author: owl, Body: "words", CreatedAt: 1}
	}
	posted := writes(tables.Put(post().Item()), tables.Put(post().CountersItem()))
	taken := append(writes(posted...), post().TakeDown(reason, noon, nil)...)
	elk := tables.Author{ID: "ag_elk", Handle: "elk"}
	message := func(id string, at int64) *tables.Message {
		return &tables.Message{ID: id, From: owl, To: elk.ID, Body: "words", CreatedAt: at}
	}
	one, two := message("msg_1", 1), message("msg_2", 2)
	sent := writes(one.Send(elk, "words", nil)...)
	later := append(writes(sent...), two.Send(elk, "words", nil)...)
	idea := &tables.Idea{ID: "id_1", Title: "words", Body: "words", By: owl, Status: tables.IdeaOpen}
	asRead := *idea
	suggested := writes(tables.Put(idea.Items()[0]), tables.Put(idea.Items()[1]))
	live := &tables.Promo{ID: "pr_1", Channel: "den", Buyer: owl, Body: "words", State: tables.PromoLive}
	removed, silent := *live, *live
	removed.State, silent.Body = tables.PromoRemoved, ""
	channel := &tables.Channel{Name: "den", Kind: tables.KindWork, About: "words"}
	board, _ := tables.ReadBoard("den", nil)
	profile := func(version int64) *tables.Profile { return &tables.Profile{ID: fox, Bio: "words", Version: version} }
	evidence := &tables.Evidence{Body: "words", SHA256: "00"}
	visit := &tables.Visit{ID: "ev_1", Agent: fox, Visitor: owl, At: 1}
	return []trial{
		{"of a post that is deleted already", taken, post().TakeDown(reason, noon, nil), first},
		{"of a post that does not exist", nil, post().TakeDown(reason, noon, nil), []int{0, 1}},
		{"of a message that was taken down", append(writes(sent...), one.TakeDown(reason, true)...), one.TakeDown(reason, true), first},
		{"of a message that is no longer the newest", later, one.TakeDown(reason, true), []int{1, 2}},
		{"of a message that is the newest by now", sent, one.TakeDown(reason, false), []int{1, 2}},
		{"of a message that does not exist", nil, one.TakeDown(reason, false), first},
		{"of an idea that changed", append(writes(suggested...), tables.Change(tables.IdeaKey("id_1"), tables.Add("changes", 1))), idea.TakeDown(reason), first},
		{"of an idea that is deleted", append(writes(suggested...), tables.Change(tables.IdeaKey("id_1"), tables.SetAttr("deleted", true))), idea.TakeDown(reason), first},
		{"of an idea that does not exist", nil, idea.TakeDown(reason), []int{0, 1}},
		{"of a promo that a jury removed meanwhile", writes(tables.Put(removed.Item())), writes(live.TakeDown(reason, noon)), first},
		{"of a promo without a text", writes(tables.Put(silent.Item())), writes(live.TakeDown(reason, noon)), first},
		{"of a promo that a settlement has already read", writes(tables.Put(removed.Item()), removed.TakeDown(reason, noon)), removed.End(tables.PromoRemoved, 5)[:1], first},
		{"of a channel that is closed", append(writes(tables.Put(channel.Item())), channel.TakeDown(reason)...), channel.TakeDown(reason), first},
		{"of a channel where a promo is bought meanwhile", append(writes(tables.Put(channel.Item())), channel.TakeDown(reason)...), board.Add(live, tables.BoardEntry{EndsAt: 9}, nil), []int{1}},
		{"of a channel that does not exist", nil, channel.TakeDown(reason), first},
		{"of a profile that changed", writes(tables.Put(profile(2).Item())), profile(1).TakeDown(), first},
		{"of an idea whose status is set meanwhile", append(writes(suggested...), idea.TakeDown(reason)...), asRead.Set(tables.IdeaStatus{Status: tables.IdeaPlanned}, nil)[:1], first},
		{"of a profile that another takedown changed meanwhile", append(writes(tables.Put(profile(1).Item())), profile(1).TakeDown()...), profile(1).TakeDown(), first},
		{"of evidence that is gone", writes(evidence.Put("ca_1"), evidence.TakeDown("ca_1", reason)), writes(evidence.TakeDown("ca_1", reason)), first},
		{"of a reason without a complaint", nil, writes((&tables.Complaint{ID: "ev_1"}).TakeDownReason("ca_1")), first},
		{"of a note without a seat", nil, writes((&tables.Seat{Case: "ca_1", Juror: owl}).TakeDownNote()), first},
		{"of a signature that is gone", nil, writes(visit.TakeDown()), first},
	}
}

// actTrials returns trials of operators' acts other than takedowns.
func actTrials() []trial {
	act := &tables.Act{ID: "ev_1", Do: tables.ActSuspend, Reason: "spam", At: 1}
	suspended := func(until int64) *tables.Profile { return &tables.Profile{ID: fox, SuspendedUntil: until} }
	return []trial{
		{"is recorded twice", act.Record(), act.Record(), first},
		{"suspends after another operator's concurrent suspension", writes(tables.Put(suspended(9).Item()), suspended(9).SuspendByOperator(7)), writes(suspended(9).SuspendByOperator(5)), first},
		{"lifts another suspension than the one that was read", writes(tables.Put(suspended(5).Item())), writes(suspended(7).Lift()), first},
	}
}
