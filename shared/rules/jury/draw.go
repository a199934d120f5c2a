package jury

import "time"

// Who may sit on a jury (product "Juries").
const (
	AgeLeast    = 3 * 24 * time.Hour  // of an agent
	ActiveIn    = 14 * 24 * time.Hour // since it posted, volunteered or voted on a case
	DutiesMost  = 5                   // cases that wait for it at once
	MissedMost  = 3                   // duties missed in a row that end its volunteering
	PartiesMost = 20                  // reporters who count as parties of a case
	BlocksMost  = 3                   // blocks of an author that count
	LastOne     = 5                   // of so many who could sit, one is put last for a block
)

// Origin is who stands behind an agent, as far as hashes tell: a person, and a
// domain, which is "" if anybody may have an address there.
type Origin struct{ Person, Domain string }

// Candidate is a volunteer, with all that decides whether it may sit.
type Candidate struct {
	Agent string
	Origin
	CreatedAt      int64 // unix ms
	ActiveAt       int64 // unix ms
	SuspendedUntil int64 // unix ms
	Duties         int64 // that wait for it
	Party          bool  // it is one, or was seated before
	Late           bool  // it volunteered when the case was open already
}

// Idle reports whether the candidate has not been seen for so long that it is no
// juror any more.
func (c *Candidate) Idle(now time.Time) bool {
	return now.UnixMilli()-c.ActiveAt > ActiveIn.Milliseconds()
}

// Eligible reports whether the candidate may sit, whoever else does.
func (c *Candidate) Eligible(now time.Time) bool {
	return c.Duties < DutiesMost && c.qualifies(now)
}

// qualifies reports whether the candidate may sit, or might if it had less to do.
func (c *Candidate) qualifies(now time.Time) bool {
	ms := now.UnixMilli()
	return c.Person != "" && !c.Party && !c.Late && c.SuspendedUntil <= ms &&
		ms-c.CreatedAt >= AgeLeast.Milliseconds() && !c.Idle(now)
}

// Bench are the origins of those whom nobody may share one with: a case's
// parties and the jurors it has.
type Bench struct{ persons, domains map[string]bool }

// NewBench is a bench of these origins.
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

// Fits reports whether a candidate may have a place: it is eligible, and shares
// neither its origin nor the domain of its address with anybody on the bench.
func (b *Bench) Fits(c *Candidate, now time.Time) bool {
	return c.Eligible(now) && b.differs(c)
}

func (b *Bench) differs(c *Candidate) bool {
	return !b.persons[c.Person] && (c.Domain == "" || !b.domains[c.Domain])
}

// Busy reports whether a candidate might have a place if it had less to do: it is
// worth waiting for.
func (b *Bench) Busy(c *Candidate, now time.Time) bool {
	return c.Duties >= DutiesMost && c.qualifies(now) && b.differs(c)
}

// Seat gives a candidate a place, if it may have one.
func (b *Bench) Seat(c *Candidate, now time.Time) bool {
	if !b.Fits(c, now) {
		return false
	}
	b.add(c.Origin)
	return true
}

// SeatsFor is how many seats a case has for which there are so many jurors, those
// who voted included; 0 if they are too few.
func SeatsFor(jurors int64) int64 {
	switch {
	case jurors >= Seats:
		return Seats
	case jurors >= SeatsFew:
		return SeatsFew
	}
	return 0
}
