package tables

import "time"

// A post, message, idea, promo, channel or evidence that an operator took down has the
// operator's reason in the attribute `taken`.

// TakeDown removes a post as its author's deletion would, and takes it out of the
// channel's best. It requires that the post was not deleted. c is the open case against
// it, or nil.
func (p *Post) TakeDown(reason string, now time.Time, c *Case) []Write {
	tombstone, counters := p.Tombstone(now), p.Unrank()
	tombstone.Updates = append(tombstone.Updates, SetAttr("taken", reason))
	writes := []Write{tombstone}
	if c != nil {
		counters.Updates = append(counters.Updates, RemoveAttr("case"))
		writes = append(writes, c.Strike(now)...)
	}
	return append(writes, counters)
}

// Strike ends an open case after its item or its evidence was taken down. Nobody decided
// the case, so nobody gains or loses by it.
func (c *Case) Strike(now time.Time) []Write {
	return c.end(CaseLapsed, now, nil)
}

// TakeDown removes the text of a case's evidence, on condition that it is there.
func (e *Evidence) TakeDown(id, reason string) Write {
	return Change(EvidenceKey(id), RemoveAttr("body"), RemoveAttr("sha256"), SetAttr("taken", reason)).When(Present("body"))
}

// TakeDownReason removes the text of a complaint.
func (r *Complaint) TakeDownReason(id string) Write {
	return Change(complaintKey(id, r.ID), RemoveAttr("reason")).When(ItemExists())
}

// TakeDownNote removes the note of a juror's vote.
func (s *Seat) TakeDownNote() Write {
	return Change(SeatKey(s.Case, s.Juror.ID), RemoveAttr("note")).When(ItemExists())
}

// TakeDown removes a message's text, on condition that it is there. newest says whether
// the message is the newest of its conversation, and the writes fail if this is wrong. The
// newest message's preview is removed from both sides of the conversation.
func (m *Message) TakeDown(reason string, newest bool) []Write {
	writes := []Write{Change(MessageKey(m.From.ID, m.To, m.ID),
		RemoveAttr("body"), SetAttr("deleted", true), SetAttr("taken", reason)).When(ItemExists(), Absent("deleted"))}
	for _, side := range []Key{ConversationKey(m.From.ID, m.To), ConversationKey(m.To, m.From.ID)} {
		if newest {
			writes = append(writes, Change(side, RemoveAttr("preview")).When(Equal("last", m.ID)))
		} else {
			writes = append(writes, Check(side, NotEqual("last", m.ID)))
		}
	}
	return writes
}

// TakeDown removes an idea's text and its places in all lists, if it is unchanged since it
// was read. Its count of support stays, and so do its links to duplicates.
func (i *Idea) TakeDown(reason string) []Write {
	return []Write{
		Change(IdeaKey(i.ID), RemoveAttr("title"), RemoveAttr("body"), RemoveAttr("note"), SetAttr("deleted", true), SetAttr("taken", reason), Nameless("by", i.By.ID), Add("changes", 1),
			RemoveAttr("author_pk"), RemoveAttr("author_sk"), RemoveAttr("parent_pk"), RemoveAttr("parent_sk"),
		).When(Equal("changes", i.Changes), Absent("deleted")),
		Change(IdeaCountersKey(i.ID), RemoveAttr("rank_pk")).When(ItemExists()),
	}
}

// TakeDown removes a promo's text, on condition that it is there and that the promo's
// state is as read. The next settlement ends a live promo and returns its escrow's rest.
func (p *Promo) TakeDown(reason string, now time.Time) Write {
	w := Change(p.Item().Key(), RemoveAttr("body"), SetAttr("taken", reason)).When(Equal("state", p.State), Present("body"))
	if p.State == PromoLive {
		w.Updates = append(w.Updates, SetAttr("state", PromoRemoved), SetAttr("removed_at", now.UnixMilli()))
	}
	return w
}

// TakeDown closes a channel: it is in no list, and nobody can read it or post in it.
// It requires that the channel is open. Its posts and promos are taken down one by
// one.
func (c *Channel) TakeDown(reason string) []Write {
	return []Write{
		Change(ChannelKey(c.Name), RemoveAttr("about"), SetAttr("taken", reason), RemoveAttr("rank_pk")).When(ItemExists(), Absent("taken")),
		Delete(ListingKey(c.Name)),
	}
}

// TakeDown clears the texts and tags of a profile, if it is unchanged since it was read.
func (p *Profile) TakeDown() []Write {
	writes := []Write{Change(ProfileKey(p.ID),
		RemoveAttr("bio"), RemoveAttr("now"), RemoveAttr("into"), RemoveAttr("tags"), SetAttr("version", p.Version+1),
	).When(Equal("version", p.Version))}
	return append(writes, Retag(p.ID, p.Tags, nil, time.Time{}, nil)...)
}

// TakeDown removes a signature from a guestbook. Its visitor still cannot sign again on
// the same UTC day.
func (v *Visit) TakeDown() Write { return Delete(v.Item().Key(), ItemExists()) }
