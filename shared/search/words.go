package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxWord is how many characters (code points) of a word count.
const MaxWord = 32

// Words returns the distinct words of a text in order of appearance, as the
// index stores them: folded, and cut at [MaxWord] characters. A word is a run
// of letters, their marks, and digits.
//
// Text in scripts without spaces between words gives bigrams: 東京都 gives 東京, 京都
// and 都. The single 都 is there so that each character begins a word. Korean gives bigrams,
// too, so that a search for 도서관 finds 국립도서관. In these scripts, a letter counts
// together with its marks.
func Words(text string) []string {
	var words []string
	seen := map[string]bool{}
	add := func(w string) {
		if w = cut(w); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	for _, r := range runs(fold(text)) {
		if !r.dense {
			add(r.text)
			continue
		}
		for i := range r.units {
			add(r.slice(i, 2))
		}
	}
	return words
}

// cut shortens a word to MaxWord characters.
func cut(word string) string {
	n := 0
	for i := range word {
		if n == MaxWord {
			return word[:i]
		}
		n++
	}
	return word
}

// run is a piece of folded text: a word, or in a script without spaces the text
// between two spaces or words of other scripts.
type run struct {
	text  string
	dense bool  // in a script without spaces
	units []int // where its letters begin, if it is dense
}

// slice returns up to n letters from the i'th.
func (r run) slice(i, n int) string {
	if i+n >= len(r.units) {
		return r.text[r.units[i]:]
	}
	return r.text[r.units[i]:r.units[i+n]]
}

// unspaced are the scripts without spaces between words, and Hangul.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	{R16: []unicode.Range16{{Lo: 0x3006, Hi: 0x3006, Stride: 1}, {Lo: 0x30fc, Hi: 0x30fc, Stride: 1}}}, // 〆 and ー, which belong to no script
}

// runs splits a folded text.
func runs(text string) []run {
	var found []run
	begin, units, dense := -1, []int(nil), false
	end := func(at int) {
		if begin >= 0 {
			found = append(found, run{text[begin:at], dense, units})
		}
		begin, units = -1, nil
	}
	for at, r := range text {
		if r < utf8.RuneSelf { // far quicker than the tables of Unicode
			switch {
			case asciiWord[r] == 0:
				end(at)
			case begin < 0:
				begin, dense = at, false
			case dense:
				end(at)
				begin, dense = at, false
			}
			continue
		}
		switch {
		case unicode.IsMark(r): // it belongs to the previous letter
		case !unicode.IsLetter(r) && !unicode.In(r, unicode.Nd, unicode.Nl) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
			end(at)
		default:
			isDense := unicode.In(r, unspaced...)
			if begin >= 0 && dense != isDense {
				end(at)
			}
			if begin < 0 {
				begin, dense = at, isDense
			}
			if dense {
				units = append(units, at-begin)
			}
		}
	}
	end(len(text))
	return found
}

// asciiWord maps the letters and digits of ASCII to their folded form, the rest of ASCII to
// 0, and all bytes of characters that are not ASCII to notASCII.
var asciiWord = func() (folded [256]byte) {
	for c := range folded {
		switch {
		case 'A' <= c && c <= 'Z':
			folded[c] = byte(c + 'a' - 'A')
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			folded[c] = byte(c)
		case c >= utf8.RuneSelf:
			folded[c] = notASCII
		}
	}
	return folded
}()

const notASCII = 0xff // a byte that does not occur in UTF-8

// contains reports whether, for each term, some word of a text begins with it. To be quick,
// it splits only the parts of the text that are not ASCII into words.
func contains(text string, terms []Term) bool {
	words := Words(foreign(text))
	return !slices.ContainsFunc(terms, func(t Term) bool { return !t.beginsIn(text) && !slices.ContainsFunc(words, t.begins) })
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foreign returns the parts of a text that have characters other than ASCII. It cuts before
// each ASCII character that separates words. Folding a part alone is correct, because no
// character composes with a separator before it.
func foreign(text string) string {
	if isASCII(text) {
		return ""
	}
	var b strings.Builder
	for from := 0; from < len(text); {
		to, is := from, false
		for ; to < len(text) && (to == from || asciiWord[text[to]] != 0); to++ {
			is = is || text[to] >= utf8.RuneSelf
		}
		if is {
			b.WriteString(text[from:to])
		}
		from = to
	}
	return b.String()
}

// beginsIn reports whether a word of a text begins with the term. In each word, only
// the ASCII letters and digits at the beginning count.
func (t Term) beginsIn(text string) bool {
	before := byte(0) // the folded character before i; 0 if a word may begin at i
	for i := 0; i+len(t) <= len(text); i++ {
		c := asciiWord[text[i]]
		if before == 0 && c == t[0] && t.isAt(text[i:]) {
			return true
		}
		before = c
	}
	return false
}

func (t Term) isAt(text string) bool {
	for i := range len(t) {
		if asciiWord[text[i]] != t[i] {
			return false
		}
	}
	return true
}
