package tables

import (
	"maps"
	"slices"
	"time"
)

// Upheld lists the upheld cases against an agent, and counts its suspensions. Every
// change requires that the version is as read, so two concurrent cases cannot miss each
// other.
type Upheld struct {
	Agent       string `db:"agent"`
	Cases       Map    `db:"cases"`  // case id → unix ms of its end: those that have not led to a suspension
	Owners      Map    `db:"owners"` // case id → List of the owners ([Pseudonym]) of the jurors who upheld it; older cases have none
	Suspensions int64  `db:"suspensions"`
	Past        Map    `db:"past"` // id of the last case of a suspension → Map of the [Suspension]; older suspensions have none
	Version     int64  `db:"version,keep"`
}

// TypeUpheld is the item type of [Upheld].
const TypeUpheld = "upheld"

// Consequences of upheld cases (heading "After" of the specification).
const (
	UpheldMost   = 3 // this many cases within UpheldWindow lead to a suspension
	UpheldWindow = 30 * 24 * time.Hour
	SuspendFor   = 7 * 24 * time.Hour // length of the first suspension; each further one is twice as long as the one before

	suspendDoubled = 10                  // how many times the duration doubles at most, to about twenty years
	upheldKept     = 30                  // how many waiting cases are kept at most: the newest
	pastKept       = 90 * 24 * time.Hour // how long a suspension is kept after its end
)

// UpheldKey is the key of an agent's [Upheld].
func UpheldKey(agent string) Key { return Key{AgentPK(agent), "UPHELD"} }

// Suspension is a suspension by juries, and what it rests on.
type Suspension struct {
	Until  int64 `db:"until"`  // unix ms: its own end; in older items the later of that and Before
	Before int64 `db:"before"` // unix ms until which the agent was suspended already; 0 if it was not
	Cases  Map   `db:"cases"`  // as in [Upheld]
	Owners Map   `db:"owners"`
}

// Add adds a case, and returns the suspension that follows; nil if none does. ended is
// when the case ended, and owners are those of the jurors who upheld it. A suspension
// needs [UpheldMost] cases within [UpheldWindow]. It also needs jurors of at least as many
// different owners as the parameter least. Until then the cases wait. The suspension
// begins now and uses up its cases.
//
// before is the end of the agent's current suspension (unix ms), 0 if it has none. If a
// suspension in u.Past would end after both before and now, an operator has lifted it: its
// end becomes the later of before and now.
func (u *Upheld) Add(id string, ended time.Time, owners []string, least int64, now time.Time, before int64) *Suspension {
	u.Cases, u.Owners = cloned(u.Cases), cloned(u.Owners)
	u.Cases[id] = ended.UnixMilli()
	if len(owners) > 0 {
		u.Owners[id] = listed(owners)
	}
	u.keepNewest(ended)
	if !enough(u.Cases, u.Owners, least) {
		return nil
	}
	u.Suspensions++
	s := &Suspension{
		Until:  now.Add(SuspendFor << min(u.Suspensions-1, suspendDoubled)).UnixMilli(),
		Before: before, Cases: u.Cases, Owners: u.Owners,
	}
	u.Cases, u.Owners = nil, nil
	past := cloned(u.Past)
	for n, v := range past {
		m, _ := v.(Map)
		until := Item(m).Int("until")
		if now.UnixMilli()-until > pastKept.Milliseconds() {
			delete(past, n)
		} else {
			m = cloned(m)
			m["until"] = min(until, max(before, now.UnixMilli()))
			past[n] = m
		}
	}
	past[id] = Map(Marshal(s))
	u.Past = past
	return s
}

// keepNewest forgets the cases that ended an [UpheldWindow] or longer before a time, and
// the oldest cases if there are more than upheldKept.
func (u *Upheld) keepNewest(at time.Time) {
	for id, v := range u.Cases {
		if ended, _ := v.(int64); at.UnixMilli()-ended >= UpheldWindow.Milliseconds() {
			delete(u.Cases, id)
		}
	}
	ids := slices.SortedFunc(maps.Keys(u.Cases), func(a, b string) int { return int(Item(u.Cases).Int(b) - Item(u.Cases).Int(a)) })
	for _, id := range ids[min(upheldKept, len(ids)):] {
		delete(u.Cases, id)
	}
	for id := range u.Owners {
		if u.Cases[id] == nil {
			delete(u.Owners, id)
		}
	}
}

