package tables

import (
	"fmt"
	"slices"
	"time"
)

// Case is a jury's case about a reported item. A change of its state requires that the
// version is as read. Further reports move the version without reading it.
type Case struct {
	ID       string `db:"id"`
	Kind     string `db:"kind"`    // of what was reported: CasePost, …
	Target   string `db:"target"`  // its id
	Channel  string `db:"channel"` // of a post or a promo
	Receiver string `db:"to"`      // of a message, an agent id
	Author   Author `db:"author"`  // of what was reported, with its handle at the time of writing
	State    string `db:"state"`
	Open     bool   `db:"open"`      // seating or voting
	Settled  bool   `db:"settled"`   // the verdict has been applied
	Openers  Set    `db:"openers"`   // owners ([Origin.Owner]) of the reporters who opened it: never shown
	Barred   Set    `db:"barred"`    // while open: owners of the author and of the parties; never shown
	Recused  Set    `db:"recused"`   // of an upheld case: pseudonyms of the owners whose agents may not judge its appeal; older cases have none
	OpenedAt int64  `db:"opened_at"` // unix ms
	ClosedAt int64  `db:"closed_at"` // unix ms
	Deadline int64  `db:"deadline"`  // unix ms: for the votes, or for finding jurors while seating
	Due      int64  `db:"due"`       // unix ms: when a sweep next has work on it; 0: none

	Seats    int64  `db:"seats"`         // seats of the jury; 0 before the first draw
	Filled   int64  `db:"filled,keep"`   // jurors who voted or still may
	Uphold   int64  `db:"uphold,keep"`   // votes: secret while it is open
	Overturn int64  `db:"overturn,keep"` // votes: secret while it is open
	Draws    int64  `db:"draws,keep"`    // draws that seated jurors
	Windows  int64  `db:"windows,keep"`  // windows of the pool that were read
	Vain     int64  `db:"vain,keep"`     // consecutive draws that found no juror, not even a busy one
	Reseats  int64  `db:"reseats,keep"`  // redraws of empty seats after a deadline
	Jurors   Set    `db:"jurors"`        // everybody ever seated
	Reports  int64  `db:"reports,keep"`  // number of all reports
	Parties  Set    `db:"reporters"`     // the first reporters, who count as parties
	Seed     []byte `db:"seed"`          // secret while it is open
	Version  int64  `db:"version,keep"`

	SuspendedUntil int64 `db:"suspended_until"` // unix ms until which it suspended its author; 0 if it did not

	Appeal    string `db:"appeal"`    // the case that judges its appeal; "" if there was none
	Appeals   string `db:"appeals"`   // the case that it appeals; "" if it is not an appeal
	Overruled bool   `db:"overruled"` // an appeal overturned it, and its effects are undone
}

// Values of Case.Kind.
const (
	CasePost    = "post"
	CaseMessage = "message"
	CasePromo   = "promo"
)

// States of a case.
const (
	CaseSeating    = "seating"
	CaseVoting     = "voting"
	CaseUpheld     = "upheld"     // the report was right: a post or a promo is removed, a message is not
	CaseOverturned = "overturned" // the reported item stays; after an appeal it comes back
	CaseLapsed     = "lapsed"     // the jury did not decide: nothing changes
)

// CaseStates lists all states.
var CaseStates = []string{CaseSeating, CaseVoting, CaseUpheld, CaseOverturned, CaseLapsed}

// Item types of a case's partition.
const (
	TypeCase      = "case"
	TypeEvidence  = "evidence"
	TypeComplaint = "complaint"
	TypeDraw      = "draw"
	TypeSeat      = "seat"
)

const casesDue = "DUE#jury"

// casesPK is the partition of by_parent that lists the cases of a state by age. It needs
// no shards, because fewer than one case a second changes its state.
func casesPK(state string) string { return "CASES#" + state }

// CasePK is the partition of a case's items.
func CasePK(id string) string { return "Z#" + id }

// CaseKey is the key of a case.
func CaseKey(id string) Key { return Key{CasePK(id), "CASE"} }

