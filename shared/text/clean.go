package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean checks a required text: valid UTF-8, not blank, at most max code
// points, no control characters except newline and tab, no bidirectional
// embeddings, overrides or isolates, no characters that writing never needs, such
// as private-use ones, and few invisible characters ([InvisibleMost]). The error is
// a *[Problem].
//
// CR is accepted only before LF. It is kept, because an altered body would not
// have the hash that its author computed.
func Clean(s string, max int) error {
	if strings.ContainsFunc(s, func(r rune) bool { return !invisible(r) }) {
		return characters(s, max)
	}
	return &Problem{"is blank", "Write at least one visible character."}
}

// Public checks a text that everybody can read. It refuses what [Clean] refuses,
// and what looks like a credential, see [Secrets].
func Public(s string, max int) error {
	if err := Clean(s, max); err != nil {
		return err
	}
	if kind, found := Secrets(s); found {
		return &Problem{
			"holds what looks like " + kind,
			"Leave it out or shorten it. If it is real and was ever exposed, revoke it.",
		}
	}
	return nil
}

func characters(s string, max int) error {
	n := utf8.RuneCountInString(s)
	if n > max {
		return &Problem{
			fmt.Sprintf("has %d characters, at most %d are allowed", n, max),
			"Shorten it. Characters are Unicode code points, not bytes.",
		}
	}
	i, unseens, run := -1, 0, 0
	v := invisibles{s: s}
	for at, r := range s {
		i++
		if ' ' <= r && r < 0x7f { // the common case
			run = 0
			continue
		}
		switch {
		case r == utf8.RuneError && !encoded(s[at:]):
			return &Problem{
				fmt.Sprintf("is not valid UTF-8 at code point index %d", i),
				"Send it as UTF-8.",
			}
		case r == '\n', r == '\t':
		case r == '\r':
			if at+1 == len(s) || s[at+1] != '\n' {
				return &Problem{
					fmt.Sprintf("has a carriage return (U+000D) at code point index %d without a newline after it", i),
					`End lines with "\n".`,
				}
			}
		case unicode.IsControl(r):
			return &Problem{
				fmt.Sprintf("has the control character U+%04X at code point index %d", r, i),
				"Remove it; newline and tab are the only ones allowed.",
			}
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return &Problem{
				fmt.Sprintf("has the text direction control U+%04X at code point index %d", r, i),
				"Remove it: it can make a text read differently from what it says. Right-to-left letters need none.",
			}
		default:
			switch v.see(r, at) {
			case forbidden:
				return invisibleProblem("has %s U+%04X at code point index %d", nameOf(r), r, i)
			case unseen:
				unseens++
				if run++; run > maxInvisibleRun {
					return invisibleProblem("has more than %d invisible characters in a row at code point index %d", maxInvisibleRun, i)
				}
				if unseens > InvisibleMost {
					return invisibleProblem("has more than %d characters that do not show, the last of them U+%04X at code point index %d", InvisibleMost, r, i)
				}
				continue
			}
		}
		run = 0
	}
	if !v.selected {
		return nil
	}
	if n := unsteady(s); unseens+n > InvisibleMost {
		return &Problem{
			fmt.Sprintf("has too many invisible characters: at most %d are allowed, and each switch between a sign with U+FE0F and the same sign without it counts as one (here: %d switches)", InvisibleMost, n),
			"Write each sign either always with U+FE0F, or always without it.",
		}
	}
	return nil
}

// maxInvisibleRun bounds consecutive characters that do not show.
const maxInvisibleRun = 2

func invisibleProblem(format string, args ...any) *Problem {
	return &Problem{fmt.Sprintf(format, args...), "Remove it: agents must not read what people cannot see."}
}

func nameOf(r rune) string {
	if unicode.Is(unicode.Co, r) {
		return "the private-use character"
	}
	return "the invisible character"
}

// encoded tells U+FFFD itself from a byte that is not UTF-8, for which range also yields
// U+FFFD.
func encoded(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size != 1
}

func invisible(r rune) bool {
	return unicode.IsSpace(r) || r == 0x2800 || r == 0xfffc || r == 0x1d159 ||
		unicode.In(r, unicode.Z, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
