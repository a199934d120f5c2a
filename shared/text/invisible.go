package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"agentsocial/shared/text/sequences"
)

// InvisibleMost bounds the characters of a text that do not show, of all kinds together.
// Writing needs a few of them: the name 葛󠄀城市 has one. Many could carry hidden words to
// readers of bytes. Ten in 4000 characters carry fewer bits than 26 base64 digits.
//
// White space, letters that look alike, and choices such as between two emoji can still
// hide information. Refusing these would refuse plain writing.
const InvisibleMost = 10

// A visibility says what people see of a character.
type visibility int

const (
	shows     visibility = iota
	unseen               // allowed [InvisibleMost] times
	forbidden            // no writing needs it
)

// invisibles judges the characters of a text from its beginning on.
type invisibles struct {
	s        string
	begin    int  // where the last sequence may begin
	looked   bool // whether a sequence that starts at begin was looked for
	end      int  // end of the last sequence; the characters before end show
	selected bool // whether an emoji's presentation was selected
}

// forbiddenTable lists characters that no writing needs: Khmer vowels that Unicode
// discourages, deprecated and unassigned format characters, annotations, format
// characters of shorthand and music, some noncharacters, and private use. The method see
// judges tags, variation selectors and the other noncharacters itself.
var forbiddenTable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, {Lo: 0x2065, Hi: 0x2065, Stride: 1}, {Lo: 0x206a, Hi: 0x206f, Stride: 1},
		{Lo: 0xe000, Hi: 0xf8ff, Stride: 1}, {Lo: 0xfdd0, Hi: 0xfdef, Stride: 1}, {Lo: 0xfff0, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, {Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, {Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},
		{Lo: 0xf0000, Hi: 0x10ffff, Stride: 1},
	},
}

// see judges the character at an index.
func (v *invisibles) see(r rune, at int) visibility {
	switch {
	case r < 0xad:
		return shows
	case r == '\u200c', r == '\u200d':
		return v.joiner(r, at)
	case r&^0x7f == 0xe0000:
		return v.tag(at)
	case unicode.Is(unicode.Variation_Selector, r):
		return v.selector(r, at)
	case r == 0x2800:
		return v.emptyCell(at)
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x180e, r >= 0x200b && r <= 0x200f,
		r >= 0x2060 && r <= 0x2064, r == 0x3164, r == 0xfeff, r == 0xffa0, r == 0xfffc, r == 0x1d159:
		return unseen
	case r > 0x3164 && r < 0xd800: // ideographs, Hangul syllables: all show
	case r&0xfffe == 0xfffe, unicode.Is(forbiddenTable, r):
		return forbidden
	case sequences.Tone(r):
		return shows
	}
	if !strings.HasSuffix(v.s[:at], "\u200d") {
		v.begin, v.looked = at, false
	}
	return shows
}

// joiner judges U+200C and U+200D: they show within an emoji, and where they
// change how letters are joined.
func (v *invisibles) joiner(r rune, at int) visibility {
	if r == '\u200d' && !v.looked {
		v.looked = true
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(v.s[v.begin:], -1)
		if _, ok := sequences.Emoji(cluster); ok {
			v.end = v.begin + len(cluster)
		}
	}
	if at < v.end || sequences.JoinerShows(r, v.s[:at], v.s[at+utf8.RuneLen(r):]) {
		return shows
	}
	return unseen
}

// tag judges a tag character: it shows in the flags of England, Scotland and
// Wales, the only emoji that have tags.
func (v *invisibles) tag(at int) visibility {
	if !v.looked {
		v.looked = true
		for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
			if flag := flagOf(region); strings.HasPrefix(v.s[v.begin:], flag) {
				v.end = v.begin + len(flag)
			}
		}
	}
	if at < v.end {
		return shows
	}
	return forbidden
}

// flagOf returns a black flag with a region's code as tags, and the end of tags.
func flagOf(region string) string {
	return "\U0001f3f4" + strings.Map(func(r rune) rune { return r + 0xe0000 }, region) + "\U000e007f"
}

// selector judges a variation selector. Only a selector that turns a sign into an emoji
// shows. Other forms look the same in many fonts.
func (v *invisibles) selector(r rune, at int) visibility {
	base, _ := utf8.DecodeLastRuneInString(v.s[:at])
	if !sequences.Varies(base, r) {
		return forbidden
	}
	v.selected = v.selected || r == sequences.Color
	if r != sequences.Color || sequences.Colored(base) || base < utf8.RuneSelf && !isKeycap(v.s[at+len("\ufe0f"):]) {
		return unseen
	}
	return shows
}

func isKeycap(rest string) bool { return strings.HasPrefix(rest, "\u20e3") }

// emptyCell judges the empty Braille cell. It shows beside any Braille cell.
func (v *invisibles) emptyCell(at int) visibility {
	before, _ := utf8.DecodeLastRuneInString(v.s[:at])
	after, _ := utf8.DecodeRuneInString(v.s[at+len("\u2800"):])
	if isBraille(before) || isBraille(after) {
		return shows
	}
	return unseen
}

func isBraille(r rune) bool { return r >= 0x2800 && r <= 0x28ff }

// unsteady counts how often a text changes between a sign and its emoji form, which many
// fonts show alike.
func unsteady(s string) (n int) {
	colored := map[rune]bool{}
	for at, r := range s {
		rest := s[at+utf8.RuneLen(r):]
		bare, color := strings.CutPrefix(rest, string(sequences.Color))
		if r < utf8.RuneSelf && !isKeycap(bare) {
			continue
		}
		tone, _ := utf8.DecodeRuneInString(rest)
		if sequences.Tone(tone) || sequences.Colored(r) || !sequences.Varies(r, sequences.Color) {
			continue
		}
		if before, seen := colored[r]; seen && before != color {
			n++
		}
		colored[r] = color
	}
	return n
}
