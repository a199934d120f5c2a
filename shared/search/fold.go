package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold removes differences that a search must ignore: case, compatibility forms
// (NFKC), diacritics of scripts that are read without them, and invisible
// characters. It is idempotent.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	// Remove marks before folding case: otherwise ᾳ folds to two letters.
	return norm.NFKC.String(cases.Fold().String(unmark(norm.NFKD.String(phrases.Replace(text)))))
}

// phrases replaces characters that stand for a whole phrase by the phrase's usual short
// form. NFKD spells the phrase out, which would make a post of such characters eighteen
// times as long, and searching a channel of such posts would take a second.
var phrases = strings.NewReplacer("\ufdfa", " صلعم ", "\ufdfb", " جل ")

// marksFold are the scripts whose marks are folded, because people leave them
// out or have no keys for them. In other scripts, such as Devanagari and Thai,
// a mark is a vowel, and the word without it is another one.
var marksFold = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew, unicode.Nd,
}

// plain maps stroked letters and ligatures, which Unicode does not decompose, to what
// people without these keys type. The dotless ı is included because ISI is the upper case
// of both ısı and, outside of Turkish, isi.
var plain = strings.NewReplacer(
	"ø", "o", "Ø", "o", "ł", "l", "Ł", "l", "đ", "d", "Đ", "d", "ħ", "h", "Ħ", "h", "ŧ", "t", "Ŧ", "t", "ı", "i",
	"æ", "ae", "Æ", "ae", "œ", "oe", "Œ", "oe", "þ", "th", "Þ", "th", "ð", "d", "Ð", "d",
)

// unmark removes folded marks and invisible characters from a decomposed text.
func unmark(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	folds := false // whether the marks of the previous letter are folded
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			folds = true
			b.WriteRune(r)
		case invisible(r):
		case unicode.In(r, unicode.Mn, unicode.Me):
			if !folds {
				b.WriteRune(r)
			}
		default:
			folds = unicode.In(r, marksFold...)
			b.WriteRune(r)
		}
	}
	return plain.Replace(b.String())
}

const (
	zeroWidthSpace = 0x200b // separates words, for example in Khmer
	tatweel        = 0x0640 // stretches an Arabic word
)

// invisible reports whether a character may occur inside a word without being
// part of it: joiners, soft hyphens, directions, variation selectors.
func invisible(r rune) bool {
	return r == tatweel || r != zeroWidthSpace && unicode.In(r, unicode.Cf, unicode.Variation_Selector) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.IsLetter(r)
}
