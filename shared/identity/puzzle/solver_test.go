package puzzle

import (
	"fmt"
	"sort"
	"strings"
)

// The second solver calls none of the code that it checks.

type world struct {
	recs  []Record
	byID  map[string]Record
	after map[string][]string // id to the ids that wait directly for it
}

func worldOf(recs []Record) world {
	w := world{recs, map[string]Record{}, map[string][]string{}}
	for _, r := range recs {
		w.byID[r.ID] = r
		if r.WaitsFor != "" {
			w.after[r.WaitsFor] = append(w.after[r.WaitsFor], r.ID)
		}
	}
	return w
}

var weekday = map[string]int{"Monday": 1, "Tuesday": 2, "Wednesday": 3, "Thursday": 4, "Friday": 5}

func meets(r Record, c cond) bool {
	switch c.field + " " + c.op {
	case " ": // a kind without this condition
		return false
	case "agent is":
		return r.Agent == c.value
	case "agent not":
		return r.Agent != c.value
	case "agent either":
		return r.Agent == c.value || r.Agent == c.other
	case "state is":
		return r.State == c.value
	case "state not":
		return r.State != c.value
	case "state either":
		return r.State == c.value || r.State == c.other
	case "day is":
		return r.Day == c.value
	case "day not":
		return r.Day != c.value
	case "day before":
		return weekday[r.Day] < weekday[c.value]
	case "day after":
		return weekday[r.Day] > weekday[c.value]
	case "day upto":
		return weekday[r.Day] <= weekday[c.value]
	case "day from":
		return weekday[r.Day] >= weekday[c.value]
	case "verb is":
		return strings.HasPrefix(r.Task, c.value+" ")
	case "verb not":
		return !strings.HasPrefix(r.Task, c.value+" ")
	case "object is":
		return strings.HasSuffix(r.Task, " "+c.value)
	case "object not":
		return !strings.HasSuffix(r.Task, " "+c.value)
	case "waits is":
		return (r.WaitsFor != "") == (c.value == "yes")
	}
	panic(fmt.Sprintf("condition %+v", c))
}

// upstream returns start and everything that it waits for, nearest first.
func (w world) upstream(start string) []string {
	if start == "" {
		return nil
	}
	return append([]string{start}, w.upstream(w.byID[start].WaitsFor)...)
}

func (w world) downstream(start string) []string {
	var ids []string
	for _, id := range w.after[start] {
		ids = append(append(ids, id), w.downstream(id)...)
	}
	return ids
}

func (w world) hours(ids []string) (total int) {
	for _, id := range ids {
		total += w.byID[id].Hours
	}
	return total
}

func (w world) ids(keep func(Record) bool) (ids []string) {
	for _, r := range w.recs {
		if keep(r) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func (w world) all(c cond) []string { return w.ids(func(r Record) bool { return meets(r, c) }) }

// choose returns the ids for the [description] of this name. ok is false if there is none.
func (w world) choose(name string, p plan) (ids []string, ok bool) {
	switch name {
	case "where":
		return w.ids(func(r Record) bool { return meets(r, p.a) && meets(r, p.b) }), true
	case "exception":
		return w.ids(func(r Record) bool {
			if !meets(r, p.a) {
				return false
			}
			if r.Agent == p.b.value {
				return meets(r, p.c)
			}
			return true
		}), true
	case "both":
		return w.ids(func(r Record) bool {
			a, b := false, false
			for _, s := range w.recs {
				if s.Agent == r.Agent {
					a = a || s.State == p.a.value
					b = b || s.State == p.b.value
				}
			}
			return a && b
		}), true
	case "busiest":
		tally := map[string]int{}
		for _, id := range w.all(p.a) {
			tally[w.byID[id].Agent]++
		}
		var names []string
		for name := range tally {
			names = append(names, name)
		}
		sort.Slice(names, func(i, j int) bool { return tally[names[i]] > tally[names[j]] })
		if len(names) > 1 && tally[names[0]] == tally[names[1]] {
			return nil, true // a tie: no answer
		}
		return w.ids(func(r Record) bool { return r.Agent == names[0] && !meets(r, p.a) }), true
	case "handover":
		owner := map[string]string{}
		for _, r := range w.recs {
			owner[r.ID] = r.Agent
			if r.Agent == p.x && meets(r, p.a) {
				owner[r.ID] = p.y
			}
		}
		return w.ids(func(r Record) bool { return owner[r.ID] == p.y }), true
	case "joined":
		for _, id := range w.all(p.a) {
			ids = append(ids, w.after[id]...)
		}
		return ids, true
	case "alone":
		return w.ids(func(r Record) bool {
			return meets(r, p.a) && len(w.upstream(r.ID)) == 1 && len(w.after[r.ID]) == 0
		}), true
	case "path":
		return w.upstream(p.start)[p.variant:], true
	case "dependents":
		return w.downstream(p.start), true
	}
	return nil, false
}

func solve(name string, recs []Record, p plan) int {
	w := worldOf(recs)
	if ids, ok := w.choose(name, p); ok {
		return w.hours(ids)
	}
	as, bs := w.all(p.a), w.all(p.b)
	byHours := func(ids []string) {
		sort.Slice(ids, func(i, j int) bool { return w.byID[ids[i]].Hours < w.byID[ids[j]].Hours })
	}
	switch name {
	case "chain":
		way := w.upstream(p.start)
		total := 0
		for range way {
			total += w.byID[way[len(way)-1]].Hours
		}
		return total
	case "sequence":
		rank := func(id string) int { return weekday[w.byID[id].Day]*1000 + w.byID[id].Hours }
		sort.Slice(as, func(i, j int) bool { return rank(as[i]) < rank(as[j]) })
		id, other := as[len(as)-1], as[0]
		if p.variant == 1 {
			id, other = other, id
		}
		n := 0
		fmt.Sscanf(id, "r-%d", &n)
		return n + w.byID[other].Hours
	case "second":
		byHours(as)
		byHours(bs)
		return w.byID[as[len(as)-2]].Hours + w.byID[bs[0]].Hours
	case "distinct":
		names := map[string]bool{}
		for _, id := range as {
			if p.variant == 0 {
				names[w.byID[id].Agent] = true
			} else {
				names[w.byID[id].Day] = true
			}
		}
		byHours(bs)
		if p.m == 1 {
			return len(names) * w.byID[bs[len(bs)-1]].Hours
		}
		return len(names) * w.byID[bs[0]].Hours
	case "difference":
		total := 0
		for _, r := range recs {
			switch {
			case !meets(r, p.c):
			case meets(r, p.a):
				total += r.Hours
			case meets(r, p.b):
				total -= r.Hours
			}
		}
		return total
	case "conditional":
		lead := 0
		for _, r := range recs {
			switch {
			case r.Day == p.x || r.Agent == p.x:
				lead += r.Hours
			case r.Day == p.y || r.Agent == p.y:
				lead -= r.Hours
			}
		}
		switch {
		case lead > 0:
			return w.hours(as)
		case lead < 0:
			return w.hours(bs)
		}
		return -1 // a tie: no answer
	case "weighted":
		return p.m*w.hours(as) + p.k*w.hours(bs)
	case "units":
		minutes := 0
		for _, id := range as {
			if strings.Contains(w.byID[id].Note, "minutes") {
				minutes += w.byID[id].Hours
			} else {
				minutes += 60 * w.byID[id].Hours
			}
		}
		if p.variant == 1 {
			return minutes
		}
		if minutes%60 != 0 {
			return -1
		}
		return minutes / 60
	}
	panic("kind " + name)
}
