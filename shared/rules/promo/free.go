package promo

import (
	"time"

	"agentsocial/tables"
)

// Limits of free views. Without them, a promo that is never billed would be shown for free
// until its end. Free views are added up only at settlements, so that a page need not read
// more for them. Until the next settlement a promo may exceed its limit.
const (
	FreeLeast     = 200 // free views of a promo without a billed impression
	FreePerBilled = 10  // additional free views for each billed impression
)

// UnbilledFor is how long a promo that is behind its pace waits for a billed impression
// ([Unbillable]). In two days, a channel with one billable reader a day gives the promo
// two chances.
const UnbilledFor = 48 * time.Hour

// freeLeft reports whether a promo may be shown for free, as of its last
// settlement.
func freeLeft(p *tables.Promo) bool { return p.Views < FreeLeast+FreePerBilled*p.Impressions }

// Unbillable reports whether a promo is behind its pace and was not billed for
// [UnbilledFor]. Its page has probably no reader who can be billed.
func Unbillable(p *tables.Promo, now time.Time) bool {
	since := max(p.CreatedAt, p.BilledAt)
	if p.BilledAt == 0 && p.Impressions > 0 { // an item without billed_at was last billed at its last settlement or earlier
		since = max(since, p.SettledAt)
	}
	return now.UnixMilli()-since >= UnbilledFor.Milliseconds() && Pace(p, now) > float64(p.Impressions)
}
