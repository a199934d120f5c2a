package search

import "slices"

// span is the part of a segment that a search uses. It ends where the next newer span
// begins.
type span struct {
	Listed
	upTo ID
}

func (s span) has(id ID) bool { return s.After.Less(id) && !s.upTo.Less(id) }

// covering chooses the segments that a search reads, newest first and without gaps. The
// oldest begins after down; zero is the channel's beginning.
//
// Segments overlap if one was just replaced or two calls of [Tend] ran at once. covering
// prefers the segment that reaches furthest back. If two reach equally far, it prefers the
// one that became live later, because that one includes more late posts.
func covering(heads []Listed) (spans []span, down ID) {
	live := slices.DeleteFunc(slices.Clone(heads), func(h Listed) bool { return !h.Live })
	for _, h := range live {
		down = later(down, h.To)
	}
	for {
		var best *Listed
		for i := range live {
			h := &live[i]
			if !h.To.Less(down) && h.After.Less(down) && (best == nil || h.better(best)) {
				best = h
			}
		}
		if best == nil {
			return spans, down
		}
		spans = append(spans, span{*best, down})
		down = best.After
	}
}

func (h *Listed) better(other *Listed) bool {
	switch {
	case h.After != other.After:
		return h.After.Less(other.After)
	case !h.At.Equal(other.At):
		return h.At.After(other.At)
	}
	return h.String() < other.String()
}

// end returns the ID up to which segments go. Newer posts are the tail.
func end(spans []span) ID {
	if len(spans) == 0 {
		return ID{}
	}
	return spans[0].upTo
}
