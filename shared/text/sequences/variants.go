package sequences

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// variantsData holds lists of Unicode and of the Ideographic Variation Database (UTS #37).
// variants.mjs writes it.
//
//go:embed variants.txt
var variantsData string

// Text and Color select the text and the emoji presentation of an emoji (UTS
// #51 section 1.4.3).
const (
	Text  = '\ufe0e'
	Color = '\ufe0f'
)

// firstHan is the first selector of a Han character's forms.
const firstHan = 0xe0100

// span is a range of code points.
type span struct{ first, last rune }

// forms tells how many forms consecutive Han characters have, from first on: one digit of
// base 36 for each.
type forms struct {
	first  rune
	counts string
}

type lists struct {
	named map[string][]span
	han   []forms
}

var variants = sync.OnceValue(loadVariants)

func loadVariants() lists {
	l := lists{named: map[string][]span{}}
	for line := range strings.Lines(variantsData) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch name {
		case "//":
		case "han":
			first, counts, _ := strings.Cut(rest, " ")
			l.han = append(l.han, forms{point(first), counts})
		default:
			for both := range strings.SplitSeq(rest, " ") {
				first, last, found := strings.Cut(both, "-")
				if !found {
					last = first
				}
				l.named[name] = append(l.named[name], span{point(first), point(last)})
			}
		}
	}
	return l
}

// point reads a code point of the data. It never panics in production, because tests read
// all data.
func point(hex string) rune {
	n, err := strconv.ParseInt(hex, 16, 32)
	if err != nil {
		panic(err)
	}
	return rune(n)
}

func in(name string, r rune) bool {
	_, found := slices.BinarySearchFunc(variants().named[name], r, func(s span, r rune) int {
		switch {
		case s.last < r:
			return -1
		case s.first > r:
			return int(s.first - r)
		}
		return 0
	})
	return found
}

// Varies reports whether Unicode lists the variation sequence of a character
// and a selector.
func Varies(base, selector rune) bool {
	if selector < firstHan {
		return in(strings.ToUpper(strconv.FormatInt(int64(selector), 16)), base)
	}
	han := variants().han
	i, found := slices.BinarySearchFunc(han, base, func(f forms, r rune) int { return int(f.first - r) })
	if !found {
		i--
	}
	if i < 0 || int(base-han[i].first) >= len(han[i].counts) {
		return false
	}
	n, err := strconv.ParseInt(han[i].counts[base-han[i].first:][:1], 36, 32)
	return err == nil && int64(selector-firstHan) < n
}

// Colored reports whether a character is shown as an emoji without a selector.
func Colored(r rune) bool { return in("emoji", r) }

// JoinerShows reports whether a joiner (U+200C, U+200D) between the texts before and
// after changes how they are shown. The rules are those of RFC 5892 appendix A, with U+200D
// also allowed before a virama, as in Bengali.
func JoinerShows(joiner rune, before, after string) bool {
	previous, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	if in("virama", previous) || joiner == '\u200d' && in("virama", next) {
		return true
	}
	if joiner != '\u200c' {
		return false
	}
	for n := 0; n < marksMost && unicode.Is(unicode.Mn, previous); n++ {
		before = strings.TrimSuffix(before, string(previous))
		previous, _ = utf8.DecodeLastRuneInString(before)
	}
	for n := 0; n < marksMost && unicode.Is(unicode.Mn, next); n++ {
		after = strings.TrimPrefix(after, string(next))
		next, _ = utf8.DecodeRuneInString(after)
	}
	return in("joins-next", previous) && in("joins-previous", next)
}

// marksMost bounds the marks of a letter that JoinerShows skips.
const marksMost = 4
