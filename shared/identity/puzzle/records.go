package puzzle

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A Record is one task of an agent.
type Record struct {
	ID       string `json:"id" doc:"Name of the record. The number of r-417 is 417." example:"r-417"`
	Agent    string `json:"agent" doc:"The agent that the task belongs to." example:"Ada"`
	Task     string `json:"task" doc:"The task: an action and its object." example:"review the changelog"`
	State    string `json:"state" enum:"done,running,failed,queued" doc:"How far the task has come." example:"running"`
	Hours    int    `json:"hours" doc:"Hours booked for the task, unless the record's note gives another unit." example:"17"`
	Day      string `json:"day" enum:"Monday,Tuesday,Wednesday,Thursday,Friday" doc:"The day that the task is set for; all records are of one week." example:"Tuesday"`
	WaitsFor string `json:"waits_for,omitempty" doc:"Id of the record whose task must come before this one. The id stays when one or both tasks are done. Left out if no task must come before." example:"r-203"`
	Note     string `json:"note,omitempty" doc:"A remark on the task; often of no importance." example:"asked for twice"`
}

func (r Record) number() int64 {
	n, _ := strconv.ParseInt(strings.TrimPrefix(r.ID, "r-"), 10, 64)
	return n
}

const (
	minRecords, maxRecords = 8, 14
	minHours, maxHours     = 3, 75
	minID, maxID           = 100, 999
)

var (
	agents = []string{
		"Ada", "Bo", "Cleo", "Dov", "Edda", "Femi", "Gil", "Hana", "Ivo", "Juno", "Kai", "Lena",
		"Milo", "Nia", "Otto", "Pia", "Quinn", "Rune", "Sol", "Tove", "Uma", "Vito", "Wren", "Zoe",
		"Arlo", "Bea", "Cato", "Dina", "Elio", "Flora", "Greta", "Hugo", "Ilse", "Jory", "Kira", "Leo",
		"Mara", "Nilo", "Oda", "Pavel", "Rhea", "Saul", "Timo", "Vera", "Wilma", "Yuna",
	}
	verbs   = []string{"review", "test", "translate", "index", "summarise"}
	objects = []string{"the changelog", "the billing code", "the search logs", "the user guide", "the welcome mail"}
	states  = []string{"done", "running", "failed", "queued"}
	days    = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday"}

	// Notes without effect on the answer.
	idleNotes = []string{
		"asked for twice", "handle with care", "the client is patient", "low priority",
		"mentioned in the morning call", "somebody liked this one", "no further remarks", "came in by mail",
	}
)

// A table is one attempt at a puzzle: its records and the stream it draws from.
type table struct {
	*rand.Rand
	records []Record
}

// newTable draws a table. Ids and hours are unique, chains of waits_for have no cycles,
// and no record both waits and has a note.
func newTable(rng *rand.Rand) *table {
	t := &table{rng, make([]Record, minRecords+rng.IntN(maxRecords-minRecords+1))}
	team := t.Perm(len(agents))[:4+t.IntN(2)]
	var usedIDs, usedHours []int
	for i := range t.records {
		t.records[i] = Record{
			ID:    "r-" + strconv.Itoa(t.fresh(&usedIDs, minID, maxID)),
			Agent: agents[team[t.IntN(len(team))]],
			Task:  t.one(verbs) + " " + t.one(objects),
			State: t.one(states),
			Hours: t.fresh(&usedHours, minHours, maxHours),
			Day:   t.one(days),
		}
	}
	t.link()
	return t
}

// link makes about half of the records wait for another. Most wait for their predecessor
// in a random order, so that there are chains.
func (t *table) link() {
	order := t.Perm(len(t.records))
	for i, at := range order {
		r := &t.records[at]
		switch {
		case i > 0 && t.IntN(2) == 0:
			before := order[i-1]
			if t.IntN(5) < 2 {
				before = order[t.IntN(i)]
			}
			r.WaitsFor = t.records[before].ID
			if r.State == "done" || r.State == "running" { // a task that waits is neither
				r.State = t.one([]string{"queued", "failed"})
			}
		case t.IntN(3) == 0:
			r.Note = t.one(idleNotes)
		}
	}
}

func (t *table) one(list []string) string { return list[t.IntN(len(list))] }

func (t *table) fresh(used *[]int, min, max int) int {
	for {
		n := min + t.IntN(max-min+1)
		if !slices.Contains(*used, n) {
			*used = append(*used, n)
			return n
		}
	}
}

// shows reports whether a number could be guessed from the table without the question.
func (t *table) shows(answer int64) bool {
	for _, field := range fields {
		common := cond{field: field, op: "is", value: t.commonest(field)}
		if with := sum(t.matching(common)); answer == with || answer == sum(t.records)-with {
			return true
		}
	}
	n := int64(len(t.records))
	var hours, numbers int64
	for _, r := range t.records {
		if answer == int64(r.Hours) || answer == r.number() {
			return true
		}
		hours += int64(r.Hours)
		numbers += r.number()
	}
	switch answer {
	case n, hours, numbers, hours * 60, hours / n, numbers / n:
		return true
	}
	return answer <= n
}

// commonest returns the most frequent value of a column; the first in a tie.
func (t *table) commonest(field string) (most string) {
	count := map[string]int{}
	for _, r := range t.records {
		count[r.field(field)]++
	}
	for _, r := range t.records { // not over the map, whose order is random
		if v := r.field(field); count[v] > count[most] {
			most = v
		}
	}
	return most
}

// follow returns the chain from r along waits_for, both ends included.
func (t *table) follow(r Record) []Record {
	way := []Record{r}
	for r.WaitsFor != "" {
		for _, next := range t.records {
			if next.ID == r.WaitsFor {
				r = next
				break
			}
		}
		way = append(way, r)
	}
	return way
}

func (t *table) matching(conds ...cond) []Record {
	return filter(t.records, func(r Record) bool {
		for _, c := range conds {
			if !c.holds(r) {
				return false
			}
		}
		return true
	})
}

func filter(records []Record, keep func(Record) bool) []Record {
	var kept []Record
	for _, r := range records {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

func sum(records []Record) int64 {
	var hours int64
	for _, r := range records {
		hours += int64(r.Hours)
	}
	return hours
}
