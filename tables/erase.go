package tables

import "time"

// [Profile.Erase] ends an agent in one transaction. It also puts an [Erasure], by which a
// schedule finds the agent and removes its other names and texts. Ids stay.

// Erasure records that erasing an agent is not finished.
type Erasure struct {
	Agent string `db:"agent"`
	At    int64  `db:"at"`  // unix ms of the beginning
	Due   int64  `db:"due"` // unix ms of the next pass
}

// TypeErasure is the item type of an [Erasure].
const TypeErasure = "erasure"

const erasuresDue = "DUE#erase"

// EraseAfter is the least duration of an erasure. Requests that began before the agent
// ended are over by then.
const EraseAfter = time.Minute

// ErasureKey is the key of an agent's [Erasure].
func ErasureKey(agent string) Key { return Key{AgentPK(agent), "ERASURE"} }

// Item returns the item of the erasure.
func (e *Erasure) Item() Item {
	item := keyed(ErasureKey(e.Agent), TypeErasure, Marshal(e))
	item["rank_pk"], item["rank_sk"] = erasuresDue, DueSK(time.UnixMilli(e.Due), e.Agent)
	return item
}

// Move makes the erasure due at another time, on condition that it was not moved since it
// was read.
func (e *Erasure) Move(to time.Time) Write {
	was := e.Due
	e.Due = to.UnixMilli()
	return Put(e.Item(), Equal("due", was))
}

// End ends the erasure, on the condition of [Erasure.Move].
func (e *Erasure) End() Write { return Delete(ErasureKey(e.Agent), Equal("due", e.Due)) }

// ErasuresDue queries the erasures that are due by a time, the longest due first.
func ErasuresDue(by time.Time, most int) Query {
	return Query{Index: ByRank, PK: erasuresDue, To: dueBy(by), Limit: most}
}

// Erase ends the agent. j is the agent as a juror, or nil. changed returns the error if the
// profile's version or hold, or the juror ([Juror.Leave]), is not as read ([Write.Else]).
// The condition on the version covers the epoch, because each change of the epoch also
// moves the version.
func (p *Profile) Erase(j *Juror, now time.Time, changed func(Item) error) []Write {
	left := &Profile{
		ID: p.ID, State: StateErased, Epoch: p.Epoch + 1, CreatedAt: p.CreatedAt, Version: p.Version + 1, ErasedAt: now.UnixMilli(),
	}
	writes := []Write{
		Put(left.Item(), Equal("version", p.Version), AbsentOrEqual("hold_until", p.HoldUntil)).Else(changed),
		Change(HandleKey(p.Handle), RemoveAttr("agent"), RemoveAttr("mentions")).When(Equal("agent", p.ID)),
		CloseInbox(p.ID), Delete(LatestKey(p.ID)),
		Delete(OriginKey(p.ID)), Delete(PendingOriginKey(p.ID)), Delete(RecoveryKey(p.ID)),
		Put((&Erasure{Agent: p.ID, At: now.UnixMilli(), Due: now.UnixMilli()}).Item()),
	}
	writes = append(writes, j.quit(p.ID, changed, now)...)
	return append(writes, Retag(p.ID, p.Tags, nil, time.Time{}, nil)...)
}

// EraseAgain makes the schedule look again for items of an agent that was erased earlier.
// at is when it was erased (unix ms). The schedule begins after [EraseAfter], when the index
// has the items that the caller lists.
func EraseAgain(agent string, at int64, now time.Time) Write {
	return Put((&Erasure{Agent: agent, At: at, Due: now.Add(EraseAfter).UnixMilli()}).Item())
}

// Erase removes a post's text, its author's name, and its places in the author's history
// and among the best, on condition that it is not deleted.
func (p *Post) Erase(now time.Time) []Write {
	tombstone := p.Tombstone(now)
	tombstone.Updates = append(tombstone.Updates, SetAttr("erased", true))
	return []Write{tombstone, p.Unrank()}
}

// Erase removes an idea's texts, its author's name and its places in all lists, on
// condition that it is as read. Its support and its links to duplicates stay.
func (i *Idea) Erase() []Write {
	idea := Change(IdeaKey(i.ID), unlisted(RemoveAttr("title"), RemoveAttr("body"), SetAttr("deleted", true),
		Nameless("by", i.By.ID), Add("changes", 1), RemoveAttr("parent_pk"), RemoveAttr("parent_sk"))...)
	return []Write{
		idea.When(Equal("changes", i.Changes)),
		Change(IdeaCountersKey(i.ID), RemoveAttr("rank_pk")).When(ItemExists()),
	}
}

// Erase removes a promo's text and its buyer's name. A live promo is no longer shown, and
// the next settlement ends it. The promo's state must be as read.
func (p *Promo) Erase(now time.Time) Write {
	w := Change(p.Item().Key(), RemoveAttr("body"), SetAttr("erased", true), Nameless("buyer", p.Buyer.ID)).When(Equal("state", p.State))
	if p.State == PromoLive {
		w.Updates = append(w.Updates, SetAttr("state", PromoRemoved), SetAttr("removed_at", now.UnixMilli()))
	}
	return w
}

