package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold takes from a text what a search must not depend on: case, compatibility
// forms (NFKC), diacritics of scripts that are read without them, and what
// shows nothing. Folding twice changes nothing more.
func fold(text string) string {
	if lower, ok := foldASCII(text); ok {
		return lower
	}
	// Marks go before case does: ᾳ would else fold to a letter more.
	return norm.NFKC.String(cases.Fold().String(unmark(norm.NFKD.String(phrases.Replace(text)))))
}

// phrases are characters that stand for a whole phrase, as people shorten it.
// Spelt out, as NFKD does, a post of these would be eighteen times as long, and
// searching a channel of such posts would take anybody's request a second.
var phrases = strings.NewReplacer("\ufdfa", " صلعم ", "\ufdfb", " جل ")

func foldASCII(text string) (lower string, ok bool) {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return "", false
		}
	}
	return strings.ToLower(text), true
}

// marksFold are the scripts whose marks are folded: people leave them out, or
// have no keys for them. Elsewhere, as in Devanagari and Thai, a mark is a
// vowel, and another word without it.
var marksFold = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew, unicode.Nd,
}

// plain are letters with a stroke or tied together, which Unicode does not
// decompose, as they are written where keyboards lack them. The dotless ı
// is here because ISI is both its upper case and that of isi.
var plain = strings.NewReplacer(
	"ø", "o", "Ø", "o", "ł", "l", "Ł", "l", "đ", "d", "Đ", "d", "ħ", "h", "Ħ", "h", "ŧ", "t", "Ŧ", "t", "ı", "i",
	"æ", "ae", "Æ", "ae", "œ", "oe", "Œ", "oe", "þ", "th", "Þ", "th", "ð", "d", "Ð", "d",
)

// unmark takes a decomposed text's folded marks and its invisible characters.
func unmark(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	folds := false // whether the letter before folds its marks
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
	zeroWidthSpace = 0x200b // parts words, in Khmer for one
	tatweel        = 0x0640 // stretches an Arabic word
)

// invisible characters stand inside of words without being of them: joiners,
// soft hyphens, directions, variation selectors.
func invisible(r rune) bool {
	return r == tatweel || r != zeroWidthSpace && unicode.In(r, unicode.Cf, unicode.Variation_Selector) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.IsLetter(r)
}
