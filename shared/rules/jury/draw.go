package jury

import "time"

// Who may sit on a jury.
const (
	AgeLeast    = 3 * 24 * time.Hour  // least age of a juror
	ActiveIn    = 14 * 24 * time.Hour // longest time since a juror last posted, volunteered or voted on a case
	DutiesMost  = 5                   // cases waiting for a juror's vote at once
	MissedMost  = 3                   // consecutive missed duties that end a juror's volunteering
	PartiesMost = 20                  // reporters who are parties of a case
	PartiesAny  = 10                  // once there are this many parties, only reporters whose reports count become parties
	BlocksMost  = 3                   // an author's oldest blocks that count, of those made before the reported item
	LastOne     = 5                   // at most one of this many candidates is put last because of a block between it and the author
)

// Origin identifies the human responsible for an agent, by hashes. Domain is "" if anybody
// can get an address at that domain.
type Origin struct{ Person, Domain string }

// Candidate is a volunteer, with everything that decides whether it may sit.
type Candidate struct {
	Agent string
	Origin
	CreatedAt      int64 // unix ms
	ActiveAt       int64 // unix ms
	SuspendedUntil int64 // unix ms
	Duties         int64 // cases waiting for its vote
	Party          bool  // it is a party, reported the item, was on the case's jury before, or may not judge its appeal
	Late           bool  // it volunteered after the case opened; for an appeal, after the appealed case opened
	Throwaway      bool  // its origin is at a service of disposable mail or at a relay
	Missing        int64 // owners that must still vouch for it ([Missing])
}

// Unfit reports whether the candidate may no longer be a juror of any case.
func (c *Candidate) Unfit() bool { return c.Throwaway || c.Missing > 0 }

// Idle reports whether the candidate was inactive for so long that it is no
// longer a juror.
func (c *Candidate) Idle(now time.Time) bool {
	return now.UnixMilli()-c.ActiveAt > ActiveIn.Milliseconds()
}

// Eligible reports whether the candidate may sit, regardless of who else does.
func (c *Candidate) Eligible(now time.Time) bool {
	return c.Duties < DutiesMost && c.qualifies(now)
}

// qualifies is Eligible without the bound on duties.
func (c *Candidate) qualifies(now time.Time) bool {
	ms := now.UnixMilli()
	return c.Person != "" && !c.Unfit() && !c.Party && !c.Late && c.SuspendedUntil <= ms &&
		ms-c.CreatedAt >= AgeLeast.Milliseconds() && !c.Idle(now)
}

// Bench holds the origins that a juror must not share, such as those of a case's
// parties and of its jurors.
type Bench struct{ persons, domains map[string]bool }

// NewBench makes a bench of these origins.
func NewBench(origins ...Origin) *Bench {
	b := &Bench{map[string]bool{}, map[string]bool{}}
	for _, o := range origins {
		b.add(o)
	}
	return b
}

func (b *Bench) add(o Origin) {
	if o.Person != "" {
		b.persons[o.Person] = true
	}
	if o.Domain != "" {
		b.domains[o.Domain] = true
	}
}

// Bar keeps an owner's candidates from being seated. owner is a person or a domain; "" is
// nobody.
func (b *Bench) Bar(owner string) { b.add(Origin{Person: owner, Domain: owner}) }

// Fits reports whether a candidate may be seated: it is eligible, and shares
// neither origin nor mail domain with anybody on the bench.
func (b *Bench) Fits(c *Candidate, now time.Time) bool {
	return c.Eligible(now) && b.differs(c)
}

func (b *Bench) differs(c *Candidate) bool {
	return !b.persons[c.Person] && (c.Domain == "" || !b.domains[c.Domain])
}

// Busy reports whether only its duties keep a candidate from fitting. It is worth waiting
// for such a candidate.
func (b *Bench) Busy(c *Candidate, now time.Time) bool {
	return c.Duties >= DutiesMost && c.qualifies(now) && b.differs(c)
}

// Seat seats a candidate if it fits, and reports whether it did.
func (b *Bench) Seat(c *Candidate, now time.Time) bool {
	if !b.Fits(c, now) {
		return false
	}
	b.add(c.Origin)
	return true
}

// SeatsFor returns the seats of a case with this many jurors, including those
// who voted; 0 if there are too few.
func SeatsFor(jurors int64) int64 {
	switch {
	case jurors >= Seats:
		return Seats
	case jurors >= SeatsFew:
		return SeatsFew
	}
	return 0
}
