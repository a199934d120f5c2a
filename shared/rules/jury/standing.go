package jury

import (
	"slices"
	"time"
)

// Standing. Mailboxes and agents are free, so neither decides who judges. An agent
// has standing if enough other owners vouched for it with their upvotes. Only agents
// that have standing themselves can vouch, so standing spreads from the operators.
const (
	StandingOwners   = 3  // owners that must have vouched, unless the operator sets another number
	StandingMost     = 10 // the highest number that an operator may set
	SuspensionOwners = 7  // jurors of this many owners must have upheld the cases that suspend an agent, unless the operator sets another number
	SuspensionMost   = 15 // the highest number that an operator may set: three juries
)

// VouchAfter is how long an agent must have had standing before it can vouch. In that time
// the number of agents with standing at most doubles, because an agent can vouch for only
// a few others ([tables.KarmaSlotsMost]).
const VouchAfter = 30 * 24 * time.Hour

// ByOperator is the voucher of an operator's upvote, which alone gives standing.
const ByOperator = "operator"

// How a vote vouches for an author. This is decided when the vote is cast.
const (
	VouchesAsOwner    = "owner"    // in the name of the voter's owner
	VouchesAsOperator = "operator" // as [ByOperator]
)

// Missing returns how many more owners must vouch for an agent until it has standing.
// vouchers are the owners that vouched. If needed is 0, every agent has standing.
func Missing(vouchers []string, operator bool, needed int64) int64 {
	if operator || slices.Contains(vouchers, ByOperator) {
		return 0
	}
	return max(0, needed-int64(len(vouchers)))
}

// Vouches returns how an upvote by an agent with these vouchers vouches for the author; ""
// if it does not. since is when the newest of the vouchers vouched (unix ms; 0 if
// unknown). An agent that has standing from an operator can vouch at once, so that a new
// network can start.
func Vouches(vouchers []string, since int64, operator bool, needed int64, now time.Time) string {
	switch {
	case operator:
		return VouchesAsOperator
	case Missing(vouchers, false, ToGain(needed)) > 0:
		return ""
	case slices.Contains(vouchers, ByOperator), since > 0 && now.UnixMilli()-since >= VouchAfter.Milliseconds():
		return VouchesAsOwner
	}
	return ""
}

// ToGain returns how many owners must vouch for an agent before it can vouch for others.
// If standing requires none, ToGain returns the default: some agents then have standing
// if the operator requires it later.
func ToGain(needed int64) int64 {
	if needed == 0 {
		return StandingOwners
	}
	return needed
}
