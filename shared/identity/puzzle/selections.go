package puzzle

import "strings"

// A selection describes some of a table's tasks in words. {ask} stands for the request: a
// signup asks for the ids, a puzzle for the sum of the hours.
type selection struct {
	plan      plan
	chosen    []Record
	templates []string
	words     []string
}

// proper reports whether a selection is of medium size and not an obvious guess, such as
// all tasks of one agent, or all tasks of the others.
func (s selection) proper(t *table) bool {
	if len(s.chosen) < 2 || len(s.chosen) > len(t.records)-2 {
		return false
	}
	for _, field := range fields {
		for _, r := range t.records {
			value := cond{field: field, op: "is", value: r.field(field)}
			if n := len(t.matching(value)); s.equals(value.holds, n) || s.equals(func(r Record) bool { return !value.holds(r) }, len(t.records)-n) {
				return false
			}
		}
	}
	return true
}

// equals reports whether the selection is exactly the n records for which holds returns
// true.
func (s selection) equals(holds func(Record) bool, n int) bool {
	return len(s.chosen) == n && len(filter(s.chosen, holds)) == n
}

func sumOf(choose func(*table) (selection, bool)) func(*table) (draft, bool) {
	return func(t *table) (draft, bool) {
		s, ok := choose(t)
		if !ok || !s.proper(t) {
			return draft{}, false
		}
		return draft{s.plan, sum(s.chosen), s.templates, append(s.words, t.asking(sumRequests)...)}, true
	}
}

func (t *table) asking(requests []string) []string {
	ask := t.one(requests)
	return []string{"{ask}", ask, "{Ask}", strings.ToUpper(ask[:1]) + ask[1:]}
}

var sumRequests = []string{
	"add up the hours of",
	"work out the total hours of",
	"find the sum of the hours of",
	"total the hours of",
}

// where selects by two conditions. Each excludes tasks that the other allows.
func where(t *table) (selection, bool) {
	a := t.plain()
	b := t.plain(a.field)
	s := selection{
		plan:   plan{a: a, b: b},
		chosen: t.matching(a, b),
		words:  []string{"{a}", t.say(a), "{b}", t.say(b)},
		templates: []string{
			"{Ask} the tasks that {a} and that {b}.",
			"Look only at the tasks that {a}. {Ask} those of them that {b}.",
			"Leave aside everything but the tasks that {a}; then {ask} whichever of these {b}.",
			"Take the tasks that {a}. Of these, {ask} the ones that {b}.",
		},
	}
	return s, len(s.chosen) < min(len(t.matching(a)), len(t.matching(b)))
}

// exception selects by a condition. One agent's tasks must also meet a second condition.
func exception(t *table) (selection, bool) {
	a := t.plain("agent")
	out := t.condOn("agent", "is")
	back := t.plain("agent", a.field)
	kept := filter(t.matching(a), func(r Record) bool { return !out.holds(r) || back.holds(r) })
	s := selection{
		plan:   plan{a: a, b: out, c: back},
		chosen: kept,
		words:  []string{"{a}", t.say(a), "{x}", out.value, "{c}", t.say(back)},
		templates: []string{
			"{Ask} the tasks that {a}, but skip {x}'s among them, except for those of {x}'s that {c}: these do count.",
			"Take the tasks that {a}. Strike {x}'s from them, keeping however those of {x}'s that {c}. {Ask} what remains.",
			"{x}'s tasks count here only if they are among those that {c}; everybody else's count in any case. With this rule, {ask} the tasks that {a}.",
			"{Ask} the tasks that {a}. From these leave out the ones that belong to {x}, unless they are also among the tasks that {c}.",
		},
	}
	restored := len(t.matching(a, out, back))
	return s, restored > 0 && restored < len(t.matching(a, out)) && restored < len(kept)
}

// both selects all tasks of agents that have a task in each of two states.
func both(t *table) (selection, bool) {
	a, b, ok := t.pair("state")
	if !ok {
		return selection{}, false
	}
	hasA, hasB := map[string]bool{}, map[string]bool{}
	for _, r := range t.records {
		hasA[r.Agent] = hasA[r.Agent] || a.holds(r)
		hasB[r.Agent] = hasB[r.Agent] || b.holds(r)
	}
	s := selection{
		plan:   plan{a: a, b: b},
		chosen: filter(t.records, func(r Record) bool { return hasA[r.Agent] && hasB[r.Agent] }),
		words:  []string{"{a}", t.say(a), "{b}", t.say(b)},
		templates: []string{
			"Find the agents who have at least one of the tasks that {a} and also at least one of the tasks that {b}. {Ask} all tasks of these agents, whatever the state.",
			"Some tasks {a}, others {b}. Which agents have both sorts? {Ask} everything these agents have, tasks in other states included.",
			"Call an agent mixed who has one or more of the tasks that {a} and one or more of the tasks that {b}. {Ask} all the tasks of all mixed agents, not just the two sorts named.",
			"Disregard every agent who has none of the tasks that {a}, and every agent who has none of the tasks that {b}. {Ask} all the tasks of the agents that are left, in whatever state.",
		},
	}
	return s, true
}

// busiest finds the agent with the most tasks of one sort, and selects its other tasks.
func busiest(t *table) (selection, bool) {
	a := t.cond("agent")
	count := map[string]int{}
	for _, r := range t.matching(a) {
		count[r.Agent]++
	}
	most, tied := "", false
	for _, r := range t.records { // not over the map, whose order is random
		switch {
		case r.Agent == most:
		case count[r.Agent] > count[most]:
			most, tied = r.Agent, false
		case count[r.Agent] == count[most]:
			tied = true
		}
	}
	s := selection{
		plan:   plan{a: a},
		chosen: filter(t.records, func(r Record) bool { return r.Agent == most && !a.holds(r) }),
		words:  []string{"{a}", t.say(a)},
		templates: []string{
			"One agent has more of the tasks that {a} than any other agent has. {Ask} the other tasks of that agent, the ones that are not of this sort.",
			"Count, agent by agent, the tasks that {a}; one agent comes out on top. {Ask} whatever is on that agent's list and was not counted.",
			"Who has the largest number of the tasks that {a}? {Ask} the rest of this agent's tasks, those of any other sort.",
			"Considering the tasks that {a}, no agent has as many as a certain one. {Ask} those tasks of that one which were not considered.",
		},
	}
	return s, !tied
}

// handover selects an agent's tasks after it takes over some of another's.
func handover(t *table) (selection, bool) {
	from, to, ok := t.pair("agent")
	a := t.cond("agent")
	if !ok {
		return selection{}, false
	}
	s := selection{
		plan:   plan{a: a, x: from.value, y: to.value},
		chosen: filter(t.records, func(r Record) bool { return to.holds(r) || from.holds(r) && a.holds(r) }),
		words:  []string{"{a}", t.say(a), "{x}", from.value, "{y}", to.value},
		templates: []string{
			"Suppose {x} hands over to {y} all of {x}'s tasks that {a}, and nothing else. {Ask} all the tasks that {y} has then.",
			"Imagine that {y} takes over those of {x}'s tasks that {a}, in addition to what {y} has already. {Ask} all of {y}'s tasks after that.",
			"{x} falls ill, and the ones of {x}'s tasks that {a} go to {y}; the rest of {x}'s stay. {Ask} all tasks that {y} now has, old and new.",
			"If {y} were given every one of {x}'s tasks that {a}, what would {y} have? {Ask} {y}'s tasks in that case, the present ones included.",
		},
	}
	moved := len(t.matching(from, a))
	return s, moved > 0 && moved < len(t.matching(from)) && len(s.chosen) > moved
}
