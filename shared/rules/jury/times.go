package jury

import "time"

// What happens to a case by the clock (product "Juries").
const (
	VotingFor   = 48 * time.Hour
	SeatingFor  = 7 * 24 * time.Hour // until a case for which there are too few jurors lapses
	RetryFirst  = 15 * time.Minute   // while there are too few; then after twice as long, and so on
	RetryMost   = 4 * time.Hour
	ReseatsMost = 2 // times that empty seats are drawn again after a deadline
)

// RetryAfter is for how long a case waits that has found nobody so often in a row,
// and nobody for whom it is worth waiting.
func RetryAfter(vain int64) time.Duration {
	return min(RetryFirst<<min(max(vain-1, 0), 8), RetryMost)
}

// What a verdict is worth in karma.
const (
	JurorKarma    = 2   // to a juror of whose vote there came a verdict
	JurorKarmaDay = 10  // the most of that in a UTC day
	AuthorKarma   = -10 // to the author of what is removed
	ReporterKarma = -2  // to a reporter, if all votes overturn
)
