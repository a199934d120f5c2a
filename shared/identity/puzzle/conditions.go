package puzzle

import (
	"slices"
	"strings"
)

// A cond is a condition on a task.
type cond struct {
	field        string // agent, state, day, verb, object, waits
	op           string // is, not, either; days only: before, after, upto (that day or before), from (that day or after)
	value, other string // other is set only if op is either
}

// ops lists the operators of a field. An operator that is listed twice is drawn twice as
// often.
var ops = map[string][]string{
	"agent":  {"is", "is", "not", "either"},
	"state":  {"is", "is", "not", "either"},
	"day":    {"is", "not", "before", "after", "upto", "from"},
	"verb":   {"is", "not"},
	"object": {"is", "not"},
	"waits":  {"is"},
}

var fields = []string{"agent", "state", "day", "verb", "object", "waits"}

func (r Record) field(name string) string {
	verb, object, _ := strings.Cut(r.Task, " ")
	switch name {
	case "agent":
		return r.Agent
	case "state":
		return r.State
	case "day":
		return r.Day
	case "verb":
		return verb
	case "object":
		return object
	case "waits":
		if r.WaitsFor == "" {
			return "no"
		}
		return "yes"
	}
	panic("puzzle: no field " + name)
}

func (c cond) holds(r Record) bool {
	got := r.field(c.field)
	switch c.op {
	case "is":
		return got == c.value
	case "not":
		return got != c.value
	case "either":
		return got == c.value || got == c.other
	}
	at, than := slices.Index(days, got), slices.Index(days, c.value)
	switch c.op {
	case "before":
		return at < than
	case "after":
		return at > than
	case "upto":
		return at <= than
	case "from":
		return at >= than
	}
	panic("puzzle: no op " + c.op)
}

// cond draws a condition on any field except those in without. The condition holds for
// some records, but not for all.
func (t *table) cond(without ...string) cond {
	for {
		field := t.one(fields)
		if slices.Contains(without, field) {
			continue
		}
		if c := t.condOn(field, t.one(ops[field])); t.divides(c) {
			return c
		}
	}
}

// plain draws a condition without "or", so that it can be joined with another condition
// unambiguously.
func (t *table) plain(without ...string) cond {
	for {
		if c := t.cond(without...); c.op != "either" {
			return c
		}
	}
}

func (t *table) condOn(field, op string) cond {
	c := cond{field: field, op: op, value: t.records[t.IntN(len(t.records))].field(field)}
	for op == "either" && (c.other == "" || c.other == c.value) {
		c.other = t.records[t.IntN(len(t.records))].field(field)
		if t.IntN(50) == 0 { // all records may have the same value
			break
		}
	}
	return c
}

// pair draws one of the fields, and two conditions on it. ok reports whether they differ.
func (t *table) pair(fields ...string) (a, b cond, ok bool) {
	field := t.one(fields)
	a, b = t.condOn(field, "is"), t.condOn(field, "is")
	return a, b, a.value != b.value
}

func (t *table) divides(c cond) bool {
	if c.op == "either" && (c.other == "" || c.other == c.value) {
		return false
	}
	n := len(t.matching(c))
	return n > 0 && n < len(t.records)
}

// say writes a condition in words that follow "tasks that".
func (t *table) say(c cond) string {
	key := c.field + " " + c.op
	if c.field == "waits" || c.field == "state" && c.op != "either" {
		key += " " + c.value
	}
	v := c.value
	return fill(t.one(phrases[key]), []string{"{v}", v, "{w}", c.other, "{ing}", doing[v], "{ed}", beenDone[v]})
}

var phrases = map[string][]string{
	"agent is":     {"belong to {v}", "are {v}'s", "were given to {v}"},
	"agent not":    {"belong to anybody but {v}", "are not {v}'s", "were given to somebody other than {v}"},
	"agent either": {"belong either to {v} or to {w}", "are either {v}'s or {w}'s"},

	"state is done":     {"are finished", "have been completed", "are done"},
	"state is running":  {"are being worked on right now", "are running", "are under way at the moment"},
	"state is failed":   {"have failed", "ended in failure", "went wrong"},
	"state is queued":   {"are still in the queue", "have not been started", "are queued"},
	"state not done":    {"are in any state but done", "are not finished, whatever else they are"},
	"state not running": {"are in any state but running", "are not running, whatever else they are"},
	"state not failed":  {"are in any state but failed", "have not failed, whatever else they are"},
	"state not queued":  {"are in any state but queued", "are not in the queue, whatever else they are"},
	"state either":      {"are marked either {v} or {w}", "have a state that is either {v} or {w}"},

	"day is":     {"fall on {v}", "are set for {v}", "have {v} as their day"},
	"day not":    {"fall on any day but {v}", "are set for a day other than {v}"},
	"day before": {"fall on a day before {v}", "come earlier in the week than {v}", "are set for some day ahead of {v}"},
	"day after":  {"fall on a day after {v}", "come later in the week than {v}", "are set for some day past {v}"},
	"day upto":   {"fall no later than {v}", "are set for {v} at the latest"},
	"day from":   {"fall no earlier than {v}", "are set for {v} at the earliest"},

	"verb is":    {"consist of {ing} something", "are a matter of {ing}", "call for something to be {ed}"},
	"verb not":   {"are a matter of anything but {ing}", "do not call for anything to be {ed}"},
	"object is":  {"are about {v}", "concern {v}", "have to do with {v}"},
	"object not": {"do not concern {v}", "have nothing to do with {v}"},

	"waits is yes": {"wait for another task", "have another task to wait for"},
	"waits is no":  {"wait for no other task", "have no other task to wait for"},
}

var doing = map[string]string{
	"review": "reviewing", "test": "testing", "translate": "translating", "index": "indexing", "summarise": "summarising",
}

var beenDone = map[string]string{
	"review": "reviewed", "test": "tested", "translate": "translated", "index": "indexed", "summarise": "summarised",
}
