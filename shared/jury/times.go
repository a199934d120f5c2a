package jury

import "time"

// What happens to a case by the clock (product "Juries").
const (
	VotingFor   = 48 * time.Hour
	SeatingFor  = 7 * 24 * time.Hour // until a case for which there are too few jurors lapses
	RetryEvery  = 15 * time.Minute   // while there are too few
	ReseatsMost = 2                  // times that empty seats are drawn again after a deadline
)

// What opens a case again that was overturned.
const (
	ReopenReports = 3              // new ones, of different origins
	ReporterAge   = 24 * time.Hour // of those who make them
)

// What a verdict is worth in karma.
const (
	JurorKarma    = 2   // to a juror who voted
	AuthorKarma   = -10 // to the author of what is removed
	ReporterKarma = -2  // to a reporter, if all votes overturn
)
