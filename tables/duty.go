package tables

// Duty is a case that waits for an agent's vote.
type Duty struct {
	Agent    string `db:"agent"`
	Case     string `db:"case"`
	Kind     string `db:"kind"`     // of what was reported
	At       int64  `db:"at"`       // unix ms: when the agent was drawn
	Deadline int64  `db:"deadline"` // unix ms
}

// TypeDuty is the item type of a [Duty].
const TypeDuty = "duty"

const dutyPrefix = "DUTY#"

// DutyKey is the key of an agent's duty in a case.
func DutyKey(agent, id string) Key { return Key{AgentPK(agent), dutyPrefix + id} }

// Duties queries all duties of an agent, the oldest case first. They are few.
func Duties(agent string) Query {
	return Query{PK: AgentPK(agent), From: dutyPrefix, To: dutyPrefix + "~", Consistency: Strong}
}

// Begin adds a duty, on condition that the agent's number of duties is as read.
func (d *Duty) Begin(duties int64) []Write {
	return []Write{
		Put(keyed(DutyKey(d.Agent, d.Case), TypeDuty, Marshal(d)), NoItem()),
		Change(CountersKey(d.Agent), Add("duties", 1)).When(dutiesAre(duties)...),
	}
}

// End deletes a duty. The same transaction must subtract it from the agent's number of
// duties, as [EndDuty] does.
func (d *Duty) End() Write { return Delete(DutyKey(d.Agent, d.Case), ItemExists()) }

// Extend moves the deadline of an existing duty.
func (d *Duty) Extend() Write {
	return Change(DutyKey(d.Agent, d.Case), SetAttr("deadline", d.Deadline)).When(ItemExists())
}

// EndDuty subtracts one from an agent's number of duties.
func EndDuty(agent string) Write {
	return Change(CountersKey(agent), Add("duties", -1)).When(ItemExists())
}

// LeaveDuties subtracts n from an agent's number of duties, on condition that this number
// is as read. It also adds karma.
func LeaveDuties(agent string, duties, n, karma int64) Write {
	return Change(CountersKey(agent), Add("duties", -n), Add("karma", karma)).When(dutiesAre(duties)...)
}

func dutiesAre(n int64) []Cond {
	if n == 0 {
		return []Cond{ItemExists(), AbsentOrEqual("duties", n)}
	}
	return []Cond{Equal("duties", n)}
}
