// Package puzzle makes small reading puzzles for registration and signup: a table of
// agents' tasks and a question in plain words.
//
// A puzzle is a pure function of a server key and a nonce. Nothing is stored: the checker
// makes the puzzle again. A change of a word list, a template or the order of drawing
// changes all puzzles that are open at that moment.
package puzzle

import (
	"crypto/hmac"
	"crypto/sha256"
	"math/rand/v2"
	"strings"
)

// Puzzle is a question about a table, answered with one integer.
type Puzzle struct {
	Question string   `json:"question" doc:"A question about the records, in plain words. Its answer is one integer."`
	Records  []Record `json:"records" nullable:"false" minItems:"8" maxItems:"14" doc:"The table the question is about, 8 to 14 records in no particular order."`

	// Answer never leaves the server.
	Answer int64 `json:"-"`
}

// New makes the puzzle of key and nonce. Equal inputs make equal puzzles.
func New(key, nonce []byte) Puzzle {
	rng := stream(key, "puzzle:", nonce)
	p, _ := kinds[rng.IntN(len(kinds))].pose(rng)
	return p
}

// stream is the deterministic source of a nonce's random numbers. purpose separates a
// puzzle and a signup of the same nonce.
func stream(key []byte, purpose string, nonce []byte) *rand.Rand {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(purpose))
	mac.Write(nonce)
	return rand.New(rand.NewChaCha8([32]byte(mac.Sum(nil))))
}

// A kind is a kind of question with an integer answer. try makes one attempt on
// a fresh table and reports whether the question is good.
type kind struct {
	name string
	try  func(*table) (draft, bool)
}

var kinds = []kind{
	{"where", sumOf(where)},
	{"exception", sumOf(exception)},
	{"both", sumOf(both)},
	{"busiest", sumOf(busiest)},
	{"handover", sumOf(handover)},
	{"joined", sumOf(joined)},
	{"alone", sumOf(alone)},
	{"path", sumOf(path)},
	{"dependents", sumOf(dependents)},
	{"chain", chain},
	{"sequence", sequence},
	{"second", second},
	{"distinct", distinct},
	{"difference", difference},
	{"conditional", conditional},
	{"weighted", weighted},
	{"units", units},
}

// A draft is a question before it is worded.
type draft struct {
	plan      plan
	answer    int64
	templates []string // ways to ask; placeholders stand in braces
	words     []string // placeholder, text, placeholder, text …
}

// A plan records what was drawn, for the second solver in the tests.
type plan struct {
	template int
	a, b, c  cond
	start    string // id of a record
	x, y     string // two agents, or two days
	variant  int
	m, k     int // weights; in distinct, m is 1 if the most hours are asked for
}

func (k kind) pose(rng *rand.Rand) (Puzzle, plan) {
	for {
		t := newTable(rng)
		d, ok := k.try(t)
		if !ok || t.shows(d.answer) {
			continue
		}
		d.plan.template = t.IntN(len(d.templates))
		body := fill(d.templates[d.plan.template], d.words)
		return Puzzle{Question: t.frame(body, integerClosings), Records: t.records, Answer: d.answer}, d.plan
	}
}

// fill replaces placeholders. {Ask} is {ask} at the beginning of a sentence.
func fill(template string, words []string) string {
	return strings.NewReplacer(words...).Replace(template)
}

// frame puts the question between an opening and a closing, sometimes with an irrelevant
// remark.
func (t *table) frame(body string, closings []string) string {
	parts := []string{t.one(openings)}
	if t.IntN(2) == 0 {
		parts = append(parts, t.one(asides))
	}
	return strings.Join(append(parts, body, t.one(closings)), " ")
}

var openings = []string{
	"The records are one week's tasks of a few agents, each record one task.",
	"Each record is a task that an agent has in this week.",
	"Here is the week of a small team of agents, one task per record.",
	"This is a work list for one week, Monday to Friday; every record stands for one task.",
	"A group of agents shares this list of tasks for one week; a record is a task.",
}

var asides = []string{
	"The coffee machine was out of order on Tuesday, which changed nothing.",
	"Somebody brought a dog along, and it slept through most of the week.",
	"The list was printed on paper first and typed in later.",
	"There was a party on Friday evening, outside working hours.",
	"The office plants were watered on Monday by a neighbour.",
	"Nobody remembers who drew up the list.",
	"The order in which the records stand means nothing.",
	"Two of the windows were being cleaned meanwhile.",
}

var integerClosings = []string{
	"Answer with one integer.",
	"The answer is a single whole number.",
	"Reply with the resulting integer only.",
	"What integer do you get?",
}
