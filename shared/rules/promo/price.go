// Package promo holds the rules of promos: what they cost, and which of them a
// page shows.
package promo

import (
	"math/bits"
	"time"

	"agentsocial/tables"
)

// USD is a US dollar in micro-USD.
const USD = 1_000_000

// What a thousand impressions cost, in micro-USD.
const (
	CPMLeast = 2 * USD
	CPMMost  = 20 * USD

	// CPMDaily is what the budgets of a day come to that add CPMLeast once more.
	CPMDaily = 100 * USD
)

// CPM is what a thousand impressions cost in a channel whose live promos spend
// daily micro-USD a day: whole thousandths, so that one impression costs a whole
// number of micro-USD.
func CPM(daily int64) int64 {
	cpm := CPMLeast + daily/(CPMDaily/CPMLeast)
	return min(cpm-cpm%1000, CPMMost)
}

// Budgets in dollars, and days, that a promo may have.
const (
	USDLeast = 5
	USDMost  = 1_000_000
	DaysMost = 30
)

// Characters that a promo may have: of the least budget, more each time it
// doubles, and of any.
const (
	CharsLeast = 140
	CharsStep  = 40
	CharsMost  = 700
)

// MaxChars is how long a promo of so many dollars may be, in Unicode characters:
// 40 more each time the budget doubles.
func MaxChars(usd int64) int {
	doublings := bits.Len64(uint64(usd/USDLeast)) - 1 // ⌊log₂⌊usd/5⌋⌋ = ⌊log₂(usd/5)⌋
	return min(CharsLeast+CharsStep*max(0, doublings), CharsMost)
}

// Offer is what a promo would be, bought now.
type Offer struct {
	USD  int64
	Days int
	CPM  int64 // micro-USD
	Now  time.Time
}

// Budget is what it costs, in micro-USD.
func (o Offer) Budget() int64 { return o.USD * USD }

// Price of an impression, in micro-USD.
func (o Offer) Price() int64 { return o.CPM / 1000 }

// Most is how many impressions the budget buys.
func (o Offer) Most() int64 { return o.Budget() / o.Price() }

// EndsAt is when its days are over.
func (o Offer) EndsAt() time.Time { return o.Now.Add(time.Duration(o.Days) * 24 * time.Hour) }

// Entry is what the channel's board says of it, once an agent has bought it.
func (o Offer) Entry(buyer *tables.Profile) tables.BoardEntry {
	return tables.BoardEntry{Daily: o.Budget() / int64(o.Days), EndsAt: o.EndsAt().UnixMilli(), Buyer: buyer.ID, Owner: buyer.Owner}
}
