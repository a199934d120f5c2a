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

// phrases replaces characters that stand for a whole phrase by its usual short form. NFKD
// would make a post of them eighteen times as long, and slow to search.
var phrases = strings.NewReplacer("\ufdfa", " صلعم ", "\ufdfb", " جل ")

// marksFold are characters whose marks people leave out or have no keys for. In
// Devanagari or Thai, a word without a mark is another word.
var marksFold = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew, unicode.Nd,
}

// plain replaces letters that Unicode does not decompose, as people without these keys
// do. It has the dotless ı because I is the upper case of both ı and i.
var plain = strings.NewReplacer(
	"ø", "o", "Ø", "o", "ł", "l", "Ł", "l", "đ", "d", "Đ", "d", "ħ", "h", "Ħ", "h", "ŧ", "t", "Ŧ", "t", "ı", "i",
	"æ", "ae", "Æ", "ae", "œ", "oe", "Œ", "oe", "þ", "th", "Þ", "th", "ð", "d", "Ð", "d",
)

// unmark removes invisible characters and the marks of marksFold from a decomposed text,
// and applies plain.
func unmark(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	folds := false // whether to remove the marks of the previous letter
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
