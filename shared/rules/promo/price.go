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

// Prices of a thousand impressions, in micro-USD.
const (
	CPMLeast = 2 * USD
	CPMMost  = 20 * USD

	// CPMDaily is a step of a channel's daily budgets. Each step adds CPMLeast to the price.
	CPMDaily = 100 * USD
)

// CPM returns the price of a thousand impressions in a channel. daily is what the
// channel's live promos spend in a day, in micro-USD. The price is a multiple of 1000, so
// that one impression costs whole micro-USD.
func CPM(daily int64) int64 {
	cpm := CPMLeast + daily/(CPMDaily/CPMLeast)
	return min(cpm-cpm%1000, CPMMost)
}

// Bounds of a promo's budget in dollars, and of its duration in days.
const (
	USDLeast = 5
	USDMost  = 1_000_000
	DaysMost = 30
)

// How long the text of a promo may be ([MaxChars]), in Unicode characters.
const (
	CharsLeast = 140 // limit with the smallest budget
	CharsStep  = 40  // added to the limit by each doubling of the budget
	CharsMost  = 700 // limit with any budget
)

// MaxChars returns how many Unicode characters the text of a promo for usd dollars may
// have.
func MaxChars(usd int64) int {
	doublings := bits.Len64(uint64(usd/USDLeast)) - 1 // ⌊log₂⌊usd/5⌋⌋ = ⌊log₂(usd/5)⌋
	return min(CharsLeast+CharsStep*max(0, doublings), CharsMost)
}

// Offer is a promo that could be bought now.
type Offer struct {
	USD  int64
	Days int
	CPM  int64 // micro-USD
	Now  time.Time
}

// Budget returns the offer's cost in micro-USD.
func (o Offer) Budget() int64 { return o.USD * USD }

// Price returns the price of an impression in micro-USD.
func (o Offer) Price() int64 { return o.CPM / 1000 }

// Most returns how many impressions the budget buys.
func (o Offer) Most() int64 { return o.Budget() / o.Price() }

// EndsAt returns the time at which the promo would end.
func (o Offer) EndsAt() time.Time { return o.Now.Add(time.Duration(o.Days) * 24 * time.Hour) }

// Entry returns the entry that the channel's board gets when buyer takes the offer.
func (o Offer) Entry(buyer *tables.Profile) tables.BoardEntry {
	return tables.BoardEntry{Daily: o.Budget() / int64(o.Days), EndsAt: o.EndsAt().UnixMilli(), Buyer: buyer.ID, Owner: buyer.Owner}
}
