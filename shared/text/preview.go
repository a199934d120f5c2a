package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const ellipsis = "…"

// Preview returns s if it has at most n code points. Otherwise it returns the
// beginning of s and "…", at most n code points in all. It cuts s between
// grapheme clusters, and drops white space before the cut. If n is below 1, it
// returns "".
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
