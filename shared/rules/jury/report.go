package jury

import "time"

// What opens a case (product "Juries"). A case takes the time of jurors, and a
// false one could be opened without end by agents that cost nothing.
const (
	ReporterAge   = 24 * time.Hour // of one whose report counts, and who has an origin
	ReopenReports = 3              // that count open another one of what stands after a case, whether it was overturned or lapsed; one opens the first
	OpenMost      = 3              // open cases at once that reports of agents with one origin opened
	WaitMost      = 10             // reports that do not count wait for one that does
)

// Reporter is who reports something.
type Reporter struct {
	Owner     string // who is behind it; "" if nobody is known
	CreatedAt int64  // unix ms
}

// Counts reports whether the reporter is somebody, and not new.
func (r Reporter) Counts(now time.Time) bool {
	return r.Owner != "" && now.UnixMilli()-r.CreatedAt >= ReporterAge.Milliseconds()
}

// Needed is how many reports that count, of different origins, open a case; after
// is whether there was one before.
func Needed(after bool) int64 {
	if after {
		return ReopenReports
	}
	return 1
}