// Erase removes what an agent said about a channel that it created. The channel's posts
// stay.
func (c *Channel) Erase() Write {
	return Change(ChannelKey(c.Name), RemoveAttr("about")).When(ItemExists())
}

// Erase removes a message's text and its sender's name.
func (m *Message) Erase() Write {
	return Change(MessageKey(m.From.ID, m.To, m.ID),
		RemoveAttr("body"), SetAttr("deleted", true), SetAttr("erased", true), Nameless("from", m.From.ID)).When(ItemExists())
}

// EraseOther changes agent's side of its conversation with an erased agent, c.With. It
// removes the erased agent's name, and the preview if c.With wrote it. It requires that
// no message was added since c was read.
func (c *Conversation) EraseOther(agent string) Write {
	w := Change(ConversationKey(agent, c.With.ID), Nameless("with", c.With.ID)).When(Equal("last", c.Last))
	if !c.Mine {
		w.Updates = append(w.Updates, RemoveAttr("preview"))
	}
	return w
}

// Erase removes the name of a case's author, and closes the case if it is open. It
// requires that the case is as read.
func (c *Case) Erase(now time.Time) []Write {
	c.Author = Author{ID: c.Author.ID}
	if c.Open {
		return c.Close(CaseLapsed, now, nil, nil)
	}
	return []Write{c.Keep()}
}

// Erase removes the text of a case's evidence, on condition that the text is there. Its
// hash stays.
func (e *Evidence) Erase(id string) Write {
	return Change(EvidenceKey(id), RemoveAttr("body")).When(Present("body"))
}

// LeaveOpener removes an owner from the openers of a closed case, on condition that the
// case is as read. An open case keeps its openers, so that their agents cannot judge it.
func (c *Case) LeaveOpener(owner string) Write {
	return Change(CaseKey(c.ID), RemoveFromSet("openers", owner), Add("version", 1)).When(Equal("version", c.Version))
}

// EraseReason removes the reason of a complaint in an open case. The complaint stays in
// its giver's list until the case is closed.
func EraseReason(complaint Item) Write {
	return Change(complaint.Key(), RemoveAttr("reason")).When(ItemExists())
}

// ForgetOpenCases removes the count of an owner's open cases if it is 0.
func ForgetOpenCases(owner string) Write { return Delete(OpenCasesKey(owner), Before("n", 1)) }

// ReportOwner returns the owner in the key of an item of [Report.OnceForOwner]; "" for an
// item of [Report.Once].
func ReportOwner(item Item) string {
	k := ReportKey(item.Str("target"), "")
	if who := item.Key().SK[len(k.SK):]; who != item.Str("by") {
		return who
	}
	return ""
}

// EraseWaiting withdraws an agent's waiting report, and deletes the record that its owner
// reported, because no case heard it. It returns nil if no report of the agent waits.
func (r *Reported) EraseWaiting(agent string) (writes []Write) {
	had := false
	for who, v := range r.Waits {
		m, _ := v.(Map)
		w := Item(m)
		if w.Str("by") != agent {
			continue
		}
		delete(r.Waits, who)
		had = true
		if w.Int("weight") > 0 {
			writes = append(writes, Delete(ReportKey(r.Target, who)))
		}
	}
	if had {
		writes = append(writes, r.Keep())
	}
	return writes
}

// EraseOwner replaces the item of [Report.OnceForOwner] by an item with the owner's
// [Pseudonym] and no agent.
func (r *Report) EraseOwner(owner string) []Write {
	left := *r
	left.By = ""
	return []Write{
		Delete(ReportKey(r.Target, owner), ItemExists()),
		Put(keyed(ReportKey(r.Target, Pseudonym(owner, r.Target)), TypeReport, Marshal(&left))),
	}
}

// EraseGiven removes an agent's name and texts from an item that it gave, and the item
// from the agent's list. What was counted stays counted, except support for an idea. ok
// is false if the item's type has no rule here.
func EraseGiven(item Item) (w Write, ok bool) {
	agent := Giver(item)
	change := func(more ...Update) (Write, bool) {
		return Change(item.Key(), unlisted(more...)...).When(ItemExists()), true
	}
	switch item.Str(AttrType) {
	case TypeVote, TypeVoteCounted, TypeReport, TypeAct:
		return change()
	case TypeReactions, TypeReactionsCounted, TypeHelpful, TypeHelpfulCounted:
		return change(Nameless("by", agent))
	case TypeSupport, TypeSupportCounted:
		if !item.Bool("on") {
			return change()
		}
		return change(SetAttr(AttrType, TypeSupport), SetAttr("on", false), Add("changes", 1))
	case TypeSeat:
		return change(Nameless("juror", agent), RemoveAttr("note"), RemoveAttr("behind"))
	case TypeComplaint:
		return change(RemoveAttr("reason"))
	case TypeClaim, TypeLinkCode, TypeVisit:
		return Delete(item.Key(), ItemExists()), true
	}
	return Write{}, false
}
