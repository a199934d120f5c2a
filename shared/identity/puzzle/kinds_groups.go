package puzzle

import (
	"cmp"
	"slices"
)

// distinct asks for the number of different agents or days, times the hours of one task.
func distinct(t *table) (draft, bool) {
	variant, counted, field := t.IntN(2), "agents", "agent"
	if variant == 1 {
		counted, field = "days of the week", "day"
	}
	a := t.cond(field)
	b := t.cond()
	end, extreme := t.IntN(2), "fewest"
	bs := t.matching(b)
	if a == b || len(bs) < 2 {
		return draft{}, false
	}
	byHours := func(p, q Record) int { return cmp.Compare(p.Hours, q.Hours) }
	task := slices.MinFunc(bs, byHours)
	if end == 1 {
		extreme, task = "most", slices.MaxFunc(bs, byHours)
	}
	seen := map[string]bool{}
	for _, r := range t.matching(a) {
		seen[r.field(field)] = true
	}
	return draft{
		plan:   plan{a: a, b: b, variant: variant, m: end},
		answer: int64(len(seen)) * int64(task.Hours),
		words:  []string{"{a}", t.say(a), "{b}", t.say(b), "{counted}", counted, "{extreme}", extreme},
		templates: []string{
			"How many different {counted} occur among the tasks that {a}? Multiply this by the hours of that one of the tasks that {b} which has the {extreme} hours.",
			"List the {counted} of the tasks that {a}, each only once, and count them. Then look among the tasks that {b} for the one with the {extreme} hours. Multiply the count by those hours.",
			"Look at the tasks that {b} and note the hours of the one with the {extreme} hours. Multiply it by how many different {counted} there are among the tasks that {a}.",
			"Multiply two numbers. The first is the number of distinct {counted} in the records of the tasks that {a}, repetitions not counted. The second is the {extreme} hours that any one of the tasks that {b} has.",
		},
	}, len(seen) >= 2 && len(seen) < len(t.matching(a))
}

// difference asks how many more hours one group has than another, among the tasks that
// fulfil a third condition.
func difference(t *table) (draft, bool) {
	a, b, ok := t.pair("agent", "state", "day", "verb", "object")
	c := t.cond(a.field)
	more, less := t.matching(a, c), t.matching(b, c)
	if !ok || len(more) == 0 || len(less) == 0 || len(more)+len(less) < 3 || sum(more) <= sum(less) {
		return draft{}, false
	}
	return draft{
		plan:   plan{a: a, b: b, c: c},
		answer: sum(more) - sum(less),
		words:  []string{"{a}", t.say(a), "{b}", t.say(b), "{c}", t.say(c)},
		templates: []string{
			"Look only at the tasks that {c}. Among these, how many more hours do the tasks that {a} have, all together, than the tasks that {b}?",
			"Forget every task except those that {c}. From the total hours of the remaining ones that {a}, subtract the total hours of the remaining ones that {b}.",
			"Among the tasks that {c} there are some that {a} and some that {b}. By how many hours is the total of the former larger than the total of the latter?",
			"Only tasks that {c} matter here. Of these, the ones that {b} have fewer hours in sum than the ones that {a}. How many fewer?",
		},
	}, len(more) < len(t.matching(a)) || len(less) < len(t.matching(b))
}

// conditional asks for one of two sums, chosen by a comparison.
func conditional(t *table) (draft, bool) {
	x, y, ok := t.pair("day", "agent")
	a, b := t.cond("waits"), t.cond("waits") // not on waits: guessers try a column with only two values first
	first, then, otherwise := sum(t.matching(x)), t.matching(a), t.matching(b)
	if !ok || a == b || first == sum(t.matching(y)) || sum(then) == sum(otherwise) ||
		len(then) < 2 || len(otherwise) < 2 || len(then) > len(t.records)-2 || len(otherwise) > len(t.records)-2 {
		return draft{}, false
	}
	answer := sum(then)
	if first < sum(t.matching(y)) {
		answer = sum(otherwise)
	}
	return draft{
		plan:   plan{a: a, b: b, x: x.value, y: y.value},
		answer: answer,
		words:  []string{"{a}", t.say(a), "{b}", t.say(b), "{x}", t.say(x), "{y}", t.say(y)},
		templates: []string{
			"If the tasks that {x} have more hours in total than the tasks that {y}, add up the hours of the tasks that {a}; if not, add up those of the tasks that {b}.",
			"Compare the total hours of the tasks that {x} with those of the tasks that {y}. Is the first total the larger one? Then the answer is the total hours of the tasks that {a}. Otherwise it is the total hours of the tasks that {b}.",
			"Work out the total hours of the tasks that {b}. That is your answer, unless the tasks that {x} have more hours in sum than the tasks that {y}: in that case the answer is the total hours of the tasks that {a} instead.",
			"You want the hours, in sum, of one of two groups. It is the tasks that {a} if the tasks that {y} have fewer hours in all than the tasks that {x}; if the comparison comes out the other way, it is the tasks that {b}.",
		},
	}, true
}

// weighted asks for a sum of points: an hour earns more in one group than in another.
func weighted(t *table) (draft, bool) {
	a, b, ok := t.pair("agent", "state", "day", "verb", "object")
	m, k := 2+t.IntN(4), 2+t.IntN(4)
	if !ok || m == k || len(t.matching(a))+len(t.matching(b)) < 3 {
		return draft{}, false
	}
	return draft{
		plan:   plan{a: a, b: b, m: m, k: k},
		answer: int64(m)*sum(t.matching(a)) + int64(k)*sum(t.matching(b)),
		words:  []string{"{a}", t.say(a), "{b}", t.say(b), "{m}", spelled[m], "{k}", spelled[k]},
		templates: []string{
			"Each hour of the tasks that {a} earns {m} points, each hour of the tasks that {b} earns {k}, and all other tasks earn nothing. How many points is that in all?",
			"Multiply the total hours of the tasks that {a} by {m}, and the total hours of the tasks that {b} by {k}. What is the sum of the two results?",
			"One hour costs {m} coins in the tasks that {a} and {k} coins in the tasks that {b}; the remaining tasks are free. What does the whole list cost, in coins?",
			"Add up hours, but let those of the tasks that {a} count {m} times and those of the tasks that {b} count {k} times; the rest do not count at all.",
		},
	}, true
}

var spelled = map[int]string{2: "two", 3: "three", 4: "four", 5: "five"}
