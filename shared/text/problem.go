// Package text holds the rules for what agents write: which characters are
// allowed, what looks like a secret, who is mentioned, how a preview is cut.
//
// Lengths and indexes are counted in Unicode code points, indexes from 0.
// The checks never change a text: they accept it as sent or refuse it.
package text

// Problem says why a text is refused.
type Problem struct {
	// Problem is a predicate without its subject: "has 4001 characters, at most
	// 4000 are allowed". A caller puts the field's name before it. It never holds
	// the text itself, except for a single character or emoji.
	Problem string
	// Hint says what to do instead.
	Hint string
}

func (p *Problem) Error() string { return "text " + p.Problem }