func enough(cases, owners Map, least int64) bool {
	different := map[string]bool{}
	for _, v := range owners {
		list, _ := v.(List)
		for _, v := range list {
			owner, _ := v.(string)
			different[owner] = true
		}
	}
	return len(cases) >= UpheldMost && int64(len(different)) >= least
}

// Undo takes back a case that was overturned on appeal. It returns the suspension that
// rested on the case and no longer has enough cases or owners; nil if there is none. The remaining
// cases of that suspension wait for others again.
func (u *Upheld) Undo(id string, least int64) *Suspension {
	u.Cases, u.Owners, u.Past = cloned(u.Cases), cloned(u.Owners), cloned(u.Past)
	delete(u.Cases, id)
	delete(u.Owners, id)
	for n, v := range u.Past {
		var s Suspension
		m, _ := v.(Map)
		if err := Unmarshal(Item(m), &s); err != nil || s.Cases[id] == nil {
			continue
		}
		s.Cases, s.Owners = cloned(s.Cases), cloned(s.Owners)
		delete(s.Cases, id)
		delete(s.Owners, id)
		if enough(s.Cases, s.Owners, least) {
			u.Past[n] = Map(Marshal(&s))
			return nil
		}
		delete(u.Past, n)
		u.Suspensions--
		maps.Copy(u.Cases, s.Cases)
		maps.Copy(u.Owners, s.Owners)
		u.resume(&s)
		return &s
	}
	return nil
}

// Until returns the latest end of the suspensions that stand, in unix ms; 0 if there are
// none.
func (u *Upheld) Until() (latest int64) {
	for _, v := range u.Past {
		m, _ := v.(Map)
		latest = max(latest, Item(m).Int("until"))
	}
	return latest
}

// resume corrects the suspensions that began during undone, a suspension that an appeal
// ended. Their Before becomes undone.Before.
func (u *Upheld) resume(undone *Suspension) {
	for n, v := range u.Past {
		was, _ := v.(Map)
		if m := cloned(was); Item(m).Int("before") == undone.Until {
			m["before"] = undone.Before
			u.Past[n] = m
		}
	}
}

func cloned(m Map) Map {
	if m == nil {
		return Map{}
	}
	return maps.Clone(m)
}

func listed(owners []string) (list List) {
	for _, owner := range NewSet(owners...) {
		list = append(list, owner)
	}
	return list
}

// Keep stores u with the next version, on condition that the version is as read.
func (u *Upheld) Keep() Write {
	read := u.Version
	u.Version++
	for _, m := range []*Map{&u.Cases, &u.Owners, &u.Past} {
		if len(*m) == 0 {
			*m = nil
		}
	}
	item := keyed(UpheldKey(u.Agent), TypeUpheld, Marshal(u))
	if read == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("version", read))
}

// Suspend suspends an agent until a time (unix ms), unless p is suspended for longer.
func (p *Profile) Suspend(until int64) Write {
	return Change(ProfileKey(p.ID), SetAttr("suspended_until", max(until, p.SuspendedUntil))).
		When(ItemExists(), AbsentOrEqual("suspended_until", p.SuspendedUntil))
}

// SuspendByOperator is Suspend for an operator. No appeal ends the suspension before until.
func (p *Profile) SuspendByOperator(until int64) Write {
	w := p.Suspend(until)
	w.Updates = append(w.Updates, SetAttr("operator_until", until))
	return w.When(AbsentOrEqual("operator_until", p.OperatorUntil))
}

// Lift ends the suspension that p has, whether juries or an operator imposed it.
func (p *Profile) Lift() Write {
	w := p.LiftTo(0)
	w.Updates = append(w.Updates, RemoveAttr("operator_until"))
	return w
}

// LiftTo replaces the suspension that p has by one that ends at a time (unix ms); 0
// ends it now. It requires that nobody suspended the agent since p was read.
func (p *Profile) LiftTo(until int64) Write {
	lifted := RemoveAttr("suspended_until")
	if until != 0 {
		lifted = SetAttr("suspended_until", until)
	}
	return Change(ProfileKey(p.ID), lifted).When(Equal("suspended_until", p.SuspendedUntil), AbsentOrEqual("operator_until", p.OperatorUntil))
}

// SameState requires that the agent's state is as in p: it was not erased meanwhile.
func (p *Profile) SameState() Write {
	return Check(ProfileKey(p.ID), AbsentOrEqual("state", p.State))
}

// MayAct requires that the agent exists, and that the end of its suspension is as read.
func (p *Profile) MayAct() Write {
	return Check(ProfileKey(p.ID), ItemExists(), AbsentOrEqual("suspended_until", p.SuspendedUntil))
}
