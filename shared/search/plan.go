package search

import (
	"slices"
	"time"
)

// State is the input of [State.Next].
type State struct {
	Heads  []Listed // the newest
	Oldest []ID     // at most SealMost.Size() posts newer than all segments, oldest first
	Late   []ID     // late posts
	Missed []ID     // late posts that the segment for their IDs lacks
	Now    time.Time
	Most   Level // segments of a higher level are left to another call of Tend
}

// SealMost is the highest level that posts are sealed into directly. A Lambda function with
// little memory can build a segment of this level from any posts.
const SealMost = Top - 1

// Step is one thing to do: build a segment, or remove some.
type Step struct {
	Build  bool
	Level  Level
	After  ID
	To     ID
	Remove []*Head
}

// Next returns the first thing to do, in this order:
//
//   - seal posts that are old enough: 256 into a segment of the second level, or 16
//     into one of the first level;
//   - merge 16 adjacent segments of one level into one of the next level; into the last
//     level only if their words fit into form.merged bytes;
//   - rebuild a segment that missed 16 late posts;
//   - remove abandoned segments, and those replaced a while ago.
//
// If ok is false, there is nothing to do before due. If due is zero, there is nothing to do
// before another post arrives.
func (s State) Next() (step Step, due time.Time, ok bool) {
	spans, down := covering(s.Heads)
	level := SealMost
	if len(spans) > 0 {
		level = min(level, spans[0].Level)
	}
	for ; len(s.Oldest) >= form.sizes[0]; level-- {
		if len(s.Oldest) < level.Size() {
			continue
		}
		last := s.Oldest[level.Size()-1]
		old := last.Time().Add(sealAge)
		if !s.Now.Before(old) {
			return Step{Build: true, Level: level, After: end(spans), To: last}, due, true
		}
		due = old // wait for one large segment instead of building many small ones
		break
	}
	if step, ok := merge(spans); ok {
		return s.atMost(step, due)
	}
	soon := func(at time.Time) {
		if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	for _, sp := range spans {
		if count(s.Missed, sp.has) >= form.sizes[0] {
			return s.atMost(Step{Build: true, Level: sp.Level, After: sp.After, To: sp.To}, due)
		}
		if judged := sp.At.Add(grace); s.Now.Before(judged) && slices.ContainsFunc(s.Late, sp.has) {
			soon(judged)
		}
	}
	var remove []*Head
	for _, h := range s.Heads {
		at, ok := h.removable(spans, down)
		switch {
		case !ok:
		case !s.Now.Before(at):
			remove = append(remove, h.Head)
		default:
			soon(at)
		}
	}
	return Step{Remove: remove}, due, len(remove) > 0
}

// atMost returns the results of Next for a step that builds a segment. A segment of a level
// above Most is left to another call of [Tend], which is due now.
func (s State) atMost(step Step, due time.Time) (Step, time.Time, bool) {
	if step.Level > s.Most {
		return Step{}, s.Now, false
	}
	return step, due, true
}

func count(ids []ID, those func(ID) bool) int {
	n := 0
	for _, id := range ids {
		if those(id) {
			n++
		}
	}
	return n
}

// merge returns the step that merges the oldest 16 adjacent segments of one level that may
// be merged.
func merge(spans []span) (Step, bool) {
	for end := len(spans); end >= form.fanout; end-- {
		run := spans[end-form.fanout : end]
		level, size, alike := run[0].Level, 0, true
		for _, s := range run {
			size += s.bytes()
			alike = alike && s.Level == level
		}
		if alike && (level < SealMost || level == SealMost && size <= form.merged) {
			return Step{Build: true, Level: level + 1, After: run[form.fanout-1].After, To: run[0].upTo}, true
		}
	}
	return Step{}, false
}

// removable returns when a listed head may be removed. ok is false if it must stay.
func (h *Listed) removable(spans []span, down ID) (at time.Time, ok bool) {
	if !h.Live {
		return h.At.Add(abandoned), true
	}
	if h.After.Less(down) { // its replacement may not be listed
		return at, false
	}
	for _, s := range spans {
		if s.Name == h.Name {
			return at, false
		}
		if s.After.Less(h.To) && h.After.Less(s.upTo) && s.At.After(at) {
			at = s.At
		}
	}
	return at.Add(grace), true
}
