package scale

import (
	"slices"
	"strings"
)

// named lists the parts of partition keys that are not ids, names or hashes.
var named = []string{
	"all", "mail", "idem", "request", "nonce", "authcode", "jti", "code", "link", "revenue", "processor", "ideas", "IDEAS", "acts",
	"takedowns", "agent", "channel", "erase", "jury", "settle", "seal", "wait", "work", "leisure", "tokens", "open", "planned", "done", "declined", "duplicate",
}

// familyOf returns the family of a partition: its key without ids, such as "A#…" or
// "by_rank CHANNELS#work".
func familyOf(at spot) string {
	parts := strings.Split(at.pk, "#")
	out := parts[:1:1]
	for _, p := range parts[1:] {
		if slices.Contains(named, p) {
			out = append(out, p)
		} else if out[len(out)-1] != "…" {
			out = append(out, "…")
		}
	}
	family := strings.Join(out, "#")
	if at.space != "" {
		family = at.space + " " + family
	}
	return family
}
