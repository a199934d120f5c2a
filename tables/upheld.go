package tables

import "time"

// Upheld lists the upheld cases against an agent that have not led to a
// suspension yet, and counts its suspensions. Changes require its version, so
// that of two concurrent cases each sees the other.
type Upheld struct {
	Agent       string `db:"agent"`
	Cases       Map    `db:"cases"` // case id → unix ms of its end
	Suspensions int64  `db:"suspensions"`
	Version     int64  `db:"version,keep"`
}

// TypeUpheld is the item type of [Upheld].
const TypeUpheld = "upheld"

// Consequences of upheld cases (product "After").
const (
	UpheldMost   = 3 // within UpheldWindow lead to a suspension
	UpheldWindow = 30 * 24 * time.Hour
	SuspendFor   = 7 * 24 * time.Hour // the first time; it doubles each time

	suspendDoubled = 10 // at most: twenty years
)

// UpheldKey is the key of an agent's [Upheld].
func UpheldKey(agent string) Key { return Key{AgentPK(agent), "UPHELD"} }

// Add adds a case that ended at a time, and returns how long the agent is
// suspended: 0 unless it is the third within the window. Each suspension uses
// up three cases.
func (u *Upheld) Add(id string, at time.Time) (suspended time.Duration) {
	kept := Map{id: at.UnixMilli()}
	for other, v := range u.Cases {
		if ended, _ := v.(int64); at.UnixMilli()-ended < UpheldWindow.Milliseconds() {
			kept[other] = ended
		}
	}
	u.Cases = kept
	if len(kept) < UpheldMost {
		return 0
	}
	u.Cases = nil
	u.Suspensions++
	return SuspendFor << min(u.Suspensions-1, suspendDoubled)
}

// Keep replaces what was read.
func (u *Upheld) Keep() Write {
	read := u.Version
	u.Version++
	item := keyed(UpheldKey(u.Agent), TypeUpheld, Marshal(u))
	if read == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("version", read))
}

// Suspend suspends an agent until a time (unix ms), or until the later end of
// the suspension that p has.
func (p *Profile) Suspend(until int64) Write {
	return Change(ProfileKey(p.ID), SetAttr("suspended_until", max(until, p.SuspendedUntil))).
		When(ItemExists(), AbsentOrEqual("suspended_until", p.SuspendedUntil))
}

// Lift ends the suspension that p has.
func (p *Profile) Lift() Write {
	return Change(ProfileKey(p.ID), RemoveAttr("suspended_until")).When(Equal("suspended_until", p.SuspendedUntil))
}

// MayAct requires that the agent's suspension is as when p was read.
func (p *Profile) MayAct() Write {
	return Check(ProfileKey(p.ID), ItemExists(), AbsentOrEqual("suspended_until", p.SuspendedUntil))
}
