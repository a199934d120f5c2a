package tables

import "time"

// Seat is a juror's seat in a case. The vote is final, and secret while the
// case is open.
type Seat struct {
	Case    string `db:"case"`
	Juror   Author `db:"juror"`  // as of being seated
	Owner   string `db:"behind"` // [Origin.Owner] of the juror, as of being seated: never shown; "" in older seats
	State   string `db:"state"`
	Verdict string `db:"verdict"`
	Note    string `db:"note"`
	At      int64  `db:"at"`       // unix ms of being seated
	VotedAt int64  `db:"voted_at"` // unix ms
}

// States of a seat.
const (
	SeatWaits  = "waits" // the juror may still vote
	SeatVoted  = "voted"
	SeatMissed = "missed" // the juror missed the deadline
	SeatSpared = "spared" // the case closed before the juror voted
	SeatLeft   = "left"   // the juror may not vote any more
)

// SeatKey is the key of an agent's seat in a case.
func SeatKey(id, agent string) Key { return Key{CasePK(id), "SEAT#" + agent} }

// Take puts a new seat.
func (s *Seat) Take() Write {
	return Put(listGiven(keyed(SeatKey(s.Case, s.Juror.ID), TypeSeat, Marshal(s))), NoItem())
}

// Vote casts the juror's vote in a waiting seat.
func (s *Seat) Vote() Write {
	w := Change(SeatKey(s.Case, s.Juror.ID),
		SetAttr("state", SeatVoted), SetAttr("verdict", s.Verdict), SetAttr("voted_at", s.VotedAt),
	).When(Equal("state", SeatWaits))
	if s.Note != "" {
		w.Updates = append(w.Updates, SetAttr("note", s.Note))
	}
	return w
}

// Leave ends a waiting seat. state is the reason: SeatMissed, SeatSpared or SeatLeft.
func (s *Seat) Leave(state string) Write {
	return Change(SeatKey(s.Case, s.Juror.ID), SetAttr("state", state)).When(Equal("state", SeatWaits))
}

// NotSeated requires that an agent never had a seat in a case.
func NotSeated(id, agent string) Write { return Check(SeatKey(id, agent), NoItem()) }

// Unseat returns the writes that remove an agent from the juries of the open cases, and
// the number of duties that end. Use [LeaveDuties] in the same transaction. Seats in
// closed cases end when the cases are settled.
func Unseat(agent string, cases []Item, now time.Time) (writes []Write, n int64) {
	for _, item := range cases {
		if !item.Bool("open") {
			continue
		}
		in := item.Str("id")
		seat, duty := Seat{Case: in, Juror: Author{ID: agent}}, Duty{Agent: agent, Case: in}
		writes = append(writes, seat.Leave(SeatLeft), duty.End(), LoseJuror(in, now))
		n++
	}
	return writes, n
}
