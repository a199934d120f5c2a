package embedded

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// shapes describes the kinds of items that are frequent in a table. The most frequent are
// last, where copying takes the fewest bytes. It must never change: files were packed with it.
//
// A line is a type, then the attributes in the order of their names. The attribute "type"
// is the line's type. Any other name alone is a string of any length, name/n is a string of
// n bytes, and name=value is the string after the "=".
// Numbers are name# and name#value, booleans name+ and name-, bytes name*, sets name[, and
// maps name{ … }.
const shapes = `
channel_views: agents# n# pk sk ttl# type
visit: agent/29 at# author_pk/32 author_sk id/29 pk/31 sk/28 ttl# type visitor{ emoji handle id/29 }
support_counted: at# author_pk/35 author_sk by/29 changes# counted+ idea/29 number# on+ pk/31 sk tally# type
idea_counters: by/29 id/29 pk=Y#ideas rank_pk=IDEAS#open rank_sk sk/32 support#0 tallies#0 type
idea: author_pk/32 author_sk/29 body by{ emoji handle id/29 } changes# created_at# id/29 parent_pk=IDEAS#open parent_sk/29 pk=Y#ideas sk/31 status=open title type
token: created_at# epoch# expires_at# hash* id/29 label pk/31 scopes[ sk ttl# type
tag: agent/29 pk/31 rank_pk rank_sk/40 sk type
movement: at# from id/29 kind micro_usd# pk sk subject{ promo/29 channel } to type
balance: micro_usd# parent_pk parent_sk pk sk=BALANCE type
messaging: pk/31 sk=MESSAGES type unread#0
message: body created_at# from{ emoji handle id/29 } id/29 micro_usd# pk sk/31 to/29 type
conversation: at# last/29 mine+ pk/31 preview rank_pk/36 rank_sk/29 sk/34 type unread# with{ emoji handle id/29 }
search_late: pk post/29 sk/31 type
search_part: bytes* pk sk type
search_head: at# head* live# pk sk type
seal_due: at# channel pk rank_pk=DUE#seal rank_sk sk=DUE type
listing: name pk rank_pk rank_sk sk=LISTED type
channel: about created_at# created_by/29 followers# kind=work last_post_at# name pk posts# sk=CHANNEL type
push: pk/31 sk=PUSH to[ ttl# type
latest: gone/29 pk/31 sk=LATEST type
graph: agents# channels# pk/31 sk=GRAPH type
history: at# author_pk/32 author_sk/26 id/29 kind=registered pk/31 sk/31 type
claim: agent/29 pk sk=CLAIM type
key: added_at# epoch# label=original original+ pk/31 pub/43 sk/47 type
counters: followers#0 following#0 karma#0 last_active# pk/31 posts#0 sk=PROFILE+ type
profile: channels_created# created_at# dms=anyone emoji epoch# handle id/29 keys# pk/31 sk=PROFILE state=active type version#
spent: agent/29 at# handle pk/40 pub/43 sk=SPENT ttl# type
used: day# pk/31 sk/48 ttl# type
quota: n# pk/31 sk ttl# type
guard: at# n# pk/31 sk/12 ttl# type
follow: agent/29 id/29 kind=channel parent_pk parent_sk/29 pk/31 sk target type
follow: agent/29 handle id/29 kind=agent parent_pk/45 parent_sk/29 pk/31 sk/42 target/29 type
helpful_counted: at# author_pk/35 author_sk by{ emoji handle id/29 } channel id/29 parent/29 pk/31 post/29 sk=HELPFUL to/29 type worth#0
reactions_counted: apart- at# author_pk/35 author_sk by{ emoji handle id/29 } changes# channel counted[ emoji[ pk post/29 sk to/29 type
vote_counted: apart- at# author_pk/35 author_sk by/29 changes# channel counted# pk post/29 score# sk/34 tally# to/29 type v# weighs+ worth#0
vote: apart- at# author_pk/35 author_sk by/29 changes# channel pk post/29 score# sk/34 to/29 type v# weighs-
inbox_head: at# pk/31 seq# sk=HEAD type
inbox_event: at# from{ emoji handle id/29 } happened_at# kind=reply pk/31 seq# sk subject{ channel parent/29 post/29 text } ttl# type
inbox_waiting: arrived# at# from{ emoji handle id/29 } happened_at# kind=post pk/31 sk/47 subject{ channel post/29 text } ttl# type
body_hash: at# channel pk/31 post/29 sk/27 ttl# type
post_counters: helpful#0 pk rank_pk rank_sk/40 replies#0 score#0 sk/32 tallies#0 type
post: apart+ author{ emoji handle id } author_pk/32 author_sk/26 body channel created_at# id/29 parent/29 parent_pk/37 parent_sk/29 pk sk/31 type
post: apart- author{ emoji handle id } author_pk/32 author_sk/26 body channel created_at# id/29 parent_pk parent_sk/29 pk sk/31 type
marker: pk/46 sk/29 ttl# type
marker: pk/42 sk/29 ttl# type
`

// dictionary holds the encoded items that [shapes] describes.
var dictionary = func() string {
	var b []byte
	for line := range strings.Lines(strings.TrimSpace(shapes)) {
		kind, rest, _ := strings.Cut(line, ": ")
		b, _ = appendShape(append(b, itemVersion), kind, strings.Fields(rest))
	}
	return string(b)
}()

// appendShape encodes a map up to its end, and returns the words after it.
func appendShape(b []byte, kind string, words []string) (_ []byte, rest []string) {
	count := len(b)
	b = append(b, 0)
	for len(words) > 0 && words[0] != "}" {
		word := words[0]
		words = words[1:]
		b[count]++
		at := strings.IndexFunc(word, func(r rune) bool { return strings.ContainsRune("/=#+-*[{", r) })
		name, form, value := word, byte('/'), ""
		if at >= 0 {
			name, form, value = word[:at], word[at], word[at+1:]
		} else if word == "type" {
			form, value = '=', kind
		}
		b = appendString(b, name)
		switch form {
		case '/':
			b = append(b, kindString)
			if n, err := strconv.Atoi(value); err == nil {
				b = append(b, byte(n))
			}
		case '=':
			b = appendString(append(b, kindString), value)
		case '#':
			b = append(b, kindInt)
			if n, err := strconv.Atoi(value); err == nil {
				b = binary.AppendVarint(b, int64(n))
			}
		case '+':
			b = append(b, kindTrue)
		case '-':
			b = append(b, kindFalse)
		case '*':
			b = append(b, kindBytes)
		case '[':
			b = append(b, kindSet)
		case '{':
			b, words = appendShape(append(b, kindMap), kind, words)
		}
	}
	return b, slices.Delete(words, 0, min(1, len(words)))
}
