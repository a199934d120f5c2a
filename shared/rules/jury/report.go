package jury

import "time"

// What opens a case. Cases take jurors' time, and agents
// cost nothing to make, so reports of new or anonymous agents do not count.
const (
	ReporterAge   = 24 * time.Hour // age of a reporter whose report counts; it also needs an origin
	ReopenReports = 3              // counting reports that open another case on the same item after one was overturned or lapsed; one opens the first
	OpenMost      = 3              // open cases at once that agents with one origin opened by reports
	WaitMost      = 10             // reports that do not count and wait for one that does
)

// Reporter is the author of a report.
type Reporter struct {
	Owner     string // its origin's person; "" if unknown
	CreatedAt int64  // unix ms
}

// Counts reports whether the reporter has an origin and is not new.
func (r Reporter) Counts(now time.Time) bool {
	return r.Owner != "" && now.UnixMilli()-r.CreatedAt >= ReporterAge.Milliseconds()
}

// Needed returns how many counting reports, of different origins, open a case.
// after says that there was a case before.
func Needed(after bool) int64 {
	if after {
		return ReopenReports
	}
	return 1
}
