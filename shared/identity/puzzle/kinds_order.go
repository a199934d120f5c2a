package puzzle

import (
	"cmp"
	"slices"
)

// chain asks for the number of tasks in a chain, times the hours of the last task.
func chain(t *table) (draft, bool) {
	start := t.records[t.IntN(len(t.records))]
	way := t.follow(start)
	last := way[len(way)-1]
	return draft{
		plan:   plan{start: start.ID},
		answer: int64(len(way)) * int64(last.Hours),
		words:  []string{"{id}", start.ID},
		templates: []string{
			"Start from {id} and keep going to the task that the present one waits for, until one waits for nothing. Multiply the number of tasks you have visited, {id} and the last one included, by the hours of the last one.",
			"Follow waits_for from {id} to the task at the very end. How many tasks does this chain have, both its ends counted? Multiply that number by the hours of the task at the end, the one that waits for nothing.",
			"Follow waits_for from {id} to the last task, which waits for nothing, and take that last task's hours once for each task of the chain, {id} and the last one included. What is the sum?",
			"Going back from {id} along what each task waits for, you arrive at a task that waits for nothing. Suppose each task on the way, {id} and that final one included, had as many hours as the final one. How many hours would they have together?",
		},
	}, len(way) >= 3
}

// sequence sorts tasks by day and hours. It asks for the number in the id of one end's
// task, plus the hours of the other end's task.
func sequence(t *table) (draft, bool) {
	a := t.cond()
	row := t.matching(a)
	slices.SortFunc(row, func(p, q Record) int {
		return cmp.Or(
			cmp.Compare(slices.Index(days, p.Day), slices.Index(days, q.Day)),
			cmp.Compare(p.Hours, q.Hours),
		)
	})
	if len(row) < 3 {
		return draft{}, false
	}
	variant, one, other := t.IntN(2), "last", "first"
	id, hours := row[len(row)-1], row[0]
	if variant == 1 {
		one, other, id, hours = other, one, hours, id
	}
	return draft{
		plan:   plan{a: a, variant: variant},
		answer: id.number() + int64(hours.Hours),
		words:  []string{"{a}", t.say(a), "{one}", one, "{other}", other},
		templates: []string{
			"Put the tasks that {a} in order: earlier days first, and on the same day the one with fewer hours first. Add the number in the id of the {one} task to the hours of the {other}.",
			"Suppose somebody looks through the tasks that {a} one after another, from Monday to Friday and within a day from the fewest hours to the most. What do you get when you take the number in the id of the {one} task looked at and add the hours of the {other}?",
			"Line up the tasks that {a} by day, Monday at the front; among tasks of one day, the fewer hours, the further to the front. Read off the digits in the id of the {one} task in the line as a number, and add to it the hours of the {other} task in the line.",
			"Sort the tasks that {a} by day through the week, those of the same day by rising hours. Add two numbers: the one in the id of whichever stands {one}, and the hours of whichever stands {other}.",
		},
	}, true
}

// second asks for the second-largest hours of one group plus the smallest of another.
func second(t *table) (draft, bool) {
	a, b := t.cond(), t.cond()
	as, bs := t.matching(a), t.matching(b)
	if a == b || len(as) < 3 || len(bs) < 2 {
		return draft{}, false
	}
	byHours := func(p, q Record) int { return cmp.Compare(p.Hours, q.Hours) }
	slices.SortFunc(as, byHours)
	shortest := slices.MinFunc(bs, byHours)
	return draft{
		plan:   plan{a: a, b: b},
		answer: int64(as[len(as)-2].Hours) + int64(shortest.Hours),
		words:  []string{"{a}", t.say(a), "{b}", t.say(b)},
		templates: []string{
			"Of the tasks that {a}, take the second-largest number of hours; of the tasks that {b}, take the smallest. What is the sum of the two?",
			"Among the tasks that {a} only one has more hours than a certain task. Add that certain task's hours to the smallest number of hours found among the tasks that {b}.",
			"The runner-up by hours among the tasks that {a} and the one with the fewest hours among the tasks that {b}: how many hours is that together?",
			"Rank the tasks that {a} from the most hours to the fewest and note the hours in second place. Then add the hours of whichever of the tasks that {b} has the fewest.",
		},
	}, true
}
