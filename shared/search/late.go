package search

import (
	"context"
	"slices"
	"time"
)

// IsLate reports whether a post was committed so long after its ID was made that a segment
// may have been sealed without it. The stream's reader then adds it to the late posts.
// Adding a post that no segment missed is harmless.
func IsLate(id ID, committed time.Time) bool { return committed.Sub(id.Time()) >= lateAge }

const turn = 8 // [IsTurn] is true for about one post in this many

// IsTurn reports whether to [Tend] a channel when a post arrives. Only one post in eight
// has the turn, because listing the segments is costly.
func IsTurn(id ID) bool { return id[len(id)-1]%turn == 0 }

// Fills reports whether a channel's number of posts passed a multiple of 32, which is two
// of the smallest segments. events/tally then schedules tending. Otherwise, a channel
// that falls silent before [IsTurn] is true could keep many unsealed posts.
func Fills(from, to int64) bool {
	every := int64(2 * form.sizes[0])
	return to/every > from/every
}

// SealAge is the age at which posts are sealed.
const SealAge = sealAge

// sortLate removes from the list the late posts that a segment now includes. It sets Missed
// to those that the segment for their IDs lacks. It skips a post if searches may still use
// an older segment for its ID.
func (t *tender) sortLate(ctx context.Context) error {
	t.Missed = nil
	if len(t.State.Late) == 0 {
		return nil
	}
	spans, _ := covering(t.State.Heads)
	var asked []ID
	var of []span
	var parts []Part
	var sealed []ID
	judge := func(id ID, ids []ID) {
		if slices.Contains(ids, id) {
			sealed = append(sealed, id)
		} else {
			t.Missed = append(t.Missed, id)
		}
	}
	for _, id := range t.State.Late {
		i := slices.IndexFunc(spans, func(s span) bool { return s.has(id) })
		if i < 0 || t.now().Before(spans[i].At.Add(grace)) {
			continue
		}
		s := spans[i]
		if slices.ContainsFunc(t.State.Heads, func(h Listed) bool { return h.Live && h.Name != s.Name && span{h, h.To}.has(id) }) {
			continue
		}
		if c := s.chunkFor(id); s.whole || c < 0 {
			judge(id, s.ids)
		} else {
			asked, of, parts = append(asked, id), append(of, s), append(parts, Part{s.Name, Chunk, c})
		}
	}
	if len(parts) > 0 {
		chunks, err := t.Parts(ctx, parts)
		if err != nil {
			return err
		}
		for i, id := range asked {
			if chunks[i] == nil {
				continue // the segment was removed: a later call looks into its replacement
			}
			ids, err := of[i].chunk(parts[i].Number, chunks[i])
			if err != nil {
				return err
			}
			judge(id, ids)
		}
	}
	return t.removeLate(ctx, sealed)
}

func (t *tender) removeLate(ctx context.Context, ids []ID) error {
	if len(ids) == 0 {
		return nil
	}
	gone := func(id ID) bool { return slices.Contains(ids, id) }
	t.State.Late = slices.DeleteFunc(t.State.Late, gone)
	return t.RemoveLate(ctx, ids)
}
