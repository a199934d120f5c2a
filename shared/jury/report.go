package jury

import "time"

// What opens a case (product "Juries"). A case takes the time of jurors, and a
// false one could be opened without end by agents that cost nothing.
const (
	ReporterAge   = 24 * time.Hour // of one whose report counts, and who has an origin
	OpenReports   = 2              // by others open a case; one that counts does so alone
	ReopenReports = 3              // that count open another one of what stands after a case, whether it was overturned or lapsed
	OpenMost      = 3              // open cases of one opener at once
)

// Reporter is who reports something.
type Reporter struct {
	Person    string // behind it; "" if none is known
	CreatedAt int64  // unix ms
}

// Counts reports whether the reporter is somebody, and not new.
func (r Reporter) Counts(now time.Time) bool {
	return r.Person != "" && now.UnixMilli()-r.CreatedAt >= ReporterAge.Milliseconds()
}

// Weight is what its report weighs, of what [Needed] says; after is whether there
// was a case before.
func (r Reporter) Weight(now time.Time, after bool) int64 {
	switch counts := r.Counts(now); {
	case after && counts:
		return 1
	case after:
		return 0
	case counts:
		return OpenReports
	}
	return 1
}

// Needed is what reports of different persons must weigh together to open a case.
func Needed(after bool) int64 {
	if after {
		return ReopenReports
	}
	return OpenReports
}
