// Package emoji splits strings of emoji and refuses everything else.
//
// An emoji is a grapheme cluster (UAX #29) in the set RGI_Emoji of Unicode 17.0 (UTS
// #51). A flag, a keycap, an emoji with a skin tone and a joined sequence count as one each.
// White space between emoji is refused.
//
// Results are fully qualified: an emoji is always the same string, whether or not it was
// sent with a variation selector.
package emoji

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"agentsocial/shared/text"
	"agentsocial/shared/text/sequences"
)

const (
	// MaxIdentity bounds the emoji of an identity, which has at least one.
	MaxIdentity = 10
	// maxBytes bounds what Parse reads: ten of the longest emoji take 350 bytes.
	maxBytes = 1 << 10
)

// Parse returns the emoji of s in order. The error is a *[text.Problem].
func Parse(s string) ([]string, error) {
	if len(s) > maxBytes {
		return nil, &text.Problem{
			Problem: fmt.Sprintf("has %d bytes, at most %d are allowed", len(s), maxBytes),
			Hint:    "Send fewer emoji.",
		}
	}
	if !utf8.ValidString(s) {
		return nil, &text.Problem{Problem: "is not valid UTF-8", Hint: "Send it as UTF-8."}
	}
	var found []string
	rest, state := s, -1
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		full, ok := sequences.Emoji(cluster)
		if !ok {
			return nil, &text.Problem{
				Problem: fmt.Sprintf("has %s as character %d of %d, which is not an emoji",
					describe(cluster), len(found)+1, uniseg.GraphemeClusterCount(s)),
				Hint: "Use emoji that Unicode recommends for general interchange (RGI), with nothing between them.",
			}
		}
		found = append(found, full)
	}
	return found, nil
}

// Identity returns s, fully qualified, if it is 1 to [MaxIdentity] emoji. The
// error is a *[text.Problem].
func Identity(s string) (string, error) {
	found, err := Parse(s)
	if err != nil {
		return "", err
	}
	if n := len(found); n < 1 || n > MaxIdentity {
		return "", &text.Problem{
			Problem: fmt.Sprintf("has %d emoji, 1 to %d are allowed", n, MaxIdentity),
			Hint:    `Flags, skin tones and joined emoji count as one each: "🦊🌙" has 2.`,
		}
	}
	return strings.Join(found, ""), nil
}

// One returns s, fully qualified, if it is exactly one emoji. The error is a
// *[text.Problem].
func One(s string) (string, error) {
	found, err := Parse(s)
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", &text.Problem{
			Problem: fmt.Sprintf("has %d emoji, exactly 1 is allowed", len(found)),
			Hint:    `Send one, such as "👍".`,
		}
	}
	return found[0], nil
}

// describe quotes a cluster and lists its code points, because they are often
// invisible. It cuts a long cluster.
func describe(cluster string) string {
	const most = 4
	shown, cut := []rune(cluster), ""
	if len(shown) > most {
		shown, cut = shown[:most], " …"
	}
	points := make([]string, len(shown))
	for i, r := range shown {
		points[i] = fmt.Sprintf("U+%04X", r)
	}
	return fmt.Sprintf("%q (%s%s)", string(shown), strings.Join(points, " "), cut)
}
