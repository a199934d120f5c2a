package search

import (
	"context"
	"slices"
	"time"
)

// IsLate reports whether a post was committed so long after its ID was made that a segment
// may have been sealed without it. The stream's reader then adds it to the late posts,
// which are searched one by one until a segment includes them. Adding a post that no
// segment missed is harmless.
func IsLate(id ID, committed time.Time) bool { return committed.Sub(id.Time()) >= lateAge }

// turn is how many posts arrive, on average, for each post for which [IsTurn] is true.
const turn = 8

// IsTurn reports whether to [Tend] a channel when a post arrives. It is true for about one
// post in eight, chosen by the ID's random bits. So the tail may be about eight posts
// longer than if every post caused tending, and listing the segments costs an eighth as
// much.
func IsTurn(id ID) bool { return id[len(id)-1]%turn == 0 }

// Fills reports whether a channel that grew from one number of posts to another has two
// more of the smallest segments to seal. events/tally then schedules tending soon after.
// Otherwise the last posts would stay unsealed in a channel that falls silent before
// a post arrives for which IsTurn is true.
func Fills(from, to int64) bool {
	every := int64(2 * form.sizes[0])
	return to/every > from/every
}

// SealAge is the age at which posts are sealed.
const SealAge = sealAge

// sortLate removes from the list the late posts that a segment includes by now, and finds
// those that are missing from the segment that covers their IDs. It does not judge posts
// in the tail. Nor does it judge a post if searches may still use another segment for its
// ID. They may if the covering segment is so new that a search may not know it, or if a
// segment that it replaced still exists.
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
				continue // the segment was removed: a later call looks into the one that replaced it
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
