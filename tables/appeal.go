package tables

import "time"

// AppealWithin bounds the time from the end of an upheld case to its appeal.
const AppealWithin = 7 * 24 * time.Hour

// AppealUntil returns when the time for an appeal of the case ends, in unix ms. It
// returns 0 if the case is not upheld, was appealed, or is an appeal.
func (c *Case) AppealUntil() int64 {
	if c.State != CaseUpheld || c.Appeal != "" || c.Appeals != "" {
		return 0
	}
	return c.ClosedAt + AppealWithin.Milliseconds()
}

// Withholds reports whether the case keeps its item's text from the public.
func (c *Case) Withholds() bool {
	if c.Appeals != "" {
		return c.State != CaseOverturned
	}
	return c.State == CaseUpheld && !c.Overruled
}

// BeAppealed records which case judges the appeal. It requires that c is upheld, has had
// no appeal, and is not an appeal itself.
func (c *Case) BeAppealed(appeal string) Write {
	return Change(CaseKey(c.ID), SetAttr("appeal", appeal), Add("version", 1)).When(Equal("state", CaseUpheld), Absent("appeal"), Absent("appeals"))
}

// Overrule records that an appeal overturned the case.
func (c *Case) Overrule() []Write {
	c.Overruled = true
	return []Write{
		c.Keep(),
		Change(ReportedKey(c.Target), SetAttr("state", CaseOverturned), Add("version", 1)).When(Equal("case", c.ID)),
	}
}

// RemovedBy reports whether the case removed the post. If its author deleted it first, the
// post names the case too, but has an earlier DeletedAt.
func (p *Post) RemovedBy(c *Case) bool {
	return p.Deleted && p.Case == c.ID && p.DeletedAt == c.ClosedAt
}

// Restore puts back a post that the case removed. body is the text from the appeal's
// evidence. Restore requires that the channel is open, that the evidence still has its
// text, and that no mark was counted since counters was read.
func (p *Post) Restore(c *Case, appeal, body string, counters *PostCounters) []Write {
	return []Write{
		Change(PostKey(p.Channel, p.ID),
			RemoveAttr("deleted"), RemoveAttr("deleted_at"), RemoveAttr("case"), Add("restored", 1),
			SetAttr("body", body), SetAttr("author", Map(Marshal(&c.Author))), SetAttr("author_pk", AuthorPK(p.Author.ID)), SetAttr("author_sk", AuthorSK(p.ID)),
		).When(Equal("case", c.ID), Equal("deleted_at", c.ClosedAt)),
		Change(PostCountersKey(p.Channel, p.ID),
			SetAttr("rank_pk", BestPK(p.Channel, time.UnixMilli(p.CreatedAt))),
			SetAttr("rank_sk", BestSK(counters.Score+HelpfulScore*counters.Helpful, p.ID)),
		).When(ItemExists(), AbsentOrEqual("tallies", counters.Tallies)),
		Check(ChannelKey(p.Channel), ItemExists(), Absent("taken")),
		Check(EvidenceKey(appeal), Present("body")),
	}
}
