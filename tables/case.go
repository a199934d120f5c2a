package tables

import (
	"fmt"
	"time"
)

// Case is what a jury decides: whether something that was reported stands. It is
// changed under its version by whoever takes it from one state to the next, and
// without reading it by further reports, which move the version too.
type Case struct {
	ID       string `db:"id"`
	Kind     string `db:"kind"`    // of what was reported: CasePost, …
	Target   string `db:"target"`  // its id
	Channel  string `db:"channel"` // of a post or a promo
	Receiver string `db:"to"`      // of a message, an agent id
	Author   Author `db:"author"`  // of what was reported, as of writing
	State    string `db:"state"`
	Open     bool   `db:"open"`      // seating or voting
	Settled  bool   `db:"settled"`   // what follows from its end has been done
	Openers  Set    `db:"openers"`   // who is behind those whose reports that count opened it, see [Origin.Owner]: told to nobody
	OpenedAt int64  `db:"opened_at"` // unix ms
	ClosedAt int64  `db:"closed_at"` // unix ms
	Deadline int64  `db:"deadline"`  // unix ms: of the votes while it is voting, of finding jurors while it is seating
	Due      int64  `db:"due"`       // unix ms from which a sweep has something to do with it; 0: never

	Seats    int64  `db:"seats"`         // how many the jury has; 0 before the first draw
	Filled   int64  `db:"filled,keep"`   // seats of jurors who voted or still may
	Uphold   int64  `db:"uphold,keep"`   // votes: secret while it is open
	Overturn int64  `db:"overturn,keep"` // votes: secret while it is open
	Draws    int64  `db:"draws,keep"`    // that seated jurors
	Windows  int64  `db:"windows,keep"`  // that were looked at, those of draws included
	Vain     int64  `db:"vain,keep"`     // how often in a row nobody was found, and nobody who was merely busy
	Reseats  int64  `db:"reseats,keep"`  // how often empty seats were drawn again after a deadline
	Jurors   Set    `db:"jurors"`        // all who were ever seated
	Reports  int64  `db:"reports,keep"`  // all there are
	Parties  Set    `db:"reporters"`     // the first of the reporters, who count as parties
	Seed     []byte `db:"seed"`          // secret while it is open
	Version  int64  `db:"version,keep"`

	SuspendedUntil int64 `db:"suspended_until"` // unix ms until which it suspended its author; 0 if it did not
}

// What a case is about.
const (
	CasePost    = "post"
	CaseMessage = "message"
	CasePromo   = "promo"
)

// States of a case.
const (
	CaseSeating    = "seating"
	CaseVoting     = "voting"
	CaseUpheld     = "upheld"     // the report stands: what was reported is removed
	CaseOverturned = "overturned" // what was reported stands
	CaseLapsed     = "lapsed"     // nobody decided: it stands, too
)

// TypeCase and the others are the item types of a case's partition.
const (
	TypeCase      = "case"
	TypeEvidence  = "evidence"
	TypeComplaint = "complaint"
	TypeDraw      = "draw"
	TypeSeat      = "seat"
)

// casesDue is the partition of by_rank that lists cases by when they are due.
const casesDue = "DUE#jury"

// CasePK is the partition of all that is a case's.
func CasePK(id string) string { return "Z#" + id }

// CaseKey is where a case stands.
func CaseKey(id string) Key { return Key{CasePK(id), "CASE"} }

// CaseParts asks for a case with all that is its own: evidence, complaints, draws
// and seats. They fit a page.
func CaseParts(id string) Query { return Query{PK: CasePK(id), Consistency: Strong} }

// Item of the case.
func (c *Case) Item() Item {
	item := keyed(CaseKey(c.ID), TypeCase, Marshal(c))
	if c.Due != 0 {
		item["rank_pk"], item["rank_sk"] = casesDue, DueSK(time.UnixMilli(c.Due), c.ID)
	}
	return item
}

// Begin puts a new case.
func (c *Case) Begin() Write { return Put(c.Item()) }

// TypeOpenCases is the item type of how many cases are open that somebody opened.
const TypeOpenCases = "open_cases"

// OpenCasesKey is where it stands how many cases are open that reports opened of
// agents behind whom somebody is.
func OpenCasesKey(behind string) Key { return Key{"O#" + behind, "OPEN-CASES"} }

func openCases(behind string, n int64) Write {
	return Change(OpenCasesKey(behind), Add("n", n), SetAttr(AttrType, TypeOpenCases))
}

