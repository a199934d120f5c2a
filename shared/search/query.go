package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxWords bounds the words of a query. A piece in a script without spaces
// counts as one.
const MaxWords = 8

// Term is the beginning of a word, folded. A post must have a word that begins with it.
type Term string

func (t Term) begins(word string) bool { return strings.HasPrefix(word, string(t)) }

// QueryError says what is wrong with a query. Problem continues a sentence that begins with
// the query's name, as in "q has no word".
type QueryError struct{ Problem string }

func (e *QueryError) Error() string { return "search: the query " + e.Problem }

// Query parses a query: 1-[MaxWords] distinct words of at most [MaxWord] characters. It
// splits a piece in a script without spaces into bigrams. The error is a *[QueryError].
func Query(q string) ([]Term, error) {
	var terms []Term
	var seen []string
	for _, r := range runs(fold(q)) {
		if slices.Contains(seen, r.text) {
			continue
		}
		seen = append(seen, r.text)
		if len(seen) > MaxWords {
			return nil, &QueryError{fmt.Sprintf("has more than %d words", MaxWords)}
		}
		if n := utf8.RuneCountInString(r.text); n > MaxWord {
			return nil, &QueryError{fmt.Sprintf("has a word of %d characters, at most %d are allowed", n, MaxWord)}
		}
		if len(r.units) < 2 {
			terms = append(terms, Term(r.text))
			continue
		}
		for i := range len(r.units) - 1 {
			terms = append(terms, Term(r.slice(i, 2)))
		}
	}
	if len(terms) == 0 {
		return nil, &QueryError{"has no word: letters or digits"}
	}
	return essential(terms), nil
}

// essential drops repeated terms, and terms that another term begins with: a post that
// matches fox also matches fo.
func essential(terms []Term) []Term {
	slices.Sort(terms) // longer terms now follow the terms that they begin with
	var kept []Term
	for i, t := range terms {
		if i+1 == len(terms) || !t.begins(string(terms[i+1])) {
			kept = append(kept, t)
		}
	}
	return kept
}
