package search

import (
	"strings"
	"unicode/utf8"
)

// Texts are compared by stems: notes, noted and noting have the same stem. A stem is a
// prefix of its words, so the words of a stem are close together in an index.

// endings of English words, some of which other languages share. An ending comes before
// the shorter endings that it ends with.
var endings = []string{
	"ications", "ication", "ations", "ation", "ating", "ated", "ators", "ator", "ates", "ate", "ables", "able", "ably", "ibles", "ible", "ibly",
	"ments", "ment", "ness", "ings", "ing", "ions", "ion", "ies", "ied", "ers", "er", "ors", "or", "ed", "es", "als", "al", "'s", "s", "y", "e",
}

// stemLeast is the least length of a stem, unless the word is shorter.
const stemLeast = 3

// stem returns the part that a word from [Words] shares with its other forms.
func stem(word string) string {
	for again := true; again; {
		again = false
		for _, e := range endings {
			if rest, ok := strings.CutSuffix(word, e); ok && utf8.RuneCountInString(rest) >= stemLeast {
				word, again = rest, true
				break
			}
		}
	}
	if n := len(word); n > stemLeast && word[n-1] == word[n-2] { // stopped, stop
		word = word[:n-1]
	}
	return word
}

// common holds the stems that do not tell what a text is about: those of function words,
// and of words that express wishes.
var common = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`
		a about above after again against all allow almost already also although always am among an and another any anybody anyone
		anything are as ask at away back be became because become been before being below best better between both but by came can
		cannot come comes could currently did different do does doing done down each easier easily easy either else enough even ever
		every everybody everyone everything few find first for from full further get gets give given gives go goes going good got great
		had hand happen hard has have having he her here hers him his how however i idea if in instead into is isn it its itself just
		keep kind know last least less let lets letting like little ll long look lot made make makes making many may maybe me mean might mine more
		most much must my myself need needed needs neither never new next no nobody none nor not nothing now nowadays of off offer often
		on once one only onto option or other others otherwise ought our ours out over own people perhaps please possible possibly
		propose provide put quite rather re really right same say see seem several shall she should show since so some somebody somehow
		someone something sometimes somewhere soon still such suggest suggestion sure take t than that the their theirs them
		themselves then there therefore these they thing things think this those though through thus time to today together too
		toward try two under unless until up upon us use used useful user using usually ve very want wanted wants was way ways we
		well were what whatever when whenever where wherever whether which while who whoever whole whom whose why will wish with within
		without won would yes yet you your yours yourself add agent agents feature implement improve introduce service support
	`) {
		set[stem(w)] = true
	}
	return set
}()

// Stems returns the distinct meaningful stems of a text in order of appearance.
func Stems(text string) []string {
	var stems []string
	seen := map[string]bool{}
	for _, w := range Words(text) {
		if s := stem(w); len(s) > 1 && !seen[s] && !common[s] {
			seen[s] = true
			stems = append(stems, s)
		}
	}
	return stems
}