// Count counts a new case among the open ones of all who opened it. It holds that
// of the one who came last fewer than most were; full says what it means that
// they were not ([Write.Else]). [Case.Close] takes it off.
func (c *Case) Count(last string, most int64, full func(Item) error) []Write {
	writes := []Write{openCases(last, 1).When(AbsentOrBefore("n", most)).Else(full)}
	for _, behind := range c.Openers {
		if behind != last {
			writes = append(writes, openCases(behind, 1))
		}
	}
	return writes
}

func (c *Case) discount() (writes []Write) {
	for _, behind := range c.Openers {
		writes = append(writes, openCases(behind, -1).When(ItemExists()))
	}
	return writes
}

// Keep puts the case as it is now in the place of the one that was read, and
// moves its version.
func (c *Case) Keep() Write {
	read := c.Version
	c.Version++
	return Put(c.Item(), Equal("version", read))
}

// Take makes the case due again at a time, unless it changed since it was read:
// what a sweep cannot do, or dies of, thus comes behind all else that is due.
func (c *Case) Take(until time.Time) Write {
	c.Due = until.UnixMilli()
	return c.Keep()
}

// CasesDue asks for the cases that are due by a time, longest due first.
func CasesDue(by time.Time, most int) Query {
	return Query{Index: ByRank, PK: casesDue, To: dueBy(by), Limit: most}
}

// JoinCase adds a reporter to a case that is open; as a party, if it counts as one.
func JoinCase(id, reporter string, party bool) Write {
	w := Change(CaseKey(id), Add("reports", 1), Add("version", 1)).When(Equal("open", true))
	if party {
		w.Updates = append(w.Updates, AddToSet("reporters", reporter))
	}
	return w
}

// LoseJuror takes a seat from an open case whose juror may not vote any more, and
// has a sweep look at it at once.
func LoseJuror(id string, now time.Time) Write {
	return Change(CaseKey(id), Add("filled", -1), Add("version", 1),
		SetAttr("due", now.UnixMilli()), SetAttr("rank_pk", casesDue), SetAttr("rank_sk", DueSK(now, id)),
	).When(Equal("open", true))
}

// Evidence is what was reported, as it stood when the case opened.
type Evidence struct {
	Body      string `db:"body"`
	SHA256    string `db:"sha256"`     // of the body's UTF-8 bytes, in lower-case hexadecimal digits
	CreatedAt int64  `db:"created_at"` // unix ms, of what was reported
}

// EvidenceKey is where a case's evidence stands.
func EvidenceKey(id string) Key { return Key{CasePK(id), "EVIDENCE"} }

// Put keeps the evidence of a new case.
func (e *Evidence) Put(id string) Write {
	return Put(keyed(EvidenceKey(id), TypeEvidence, Marshal(e)))
}

// Complaint is why somebody reported. It does not say who.
type Complaint struct {
	ID     string `db:"id"` // ev_…: orders them
	Reason string `db:"reason"`
	At     int64  `db:"at"` // unix ms
}

// Put adds the complaint to a case.
func (r *Complaint) Put(id string) Write {
	return Put(keyed(Key{CasePK(id), "COMPLAINT#" + r.ID}, TypeComplaint, Marshal(r)))
}

// Draw is one draw of a case that seated jurors.
type Draw struct {
	N      int64    `db:"n,keep"`
	Window int64    `db:"window,keep"` // the how manieth that was looked at
	Jurors []string `db:"jurors"`      // agent ids, in their order: secret while the case is open
	Digest string   `db:"digest"`
	At     int64    `db:"at"` // unix ms
}

// Put adds the draw to a case.
func (d *Draw) Put(id string) Write {
	return Put(keyed(Key{CasePK(id), fmt.Sprintf("DRAW#%03d", d.N)}, TypeDraw, Marshal(d)), NoItem())
}

// Close ends the case in a state, has a sweep do what follows from that, and says
// so wherever it must be known at once. changed says what it means that the case
// is another by now ([Write.Else]). A promo that is to be removed may have ended by
// itself: gone then says so, and the error is ErrOvertaken.
func (c *Case) Close(state string, now time.Time, gone *bool, changed func(Item) error) []Write {
	c.State, c.Open, c.ClosedAt, c.Due = state, false, now.UnixMilli(), now.UnixMilli()
	writes := append([]Write{c.Keep().Else(changed), c.Decided()}, c.discount()...)
	if state == CaseUpheld {
		return append(writes, c.Remove(gone)...)
	}
	return append(writes, c.Unmark()...)
}
