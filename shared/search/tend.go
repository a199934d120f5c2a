package search

import (
	"context"
	"slices"
	"time"
)

// stepsMost bounds the steps of a call of [Tend] that may build the largest segments.
// stepsFew bounds those of other calls, whose callers have other work to do. The posts
// that arrive between two calls need less than one step on average.
const (
	stepsMost = 64
	stepsFew  = 8
)

// Tend seals posts, and merges, rebuilds and removes segments, in a bounded number of
// steps. It leaves segments of a level above most to other calls. due is when there is more
// to do even if no post arrives. It may be past, and is zero if there will be nothing.
//
// Tend may stop anywhere or run concurrently. The next call finishes its steps.
func Tend(ctx context.Context, s Shelf, most Level, now func() time.Time) (due time.Time, err error) {
	t := tender{Shelf: s, State: State{Most: most}, now: now}
	if err := t.list(ctx); err != nil {
		return due, err
	}
	steps := stepsMost
	if most < Top {
		steps = stepsFew
	}
	for range steps {
		if err := t.readOldest(ctx); err != nil {
			return due, err
		}
		if err := t.sortLate(ctx); err != nil {
			return due, err
		}
		t.Now = now()
		step, due, ok := t.Next()
		if !ok {
			return due, nil
		}
		if step.Build {
			err = t.build(ctx, step)
		} else {
			err = t.remove(ctx, step.Remove)
		}
		if err != nil {
			return due, err
		}
	}
	return now(), nil
}

// tender is a call of [Tend] under way. It applies its changes of heads to its State, so
// that it reads the heads only once.
type tender struct {
	Shelf
	State
	now func() time.Time
}

// list reads the late posts, and pages of heads. It stops at a full page that leaves
// nothing to do, because earlier calls have read the older pages. A head that a crash left
// on an older page stays forever, with some kilobytes of parts.
func (t *tender) list(ctx context.Context) error {
	return together(
		func() (err error) { t.State.Late, err = t.Shelf.Late(ctx); return },
		func() error {
			for before := Newest; ; {
				page, err := t.Shelf.Heads(ctx, before, form.recent, false)
				for _, h := range page {
					t.forget(h.Head)
					t.State.Heads = append(t.State.Heads, h)
				}
				if err != nil || len(page) < form.recent {
					return err
				}
				if _, due, ok := (State{Heads: page, Now: t.now(), Most: Top}).Next(); !ok && due.IsZero() {
					return nil
				}
				// More heads, but fewer than a page, may begin at the same ID.
				before = page[len(page)-1].After.next()
			}
		},
	)
}

// readOldest reads which posts are to be sealed next, unless they are known.
func (t *tender) readOldest(ctx context.Context) error {
	spans, _ := covering(t.State.Heads)
	after := end(spans)
	if len(t.Oldest) > 0 && after.Less(t.Oldest[0]) {
		return nil
	}
	oldest, err := t.Range(ctx, after, Newest, SealMost.Size())
	t.Oldest = nil
	for _, e := range oldest {
		t.Oldest = append(t.Oldest, e.ID)
	}
	return err
}

// build makes a segment of the posts that exist in a range now. It reads the posts, not the
// segments that it replaces: this is cheap compared with writing, and does not repeat their
// errors.
//
// A segment with parts is announced first and becomes live last, so that parts left by a
// crash belong to a listed head.
func (t *tender) build(ctx context.Context, step Step) error {
	entries, err := t.Range(ctx, step.After, step.To, 0)
	if err != nil {
		return err
	}
	var docs []Doc
	var gone []ID // late and deleted
	for _, e := range entries {
		switch {
		case !e.Deleted:
			docs = append(docs, e.Doc)
		case slices.Contains(t.State.Late, e.ID):
			gone = append(gone, e.ID)
		}
	}
	segment, err := Build(ctx, step.Level, step.After, step.To, docs)
	if err != nil {
		return err
	}
	if len(segment.Parts) > 0 {
		if err := t.Announce(ctx, segment.Head, t.now()); err != nil {
			return err
		}
		if err := t.PutParts(ctx, segment.Parts); err != nil {
			return err
		}
	}
	live := Listed{segment.Head, true, t.now()}
	if err := t.Publish(ctx, live.Head, live.At); err != nil {
		return err
	}
	t.forget(live.Head)
	t.State.Heads = append(t.State.Heads, live)
	return t.removeLate(ctx, gone)
}

// remove removes segments. It first hides them from searches, and removes their heads last,
// because the heads name the parts.
func (t *tender) remove(ctx context.Context, heads []*Head) error {
	for _, h := range heads {
		if parts := h.Parts(); len(parts) > 0 {
			if err := t.Retire(ctx, h.Name); err != nil {
				return err
			}
			if err := t.RemoveParts(ctx, parts); err != nil {
				return err
			}
		}
		if err := t.RemoveHead(ctx, h.Name); err != nil {
			return err
		}
		t.forget(h)
	}
	return nil
}

func (t *tender) forget(h *Head) {
	t.State.Heads = slices.DeleteFunc(t.State.Heads, func(l Listed) bool { return l.Name == h.Name })
}
