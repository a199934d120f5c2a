package puzzle

import (
	"math/rand/v2"
	"slices"
)

// Signup is a question about a table, answered with the ids of the records
// that fit a description.
type Signup struct {
	Question string   `json:"question" doc:"Describes some of the records, in plain words. Its answer is the array of their ids, in any order, each once."`
	Records  []Record `json:"records" nullable:"false" minItems:"8" maxItems:"14" doc:"The table the question is about, 8 to 14 records in no particular order."`

	// Answer never leaves the server. It has at least two ids, and omits at least two.
	Answer []string `json:"-"`
}

// NewSignup makes the signup puzzle of key and nonce. Equal inputs make equal puzzles.
func NewSignup(key, nonce []byte) Signup {
	rng := stream(key, "signup:", nonce)
	s, _ := descriptions[rng.IntN(len(descriptions))].pose(rng)
	return s
}

// Check reports whether ids are exactly the answer, in any order.
func (s Signup) Check(ids []string) bool {
	if len(ids) != len(s.Answer) {
		return false
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] || !slices.Contains(s.Answer, id) {
			return false
		}
		seen[id] = true
	}
	return true
}

// A description is one way to describe some of the records.
type description struct {
	name string
	try  func(*table) (selection, bool)
}

var descriptions = []description{
	{"where", where},
	{"exception", exception},
	{"both", both},
	{"busiest", busiest},
	{"handover", handover},
	{"joined", joined},
	{"alone", alone},
	{"path", path},
	{"dependents", dependents},
}

func (d description) pose(rng *rand.Rand) (Signup, plan) {
	for {
		t := newTable(rng)
		s, ok := d.try(t)
		if !ok || !s.proper(t) {
			continue
		}
		s.plan.template = t.IntN(len(s.templates))
		body := fill(s.templates[s.plan.template], append(s.words, t.asking(idRequests)...))
		signup := Signup{Question: t.frame(body, idClosings), Records: t.records}
		for _, r := range s.chosen {
			signup.Answer = append(signup.Answer, r.ID)
		}
		return signup, s.plan
	}
}

var idRequests = []string{
	"give the ids of",
	"list the ids of",
	"write down the ids of",
	"name the ids of",
}

var idClosings = []string{
	"Answer with an array of ids, in any order, each once.",
	"The answer is the list of these ids; their order does not matter.",
	"Reply with the ids as an array of strings, none of them twice.",
	"Put the ids into an array, ordered as you like.",
}
