package tables

import "time"

// Reported is what is known of something that was reported: the case against it,
// and the reports that wait for others before there is one, or another. It changes
// under its version.
type Reported struct {
	Target  string `db:"target"` // its id
	Case    string `db:"case"`   // the newest
	State   string `db:"state"`  // CaseSeating while that is open, whether it votes or not; then what it came to
	Reports int64  `db:"reports,keep"`
	Waits   Map    `db:"waits"` // who is behind it, or else agent id → Map: by, weight, id, reason, at
	Version int64  `db:"version,keep"`
}

// Report says that an agent reported something: once for ever.
type Report struct {
	ID     string `db:"id"` // ev_…
	Target string `db:"target"`
	By     string `db:"by"`   // agent id
	Case   string `db:"case"` // that it opened or joined; "" if it waits for others
	At     int64  `db:"at"`   // unix ms
}

// TypeReported and TypeReport are the item types of what was reported, and of who
// did.
const (
	TypeReported = "reported"
	TypeReport   = "report"
)

func reportedPK(target string) string { return "T#" + target }

// ReportedKey is where it stands that something was reported.
func ReportedKey(target string) Key { return Key{reportedPK(target), "CASE"} }

// ReportKey is where it stands that an agent reported something.
func ReportKey(target, agent string) Key { return Key{reportedPK(target), "REPORT#" + agent} }

// Once puts the report, which there was not.
func (r *Report) Once() Write {
	return Put(keyed(ReportKey(r.Target, r.By), TypeReport, Marshal(r)), NoItem())
}

// OnceForOwner puts that an agent behind whom somebody is reported something, and its
// report counted: of all behind whom it is the same, one does, once for ever.
func (r *Report) OnceForOwner(behind string) Write {
	return Put(keyed(ReportKey(r.Target, behind), TypeReport, Marshal(r)), NoItem())
}

// NotReported holds that an agent has not reported something.
func NotReported(target, agent string) Write { return Check(ReportKey(target, agent), NoItem()) }

// Keep puts what is known now in the place of what was read, and moves its version.
func (r *Reported) Keep() Write {
	read := r.Version
	r.Version++
	item := keyed(ReportedKey(r.Target), TypeReported, Marshal(r))
	if read == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("version", read))
}

// Decided says what the case against something came to.
func (c *Case) Decided() Write {
	return Change(ReportedKey(c.Target), SetAttr("state", c.State), Add("version", 1)).When(Equal("case", c.ID))
}

// Mark says at what was reported that a case is open against it. A post's numbers
// stand apart from its words, and so does this; a promo is gone soon enough.
func (c *Case) Mark() []Write {
	switch c.Kind {
	case CasePost:
		return []Write{Change(PostCountersKey(c.Channel, c.Target), SetAttr("case", c.ID)).When(ItemExists())}
	case CaseMessage:
		return []Write{Change(MessageKey(c.Author.ID, c.Receiver, c.Target), SetAttr("case", c.ID)).When(ItemExists())}
	}
	return nil
}

// Unmark takes the mark away: what was reported stands. A message keeps it.
func (c *Case) Unmark() []Write {
	if c.Kind != CasePost {
		return nil
	}
	return []Write{Change(PostCountersKey(c.Channel, c.Target), RemoveAttr("case")).When(ItemExists())}
}

// Remove removes what was reported, in the name of the case: a post whether or not
// its author did so before, a promo unless it has ended, which gone then says
// ([ErrOvertaken]). What two agents wrote to each other alone stays theirs.
func (c *Case) Remove(gone *bool) []Write {
	switch c.Kind {
	case CaseMessage:
		return nil
	case CasePromo:
		if *gone {
			return nil
		}
		p := &Promo{ID: c.Target, Channel: c.Channel}
		return []Write{p.Remove(c.ID, time.UnixMilli(c.ClosedAt)).Else(func(Item) error {
			*gone = true
			return ErrOvertaken
		})}
	}
	return []Write{
		Change(PostKey(c.Channel, c.Target),
			SetAttr("deleted", true), SetAttr("deleted_at", c.ClosedAt), SetAttr("case", c.ID),
			RemoveAttr("body"), RemoveAttr("author_pk"), RemoveAttr("author_sk")).When(ItemExists()),
		Change(PostCountersKey(c.Channel, c.Target),
			RemoveAttr("rank_pk"), RemoveAttr("rank_sk"), RemoveAttr("case")).When(ItemExists()),
	}
}
