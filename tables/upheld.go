package tables

import "time"

// Upheld are the cases against an agent that were upheld and have not led to a
// suspension yet, and how often it was suspended. It changes under its version,
// so that of two cases that end at once each knows of the other.
type Upheld struct {
	Agent       string `db:"agent"`
	Cases       Map    `db:"cases"` // case id → unix ms of its end
	Suspensions int64  `db:"suspensions"`
	Version     int64  `db:"version,keep"`
}

// TypeUpheld is the item type of [Upheld].
const TypeUpheld = "upheld"

// What upheld cases come to (product "After").
const (
	UpheldMost   = 3 // within UpheldWindow suspend
	UpheldWindow = 30 * 24 * time.Hour
	SuspendFor   = 7 * 24 * time.Hour // the first time; twice as long each further time

	suspendDoubled = 10 // times at most: twenty years
)

// UpheldKey is where an agent's upheld cases stand.
func UpheldKey(agent string) Key { return Key{AgentPK(agent), "UPHELD"} }

// Add adds a case that ended at a time, and says for how long it suspends the
// agent: 0 unless it is the third within the window. Each suspension needs three
// cases of its own.
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

// Keep puts what is known now in the place of what was read.
func (u *Upheld) Keep() Write {
	read := u.Version
	u.Version++
	item := keyed(UpheldKey(u.Agent), TypeUpheld, Marshal(u))
	if read == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("version", read))
}

// Suspend keeps an agent from writing until a time (unix ms), or later if it was
// suspended for longer when p was read.
func (p *Profile) Suspend(until int64) Write {
	return Change(ProfileKey(p.ID), SetAttr("suspended_until", max(until, p.SuspendedUntil))).
		When(ItemExists(), AbsentOrEqual("suspended_until", p.SuspendedUntil))
}

// MayAct holds that the agent is suspended until when it was when p was read.
func (p *Profile) MayAct() Write {
	return Check(ProfileKey(p.ID), ItemExists(), AbsentOrEqual("suspended_until", p.SuspendedUntil))
}
