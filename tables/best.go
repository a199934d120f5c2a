package tables

import (
	"strconv"
	"strings"
)

// ReadBestSK returns the rank and the post from a sort key made by [BestSK].
func ReadBestSK(sk string) (rank int64, post string, ok bool) {
	digits, post, _ := strings.Cut(sk, "#")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || post == "" || BestSK(n-scoreBias, post) != sk {
		return 0, "", false
	}
	return n - scoreBias, post, true
}

// Best queries a channel's best posts of a UTC day ([BestPK]), best first. after is
// the sort key to continue after, possibly of another day; "" begins with the best.
func Best(channel, pk, after string, most int) Query {
	q := Query{Index: ByRank, PK: pk, Desc: true, Limit: most}
	if _, post, ok := ReadBestSK(after); ok {
		q.After = &Position{SK: after, Key: PostCountersKey(channel, post)}
	}
	return q
}
