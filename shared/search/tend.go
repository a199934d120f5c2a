package search

import (
	"context"
	"slices"
	"time"
)

// stepsMost is how many steps one [Tend] makes.
const stepsMost = 64

// Tend brings a channel's index up to date: it seals, merges and removes, step
// by step, until nothing is left to do now, save segments of a level above most.
// If due is not zero, there will be at that time, or is, without another post.
//
// It may stop anywhere, or run twice at once: what was half done is done again,
// or finished, by the next.
func Tend(ctx context.Context, s Shelf, most Level, now func() time.Time) (due time.Time, err error) {
	t := tender{Shelf: s, State: State{Most: most}, now: now}
	if err := t.list(ctx); err != nil {
		return due, err
	}
	for range stepsMost {
		if err := t.readOldest(ctx); err != nil {
			return due, err
		}
		if err := t.sort(ctx); err != nil {
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

// tender is one [Tend] under way. What it does to the heads it does to the
// state as well, which is thus read once.
type tender struct {
	Shelf
	State
	now func() time.Time
}

// list brings late posts, and heads up to a full page that leaves nothing to do:
// what is older was in such pages before. What a crash left there, and a page of
// newer segments then hid, stays unread and unused for ever: some kilobytes.
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
				// Others may begin where the page ends; never more than a page.
				before = page[len(page)-1].After.next()
			}
		},
	)
}

// readOldest brings the posts to be sealed next, which are others after sealing.
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

// build makes a segment of the posts that stand in a range now. Late ones are
// among them, deleted ones are not: building reads the posts, not the segments
// it will replace, which is cheap beside writing and cannot go wrong with them.
//
// A segment of several parts is announced first and becomes live last: a part
// that a crash leaves behind belongs to a head that is listed.
func (t *tender) build(ctx context.Context, step Step) error {
	entries, err := t.Range(ctx, step.After, step.To, 0)
	if err != nil {
		return err
	}
	var docs []Doc
	var gone []ID // late, and deleted
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

// remove takes segments away: first from searches, the heads last, since they
// say which parts there are.
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
