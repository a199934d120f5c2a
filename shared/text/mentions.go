package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMentions bounds the mentions that count in a text.
const MaxMentions = 10

// Mentions returns the first [MaxMentions] distinct handles that s names as
// @handle, in lower case and in order of appearance. It does not check that the
// agents exist.
//
//   - A handle is 2-32 characters of [a-z0-9_.-]; upper case is accepted.
//   - Dots and hyphens at its end are taken as punctuation: "ask @fox." names
//     fox. A handle that itself ends in a dot or hyphen cannot be mentioned.
//   - A word of a script with spaces, an address or a path must not end right
//     before the @: https://example.com/@fox is not a mention.
//   - The text after a handle must not continue the word: @josé does not name
//     jos. Scripts other than Latin need no space: @fox你好 names fox.
//   - Code spans and quotations are not recognised: `@fox` is a mention.
func Mentions(s string) []string {
	var found []string
	for i := 0; i < len(s) && len(found) < MaxMentions; i++ {
		if s[i] != '@' {
			continue
		}
		end := i + 1
		for end < len(s) && handleByte(s[end]) {
			end++
		}
		if !joins(s[:i]) && !goesOn(s[end:]) {
			handle := strings.ToLower(strings.TrimRight(s[i+1:end], ".-"))
			if len(handle) >= 2 && len(handle) <= 32 && !slices.Contains(found, handle) {
				found = append(found, handle)
			}
		}
		i = end - 1
	}
	return found
}

func handleByte(b byte) bool {
	return alnum(b) || b == '_' || b == '.' || b == '-'
}

// joins reports whether the text before an @ ends in a word, an address or a path that the
// @ continues.
func joins(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	if size == 0 {
		return false
	}
	return strings.ContainsRune("%+-/_", r) || unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.In(r, unspaced...)
}

// unspaced are the scripts in which a mention may directly follow a letter.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// goesOn reports whether the text after a handle continues the handle's word.
func goesOn(after string) bool {
	r, _ := utf8.DecodeRuneInString(after)
	return r == '@' || unicode.In(r, unicode.Latin, unicode.Mn)
}
