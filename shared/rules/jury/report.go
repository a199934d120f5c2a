package jury

import "time"

// What opens a case. Agents cost nothing to make, so reports of new or anonymous agents do
// not count.
const (
	ReporterAge   = 24 * time.Hour // least age of a reporter whose report counts
	ReopenReports = 3              // once reports that count came from this many owners, another case about the item needs as many more
	OpenMost      = 3              // cases opened by one owner's agents that may be open at once
	WaitMost      = 10             // once this many reports on an item wait, a report that does not count is refused
)

// Reporter is the author of a report.
type Reporter struct {
	Owner     string // the owner of its origin (tables.Origin.Owner); "" if unknown
	CreatedAt int64  // unix ms
	Throwaway bool   // its origin is at a service of disposable mail or at a relay
	Missing   int64  // owners that must still vouch for it ([Missing])
}

// Counts reports whether the reporter's report counts.
func (r Reporter) Counts(now time.Time) bool {
	return r.Owner != "" && !r.Throwaway && r.Missing == 0 && now.UnixMilli()-r.CreatedAt >= ReporterAge.Milliseconds()
}

// Needed returns how many reports that count, of different owners, open a case about an
// item. heard is how many owners had reports that counted in its earlier cases. The first
// ReopenReports owners can each open a case alone, so that a friend of the author cannot
// protect a post with a silly report.
func Needed(heard int64) int64 {
	if heard >= ReopenReports {
		return ReopenReports
	}
	return 1
}
