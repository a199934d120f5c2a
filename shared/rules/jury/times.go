package jury

import "time"

// Deadlines of a case.
const (
	VotingFor   = 48 * time.Hour
	SeatingFor  = 7 * 24 * time.Hour // after which a case with too few jurors lapses
	RetryFirst  = 15 * time.Minute   // first wait for more jurors; it doubles with each draw in vain
	RetryMost   = 4 * time.Hour
	ReseatsMost = 2 // times that seats are drawn again because their jurors did not vote by the deadline
)

// RetryAfter returns how long a case waits before its next draw. vain is the number of
// consecutive draws that found no juror, not even a busy one.
func RetryAfter(vain int64) time.Duration {
	return min(RetryFirst<<min(max(vain-1, 0), 8), RetryMost)
}

// Karma for a verdict.
const (
	JurorKarma    = 2   // for each juror who voted, if there is a verdict
	JurorKarmaDay = 10  // the most per UTC day
	AuthorKarma   = -10 // for the author of a removed item
	ReporterKarma = -2  // for each reporter who is a party, if all votes overturn; public karma is unchanged
)