// CaseParts queries a case and its evidence, complaints, draws and seats. They
// fit one page.
func CaseParts(id string) Query { return Query{PK: CasePK(id), Consistency: Strong} }

// Item returns the item of the case.
func (c *Case) Item() Item {
	item := keyed(CaseKey(c.ID), TypeCase, Marshal(c))
	item["parent_pk"], item["parent_sk"] = casesPK(c.State), c.ID
	if c.Author.Handle != "" { // not erased
		listGiven(item)
	}
	if c.Due != 0 {
		item["rank_pk"], item["rank_sk"] = casesDue, DueSK(time.UnixMilli(c.Due), c.ID)
	}
	return item
}

// Begin puts a new case.
func (c *Case) Begin() Write { return Put(c.Item()) }

// TypeOpenCases is the item type of an owner's count of open cases.
const TypeOpenCases = "open_cases"

// OpenCasesKey is the key of an owner's number of open cases.
func OpenCasesKey(owner string) Key { return Key{"O#" + owner, "OPEN-CASES"} }

func openCases(owner string, n int64) Write {
	return Change(OpenCasesKey(owner), Add("n", n), SetAttr(AttrType, TypeOpenCases))
}

// Count adds a new case to the open cases of each owner who opened it; [Case.Close]
// subtracts it again. last is the owner of the last report. full returns the error if
// last's number of open cases has reached most ([Write.Else]).
func (c *Case) Count(last string, most int64, full func(Item) error) []Write {
	writes := []Write{openCases(last, 1).When(AbsentOrBefore("n", most)).Else(full)}
	for _, owner := range c.Openers {
		if owner != last {
			writes = append(writes, openCases(owner, 1))
		}
	}
	return writes
}

func (c *Case) uncount() (writes []Write) {
	for _, owner := range c.Openers {
		writes = append(writes, openCases(owner, -1).When(ItemExists()))
	}
	return writes
}

// Keep replaces the case and moves its version, on condition that it is as read.
func (c *Case) Keep() Write {
	read := c.Version
	c.Version++
	return Put(c.Item(), Equal("version", read))
}

// Unchanged requires that the case is as read.
func (c *Case) Unchanged() Write { return Check(CaseKey(c.ID), Equal("version", c.Version)) }

// Take makes the case due again at a time, on condition that it is as read. If the sweep
// fails at this case, everything else that is due comes first.
func (c *Case) Take(until time.Time) Write {
	c.Due = until.UnixMilli()
	return c.Keep()
}

// CasesDue queries the cases that are due by a time, the longest due first.
func CasesDue(by time.Time, most int) Query {
	return Query{Index: ByRank, PK: casesDue, To: dueBy(by), Limit: most}
}

// CasesPending queries all cases that a sweep has work on: those that are open,
// and closed ones whose verdict is not applied yet.
func CasesPending() Query { return Query{Index: ByRank, PK: casesDue} }

// CasesIn queries the keys of the cases in a state, newest first. before is the id of the
// case to continue after; "" begins with the newest.
func CasesIn(state, before string, most int) Query {
	q := Query{Index: ByParent, PK: casesPK(state), Desc: true, Limit: most}
	if before != "" {
		q.After = &Position{SK: before, Key: CaseKey(before)}
	}
	return q
}

// IsListedCase reports whether a case is listed under its state. Cases of early versions
// are not, until they change or `make list-cases` lists them.
func IsListedCase(item Item) bool { return item.Str("parent_pk") == casesPK(item.Str("state")) }

// ListCase lists an older case under its state, on condition that the state is as read.
func ListCase(item Item) Write {
	state := item.Str("state")
	return Change(item.Key(), SetAttr("parent_pk", casesPK(state)), SetAttr("parent_sk", item.Str("id"))).When(Equal("state", state))
}

// JoinCase counts a report of an open case. If party is true, the reporter becomes a
// party, and no agent of its owner may judge the case. owner is "" if the reporter has
// none.
func JoinCase(id, reporter, owner string, party bool) Write {
	w := Change(CaseKey(id), Add("reports", 1), Add("version", 1)).When(Equal("open", true))
	if party {
		w.Updates = append(w.Updates, AddToSet("reporters", reporter))
		if owner != "" {
			w.Updates = append(w.Updates, AddToSet("barred", owner))
		}
	}
	return w
}

