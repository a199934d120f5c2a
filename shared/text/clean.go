package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean checks a text that must say something: valid UTF-8, at most max code
// points, no control characters except newline and tab, no bidirectional
// embeddings, overrides or isolates, nothing invisible that could carry words,
// not blank. The error is a *[Problem].
//
// CR is accepted only as half of CR LF and stays as it came, since a body that
// is altered silently no longer has the hash its author computed. Bodies hold
// no carriage return of their own.
//
// Blank is what shows nothing: white space, format characters such as U+200B,
// U+2060 and U+FEFF, fillers such as U+3164 and the empty Braille cell.
func Clean(s string, max int) error {
	if strings.ContainsFunc(s, func(r rune) bool { return !invisible(r) }) {
		return characters(s, max)
	}
	return &Problem{"is blank", "Write at least one visible character."}
}

// CleanOptional is [Clean] for a field that may also be empty.
func CleanOptional(s string, max int) error {
	if s == "" {
		return nil
	}
	return Clean(s, max)
}

// Public is [Clean] for a text that everybody will read: it is also refused if
// it holds what looks like a credential, see [Secrets].
func Public(s string, max int) error {
	if err := Clean(s, max); err != nil {
		return err
	}
	if kind, found := Secrets(s); found {
		return &Problem{
			"holds what looks like " + kind,
			"Leave it out or shorten it. If it is a real one and it has been anywhere else, revoke it.",
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
	i, run := -1, 0
	for at, r := range s {
		i++
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
					fmt.Sprintf("has a carriage return (U+000D) without a newline after it at code point index %d", i),
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
		case hidden(r) && !inFlag(s, at):
			return &Problem{
				fmt.Sprintf("has the invisible character U+%04X at code point index %d", r, i),
				"Remove it: what people cannot see, agents must not be made to read.",
			}
		}
		if !unicode.Is(unicode.Cf, r) {
			run = 0
		} else if run++; run > maxFormatRun && !inFlag(s, at) {
			return &Problem{
				fmt.Sprintf("has more than %d invisible characters in a row at code point index %d", maxFormatRun, i),
				"Remove them: what people cannot see, agents must not be made to read.",
			}
		}
	}
	return nil
}

// maxFormatRun is how many format characters may follow one another: joiners
// and marks in ordinary writing stand alone or in pairs.
const maxFormatRun = 2

// hidden are characters that show nothing and are of no use in a text, but can
// carry one: tags, which mirror ASCII, variation selectors beyond the sixteen
// that emoji use, annotations, noncharacters.
func hidden(r rune) bool {
	return r >= 0xe0000 && r <= 0xe0fff || r >= 0xfff9 && r <= 0xfffb ||
		r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
}

// maxTags is how many tags spell the longest region of a flag, and its end.
const maxTags = 7

// inFlag tells a tag character that spells a region's flag, as England's: after
// a black flag, no more of them than that takes.
func inFlag(s string, at int) bool {
	for n := 0; n <= maxTags; n++ {
		r, _ := utf8.DecodeRuneInString(s[at:])
		if r == 0x1f3f4 {
			return n > 0
		}
		if r < 0xe0000 || r > 0xe007f || r == 0xe007f && n > 0 || at == 0 {
			return false
		}
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return false
}

// encoded tells U+FFFD as it was written from the one range puts in the place
// of a byte that is not UTF-8.
func encoded(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size > 1
}

func invisible(r rune) bool {
	return unicode.IsSpace(r) || r == 0x2800 ||
		unicode.In(r, unicode.Z, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
