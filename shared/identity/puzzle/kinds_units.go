package puzzle

// minuteNotes say that a record's hours are in minutes.
var minuteNotes = []string{
	"careful, the hours field holds minutes here",
	"this figure is in minutes, not in hours",
	"the time was typed in as minutes by mistake",
	"time given in minutes",
}

// units asks for a sum in which one record is in minutes, as its note says.
func units(t *table) (draft, bool) {
	a := t.cond("waits")
	group := t.matching(a)
	if len(group) < 3 || len(group) > len(t.records)-2 {
		return draft{}, false
	}
	odd := t.IntN(len(t.records))
	r := &t.records[odd]
	if !a.holds(*r) || r.WaitsFor != "" {
		return draft{}, false
	}
	others := sum(group) - int64(r.Hours)

	variant, unit := t.IntN(2), "hours"
	r.Note = t.one(minuteNotes)
	r.Hours = 60 * (3 + t.IntN(15))
	answer := others + int64(r.Hours)/60
	if variant == 1 {
		unit = "minutes"
		r.Hours += 10 * t.IntN(6)
		answer = 60*others + int64(r.Hours)
	}
	return draft{
		plan:   plan{a: a, variant: variant},
		answer: answer,
		words:  []string{"{a}", t.say(a), "{unit}", unit},
		templates: []string{
			"How many {unit} do the tasks that {a} take together? The notes matter here.",
			"Give the total time of the tasks that {a}, in {unit}. Before you add, read the notes: a figure may not be what its field says.",
			"Add up the time booked for the tasks that {a}, minding what the notes say about units, and give the result in {unit}.",
			"Someone was careless about units, as a note admits. Put that right; then say how many {unit} the tasks that {a} come to in sum.",
		},
	}, true
}
