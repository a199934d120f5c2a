package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const ellipsis = "…"

// Preview is s if it has at most n code points; else its beginning, cut between
// two grapheme clusters (what a reader sees as one character), without white
// space at its end, and "…": n code points at most in all. Where n is below 1
// there is room for nothing, and the answer is empty.
func Preview(s string, n int) string {
	if n < 1 {
		return ""
	}
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	room, end, rest, state := n-1, 0, s, -1
	for {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		room -= utf8.RuneCountInString(cluster)
		if cluster == "" || room < 0 {
			return strings.TrimRightFunc(s[:end], unicode.IsSpace) + ellipsis
		}
		end += len(cluster)
	}
}
