package tables

import (
	"strings"
	"time"
)

// Public content is what processes may remember for a moment (tables/recent): channels,
// posts and their counters, lists of channels and posts, and search indexes. An agent's profile
// and its counters count as public too, because the endpoints that remember them show only
// their public part.

// PublicKeep is how long a process remembers public content.
const PublicKeep = 2 * time.Second

// Public reports whether the item of a key is public content.
func (k Key) Public() bool {
	switch family, agent, _ := strings.Cut(k.PK, "#"); family {
	case "C":
		return k.SK == channelSK || strings.HasPrefix(k.SK, PostPrefix)
	case "A":
		return k == ProfileKey(agent) || k == CountersKey(agent)
	case "S":
		return isSearch(k.SK)
	}
	return false
}

// Public reports whether all that a query finds is public content.
func (q Query) Public() bool {
	switch family, _, _ := strings.Cut(q.PK, "#"); q.Index {
	case ByParent:
		return family == "ROOTS" || family == "REPLIES" || family == "POSTS"
	case ByRank:
		return family == "BEST" || family == "CHANNELS"
	case "":
		switch family {
		case "C":
			return q.within(PostPrefix)
		case "S":
			return q.within(searchHeads) || q.within(searchLate)
		}
	}
	return false
}

// within reports whether the sort keys that a query finds begin with a prefix.
func (q Query) within(prefix string) bool {
	end := q.To
	if q.Desc && end == "" && q.After != nil {
		end = q.After.SK
	}
	return strings.HasPrefix(q.From, prefix) && strings.HasPrefix(end, prefix)
}

func isSearch(sk string) bool {
	return strings.HasPrefix(sk, searchHeads) || strings.HasPrefix(sk, searchParts) || strings.HasPrefix(sk, searchLate)
}
