package tables

import (
	"cmp"
	"slices"
	"time"
)

// Reported is the state of a reported item: the newest case against it, and the reports
// that wait until a case opens. Every change raises the version.
type Reported struct {
	Target  string `db:"target"` // its id
	Case    string `db:"case"`   // the newest case
	State   string `db:"state"`  // CaseSeating while the case is open, even during the vote; then its result
	Reports int64  `db:"reports,keep"`
	Parties int64  `db:"parties"` // number of parties of the newest case; 0 in older items
	Heard   int64  `db:"heard"`   // number of owners whose reports counted in its cases; 0 in older items
	Waits   Map    `db:"waits"`   // by owner, or by agent id if the origin is missing or throwaway → Map: by, weight, id, reason, at, and owner if throwaway
	Channel string `db:"channel"` // of a post or a promo; "" in older items
	Author  string `db:"author"`  // agent id; "" in older items
	Version int64  `db:"version,keep"`
}

// Report says that an agent reported something. An agent can report a target only once,
// but if its report waits and does not count, a report that counts can replace it
// ([Report.Again]).
type Report struct {
	ID     string `db:"id"` // ev_…
	Target string `db:"target"`
	By     string `db:"by"`   // agent id; "" in the record of an owner whose agent was erased
	Case   string `db:"case"` // the case that it opened or joined; "" if it waits for more reports
	At     int64  `db:"at"`   // unix ms
}

// TypeReported and TypeReport are the item types of a reported item and of a
// report.
const (
	TypeReported = "reported"
	TypeReport   = "report"
)

func reportedPK(target string) string { return "T#" + target }

// ReportedKey is the key of a target's [Reported].
func ReportedKey(target string) Key { return Key{reportedPK(target), "CASE"} }

// ReportKey is the key of an agent's report of a target.
func ReportKey(target, agent string) Key { return Key{reportedPK(target), "REPORT#" + agent} }

// Once puts the report and requires that there was none.
func (r *Report) Once() Write {
	return Put(listGiven(keyed(ReportKey(r.Target, r.By), TypeReport, Marshal(r))), NoItem())
}

// Again replaces the agent's earlier report. It requires that before is still the id of
// that report.
func (r *Report) Again(before string) Write {
	return Put(listGiven(keyed(ReportKey(r.Target, r.By), TypeReport, Marshal(r))), Equal("id", before))
}

// OnceForOwner records that a report counted for the owner of its agent. Only one
// report of each owner counts.
func (r *Report) OnceForOwner(owner string) Write {
	return Put(listGiven(keyed(ReportKey(r.Target, owner), TypeReport, Marshal(r))), NoItem())
}

// NotErased requires that no counted report of the owner came from an agent that has been
// erased since ([Report.EraseOwner]).
func (r *Report) NotErased(owner string) Write {
	return NotReported(r.Target, Pseudonym(owner, r.Target))
}

// NotReported requires that an agent has not reported something.
func NotReported(target, agent string) Write { return Check(ReportKey(target, agent), NoItem()) }

// reportsWait is the partition of by_rank that lists the targets of waiting reports, by
// the time of the oldest report. Older items enter it when they are reported again.
const reportsWait = "REPORTS#wait"

// ReportsWaiting queries the targets of reports that wait, the longest waiting first.
func ReportsWaiting() Query { return Query{Index: ByRank, PK: reportsWait} }

// Waiting returns the reports that wait, the oldest first.
func (r *Reported) Waiting() (reports []Item) {
	for _, v := range r.Waits {
		m, _ := v.(Map)
		reports = append(reports, Item(m))
	}
	slices.SortFunc(reports, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Int("at"), b.Int("at")), cmp.Compare(a.Str("id"), b.Str("id")))
	})
	return reports
}

// Keep stores r with the next version, on condition that the version is as read.
func (r *Reported) Keep() Write {
	read := r.Version
	r.Version++
	item := keyed(ReportedKey(r.Target), TypeReported, Marshal(r))
	if waiting := r.Waiting(); len(waiting) > 0 {
		item["rank_pk"], item["rank_sk"] = reportsWait, DueSK(time.UnixMilli(waiting[0].Int("at")), r.Target)
	}
	if read == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("version", read))
}

// Decided records the result of the case in the record of the reported item.
func (c *Case) Decided() Write {
	return Change(ReportedKey(c.Target), SetAttr("state", c.State), Add("version", 1)).When(Equal("case", c.ID))
}

// Mark marks the reported item with its open case. A post's mark is on its
// counters; a promo gets none, since it ends soon.
func (c *Case) Mark() []Write {
	switch c.Kind {
	case CasePost:
		return []Write{Change(PostCountersKey(c.Channel, c.Target), SetAttr("case", c.ID)).When(ItemExists())}
	case CaseMessage:
		return []Write{Change(MessageKey(c.Author.ID, c.Receiver, c.Target), SetAttr("case", c.ID)).When(ItemExists())}
	}
	return nil
}

// Unmark removes the mark of a post that stays after its case. A message keeps its mark.
func (c *Case) Unmark() []Write {
	if c.Kind != CasePost {
		return nil
	}
	return []Write{Change(PostCountersKey(c.Channel, c.Target), RemoveAttr("case")).When(ItemExists())}
}

// Remove removes the reported post or promo. A direct message stays. If the post was
// deleted or the promo is not live, the transaction sets gone and fails with [ErrOvertaken].
// If gone is set already, a promo stays as it is, and the tombstone of a post gets the
// case.
func (c *Case) Remove(gone *bool) []Write {
	overtaken := func(Item) error {
		*gone = true
		return ErrOvertaken
	}
	switch c.Kind {
	case CaseMessage:
		return nil
	case CasePromo:
		if *gone {
			return nil
		}
		p := &Promo{ID: c.Target, Channel: c.Channel}
		return []Write{p.Remove(c.ID, time.UnixMilli(c.ClosedAt)).Else(overtaken)}
	}
	remove := Change(PostKey(c.Channel, c.Target), SetAttr("case", c.ID)).When(ItemExists())
	if !*gone {
		remove.Updates = append(remove.Updates, SetAttr("deleted", true), SetAttr("deleted_at", c.ClosedAt), Nameless("author", c.Author.ID),
			RemoveAttr("body"), RemoveAttr("author_pk"), RemoveAttr("author_sk"))
		remove = remove.When(Absent("deleted")).Else(overtaken)
	}
	return []Write{
		remove,
		Change(PostCountersKey(c.Channel, c.Target),
			RemoveAttr("rank_pk"), RemoveAttr("rank_sk"), RemoveAttr("case")).When(ItemExists()),
	}
}
