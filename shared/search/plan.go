package search

import (
	"slices"
	"time"
)

// State is the input of [State.Next].
type State struct {
	Heads  []Listed // the newest
	Oldest []ID     // the oldest posts after the last segment, deleted ones included; at most SealMost.Size()
	Late   []ID     // late posts
	Missed []ID     // late posts known to be missing from the segment that covers their IDs
	Now    time.Time
	Most   Level // segments of a higher level are left to another call of Tend
}

// SealMost is the highest level that posts are sealed into directly. A Lambda function with
// little memory can build such a segment from any posts in its time.
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
//   - posts that are old enough are sealed: 256 into a segment of the second level,
//     unless the newest segment is of the first level; otherwise 16 into a segment of
//     the first level. If 256 could be sealed but not all are old enough yet, they wait
//     until they are;
//   - 16 adjacent segments of one level are merged into one of the next level; into
//     the last level only if their words fit into form.merged bytes, which random
//     words do not;
//   - a segment that missed 16 late posts is rebuilt, whatever its level;
//   - segments that were replaced a while ago, and abandoned ones, are removed.
//
// If ok is false, there is nothing to do before due, or, if due is zero, before
// another post arrives.
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
		due = old // the channel is busy, so this is soon; one large segment is then built instead of many small ones
		break
	}
	if step, ok := merge(spans); ok {
		if step.Level > s.Most {
			return Step{}, s.Now, false
		}
		return step, due, true
	}
	soon := func(at time.Time) {
		if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	for _, sp := range spans {
		if count(s.Missed, sp.has) >= form.sizes[0] {
			return Step{Build: true, Level: sp.Level, After: sp.After, To: sp.To}, due, true
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

func count(ids []ID, those func(ID) bool) int {
	n := 0
	for _, id := range ids {
		if those(id) {
			n++
		}
	}
	return n
}

// merge finds the oldest 16 adjacent segments of one level that may be merged, and
// returns the step that merges them into one segment of the next level.
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
	if h.After.Less(down) { // the segments that replaced it are perhaps not listed
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
