package puzzle

// joined selects tasks whose waits_for names a task of some sort.
func joined(t *table) (selection, bool) {
	a := t.cond("waits")
	ofSort := map[string]bool{}
	for _, r := range t.matching(a) {
		ofSort[r.ID] = true
	}
	s := selection{
		plan:   plan{a: a},
		chosen: filter(t.records, func(r Record) bool { return ofSort[r.WaitsFor] }),
		words:  []string{"{a}", t.say(a)},
		templates: []string{
			"Consider the tasks that {a}. {Ask} all tasks that wait directly for one of these.",
			"Find out which of the tasks {a}. Now {ask} the tasks whose waits_for names one of those.",
			"Which tasks wait directly for one of the tasks that {a}? {Ask} the waiting ones.",
			"{Ask} every task that has, in its waits_for, the id of one of the tasks that {a}.",
		},
	}
	waiting := t.matching(cond{field: "waits", op: "is", value: "yes"})
	return s, len(s.chosen) < len(waiting)
}

// alone selects unlinked tasks of some sort.
func alone(t *table) (selection, bool) {
	a := t.cond("waits")
	wanted := map[string]bool{}
	for _, r := range t.records {
		wanted[r.WaitsFor] = true
	}
	unlinked := filter(t.records, func(r Record) bool { return r.WaitsFor == "" && !wanted[r.ID] })
	s := selection{
		plan:   plan{a: a},
		chosen: filter(unlinked, a.holds),
		words:  []string{"{a}", t.say(a)},
		templates: []string{
			"Some tasks stand alone: they wait for nothing, and no other task waits for them. {Ask} the ones among these that {a}.",
			"Take the tasks that {a}. {Ask} those of them that neither wait for a task nor have a task waiting for them.",
			"Cross out each task that waits for another, and each task that another waits for. Of what is left, {ask} the tasks that {a}.",
			"Call a task free if it has no waits_for and its id is in nobody else's waits_for. {Ask} the free tasks that {a}.",
		},
	}
	return s, len(s.chosen) < len(unlinked)
}

// path selects the chain from a task to the chain's end, with or without the first task.
func path(t *table) (selection, bool) {
	start := t.records[t.IntN(len(t.records))]
	way := t.follow(start)
	variant, counted := t.IntN(2), "both {id} and the last one counted"
	chosen := way
	if variant == 1 {
		chosen, counted = way[1:], "the last one counted but {id} itself not"
	}
	s := selection{
		plan:   plan{start: start.ID, variant: variant},
		chosen: chosen,
		words:  []string{"{id}", start.ID, "{counted}", fill(counted, []string{"{id}", start.ID})},
		templates: []string{
			"Begin at {id}, go to the task it waits for, from there to the task which that one waits for, and so on, until you come to one that waits for nothing. {Ask} the tasks on this way, {counted}.",
			"Task {id} waits for another, which may be waiting for yet another, and so on. {Ask} the whole chain down to the task that waits for nothing, {counted}.",
			"What does {id} wait for, what does that wait for in its turn, and so on back to a task that waits for nothing? {Ask} the tasks of this chain, {counted}.",
			"Trace the waits_for of {id} from task to task to the very end. {Ask} the tasks you meet, {counted}.",
		},
	}
	return s, len(way) >= 3
}

// dependents selects all tasks that wait for a given task, directly or not.
func dependents(t *table) (selection, bool) {
	start := t.records[t.IntN(len(t.records))]
	direct := 0
	waiting := t.matching(cond{field: "waits", op: "is", value: "yes"})
	s := selection{
		plan: plan{start: start.ID},
		chosen: filter(t.records, func(r Record) bool {
			if r.WaitsFor == start.ID {
				direct++
			}
			for _, on := range t.follow(r)[1:] {
				if on.ID == start.ID {
					return true
				}
			}
			return false
		}),
		words: []string{"{id}", start.ID},
		templates: []string{
			"{Ask} all tasks that wait for {id}, whether directly or by way of other tasks; {id} itself is not one of them.",
			"If {id} is late, every task that waits for it is late, and so is every task that waits for a late task. {Ask} all these late tasks, without {id} itself.",
			"Suppose {id} is never finished. {Ask} the other tasks that can then never go ahead, because they wait for {id} or for a task that is held up in this way.",
			"Some tasks need {id} to be finished first, others need one of those, and so forth. {Ask} all tasks that hang on {id} like this, at any distance, leaving {id} out.",
		},
	}
	return s, start.State != "done" && direct > 0 && direct < len(s.chosen) && len(s.chosen) < len(waiting)
}
