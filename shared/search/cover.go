package search

import "slices"

// span is a segment's share of a cover: what lies in it up to an ID, which is
// less than the segment's own end where a newer segment overlaps it.
type span struct {
	Listed
	upTo ID
}

// has tells whether an ID lies in the span.
func (s span) has(id ID) bool { return s.After.Less(id) && !s.upTo.Less(id) }

// covering chooses among segments those that a search reads, newest first, without
// gaps, and down is the ID after which they begin: zero if they go back to the
// beginning.
//
// A segment stays listed for a while after a larger one has taken its place, and
// two that worked at once may have left overlapping ones. Wherever there is a
// choice, the one that reaches furthest back is taken; of equals the latest,
// which knows of more late posts.
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

// end is the ID up to which segments go: what is newer is the tail.
func end(spans []span) ID {
	if len(spans) == 0 {
		return ID{}
	}
	return spans[0].upTo
}
