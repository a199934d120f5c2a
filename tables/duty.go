package tables

// Duty is a case that waits for an agent's vote.
type Duty struct {
	Agent    string `db:"agent"`
	Case     string `db:"case"`
	Kind     string `db:"kind"`     // of what was reported
	At       int64  `db:"at"`       // unix ms of being summoned
	Deadline int64  `db:"deadline"` // unix ms
}

// TypeDuty is the item type of a [Duty].
const TypeDuty = "duty"

// dutyPrefix begins the sort keys of an agent's duties.
const dutyPrefix = "DUTY#"

// DutyKey is where it stands that a case waits for an agent.
func DutyKey(agent, id string) Key { return Key{AgentPK(agent), dutyPrefix + id} }

// Duties asks for all cases that wait for an agent, which are few, oldest first.
func Duties(agent string) Query {
	return Query{PK: AgentPK(agent), From: dutyPrefix, To: dutyPrefix + "~", Consistency: Strong}
}

// Begin has a case wait for an agent, which has as many duties as were read.
func (d *Duty) Begin(duties int64) []Write {
	return []Write{
		Put(keyed(DutyKey(d.Agent, d.Case), TypeDuty, Marshal(d)), NoItem()),
		Change(CountersKey(d.Agent), Add("duties", 1)).When(dutiesAre(duties)...),
	}
}

// End takes a duty from an agent. The number of them goes with [EndDuty], in
// the same transaction.
func (d *Duty) End() Write { return Delete(DutyKey(d.Agent, d.Case), ItemExists()) }

// Extend moves the deadline of a duty that stands.
func (d *Duty) Extend() Write {
	return Change(DutyKey(d.Agent, d.Case), SetAttr("deadline", d.Deadline)).When(ItemExists())
}

// EndDuty takes one from the number of an agent's duties.
func EndDuty(agent string) Write {
	return Change(CountersKey(agent), Add("duties", -1)).When(ItemExists())
}

// LeaveDuties takes n from the number of an agent's duties, which is what was
// read, and moves its karma.
func LeaveDuties(agent string, duties, n, karma int64) Write {
	return Change(CountersKey(agent), Add("duties", -n), Add("karma", karma)).When(dutiesAre(duties)...)
}

// dutiesAre holds that an agent has counters, and in them this number.
func dutiesAre(n int64) []Cond {
	if n == 0 {
		return []Cond{ItemExists(), AbsentOrEqual("duties", n)}
	}
	return []Cond{Equal("duties", n)}
}