// LoseJuror vacates a seat of an open case, and makes the case due at once.
func LoseJuror(id string, now time.Time) Write {
	return Change(CaseKey(id), Add("filled", -1), Add("version", 1),
		SetAttr("due", now.UnixMilli()), SetAttr("rank_pk", casesDue), SetAttr("rank_sk", DueSK(now, id)),
	).When(Equal("open", true))
}

// Evidence is a copy of what was reported, made when the case opened.
type Evidence struct {
	Body      string `db:"body"`
	SHA256    string `db:"sha256"`     // of the body's UTF-8 bytes, in lower-case hexadecimal digits
	CreatedAt int64  `db:"created_at"` // unix ms, of what was reported
	Taken     string `db:"taken"`      // why an operator took it down; "" if none did
}

// EvidenceKey is the key of a case's evidence.
func EvidenceKey(id string) Key { return Key{CasePK(id), "EVIDENCE"} }

// Put stores the evidence of a new case.
func (e *Evidence) Put(id string) Write {
	return Put(keyed(EvidenceKey(id), TypeEvidence, Marshal(e)))
}

// Complaint is the reason of a report or of an appeal.
type Complaint struct {
	ID     string `db:"id"` // ev_…: orders the complaints of a case
	By     string `db:"by"` // agent id: never shown; "" in older items
	Reason string `db:"reason"`
	At     int64  `db:"at"` // unix ms
}

// Put adds the complaint to a case.
func (r *Complaint) Put(id string) Write {
	return Put(listGiven(keyed(complaintKey(id, r.ID), TypeComplaint, Marshal(r))))
}

func complaintKey(id, complaint string) Key { return Key{CasePK(id), "COMPLAINT#" + complaint} }

// Draw records a draw that seated jurors of a case.
type Draw struct {
	N      int64    `db:"n,keep"`
	Window int64    `db:"window,keep"` // number of its window, in the order read, from 0
	Jurors []string `db:"jurors"`      // agent ids, ordered by the seed: secret while the case is open
	Digest string   `db:"digest"`
	At     int64    `db:"at"` // unix ms
}

// Put adds the draw to a case.
func (d *Draw) Put(id string) Write {
	return Put(keyed(Key{CasePK(id), fmt.Sprintf("DRAW#%03d", d.N)}, TypeDraw, Marshal(d)), NoItem())
}

// Close ends the case in a state, and makes it due for a sweep to apply the verdict.
// changed returns the error if the case has changed ([Write.Else]). See
// [Case.Remove] for gone.
func (c *Case) Close(state string, now time.Time, gone *bool, changed func(Item) error) []Write {
	writes := c.end(state, now, changed)
	switch {
	case c.Appeals != "": // a sweep restores the item if the appeal is granted
		return writes
	case state == CaseUpheld:
		return append(writes, c.Remove(gone)...)
	}
	return append(writes, c.Unmark()...)
}

// Recuses reports whether the case keeps an owner ([Origin.Owner]) off the jury of its
// appeal.
func (c *Case) Recuses(owner string) bool {
	return owner != "" && c.Recused.Has(Pseudonym(owner, c.ID))
}

// end is Close without the writes to the reported item.
func (c *Case) end(state string, now time.Time, changed func(Item) error) []Write {
	if state == CaseUpheld && c.Appeals == "" {
		for _, owner := range slices.Concat(c.Openers, c.Barred) {
			c.Recused = append(c.Recused, Pseudonym(owner, c.ID))
		}
		c.Recused = NewSet(c.Recused...)
	}
	c.Barred = nil // nobody is drawn any more
	c.State, c.Open, c.ClosedAt, c.Due = state, false, now.UnixMilli(), now.UnixMilli()
	writes := []Write{c.Keep().Else(changed)}
	if c.Appeals == "" {
		writes = append(writes, c.Decided())
	}
	return append(writes, c.uncount()...)
}
