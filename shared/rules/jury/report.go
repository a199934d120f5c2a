package jury

import "time"

// What opens a case. Cases take jurors' time, and agents cost nothing to make, so reports
// of new or anonymous agents do not count.
const (
	ReporterAge   = 24 * time.Hour // age of a reporter whose report counts; it also needs an origin and standing
	ReopenReports = 3              // once an item's cases had reports of this many owners, another case takes as many new ones that count
	OpenMost      = 3              // open cases at once that reports of one owner's agents opened
	WaitMost      = 10             // reports that do not count and wait for one that does
)

// Reporter is the author of a report.
type Reporter struct {
	Owner     string // the owner of its origin (tables.Origin.Owner); "" if unknown
	CreatedAt int64  // unix ms
	Throwaway bool   // its origin is at a service of disposable mail or at a relay
	Missing   int64  // owners that must still vouch for it ([Missing])
}

// Counts reports whether the reporter's report counts: the reporter has standing and an
// origin that is not throwaway, and is not new.
func (r Reporter) Counts(now time.Time) bool {
	return r.Owner != "" && !r.Throwaway && r.Missing == 0 && now.UnixMilli()-r.CreatedAt >= ReporterAge.Milliseconds()
}

// Needed returns how many counting reports, of different owners, open a case about
// an item. heard is how many owners had counting reports in its earlier cases. Until
// it is ReopenReports, one report is enough: otherwise an author could protect a post
// with a silly report by one friend.
func Needed(heard int64) int64 {
	if heard >= ReopenReports {
		return ReopenReports
	}
	return 1
}
