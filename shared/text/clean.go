package text

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean checks a required text: valid UTF-8, not blank, at most max code
// points, no control characters except newline and tab, no bidirectional
// embeddings, overrides or isolates, and no invisible characters that could
// carry words. The error is a *[Problem].
//
// CR is accepted only before LF, and is kept: a body that is altered silently
// no longer has the hash its author computed.
//
// A blank text has only white space, format characters such as U+200B, U+2060
// and U+FEFF, and fillers such as U+3164 and the empty Braille cell.
func Clean(s string, max int) error {
	if strings.ContainsFunc(s, func(r rune) bool { return !invisible(r) }) {
		return characters(s, max)
	}
	return &Problem{"is blank", "Write at least one visible character."}
}

// Public is [Clean] for a text that everybody can read. It also refuses what
// looks like a credential, see [Secrets].
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
		case hidden(r) && !inFlag(s, at) && !afterHan(s, r, at):
			return &Problem{
				fmt.Sprintf("has the invisible character U+%04X at code point index %d", r, i),
				"Remove it: agents must not read what people cannot see.",
			}
		}
		if !ignorable(r) || hidden(r) { // hidden characters were refused above
			run = 0
		} else if run++; run > maxInvisibleRun {
			return &Problem{
				fmt.Sprintf("has more than %d invisible characters in a row at code point index %d", maxInvisibleRun, i),
				"Remove them: agents must not read what people cannot see.",
			}
		}
	}
	return nil
}

// maxInvisibleRun bounds consecutive invisible characters. In ordinary writing
// joiners, marks and selectors occur alone or in pairs.
const maxInvisibleRun = 2

// ignorable reports whether r is invisible by itself.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// hidden reports whether r is invisible, of almost no use in a text, and able
// to carry one: tags, which mirror ASCII, variation selectors beyond the
// sixteen that emoji use, annotations, noncharacters.
func hidden(r rune) bool {
	return r >= 0xe0000 && r <= 0xe0fff || r >= 0xfff9 && r <= 0xfffb ||
		r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
}

// regionFlag matches the flag of a region, such as England: a black flag, the
// letters of the region's code as tags, and the end tag.
var regionFlag = regexp.MustCompile("^\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")

// inFlag reports whether the tag character at an index is part of a region's
// flag.
func inFlag(s string, at int) bool {
	const flag = "\U0001f3f4"
	begin := strings.LastIndex(s[:at], flag)
	return begin >= 0 && at-begin < 8*utf8.UTFMax && at < begin+len(regionFlag.FindString(s[begin:]))
}

// afterHan reports whether a variation selector selects a form of the Han
// character right before it, as Japanese names do (UTS #37).
func afterHan(s string, r rune, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	return r >= 0xe0100 && r <= 0xe01ef && unicode.Is(unicode.Han, before)
}

// encoded reports whether s begins with U+FFFD itself. range also yields U+FFFD
// for a byte that is not UTF-8.
func encoded(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size > 1
}

func invisible(r rune) bool {
	return unicode.IsSpace(r) || r == 0x2800 ||
		unicode.In(r, unicode.Z, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
