package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/tables"
)

// sideBySide bounds concurrent writes.
const sideBySide = 16

// write makes independent writes concurrently. A transaction would cost twice as much.
func (c shelf) write(ctx context.Context, writes ...tables.Write) error {
	work, ctx := app.SideBySide(ctx)
	work.SetLimit(sideBySide)
	for _, w := range writes {
		work.Go(func() error { return c.app.Once(ctx, w) })
	}
	return work.Wait()
}

// unless makes a conditional write. A failed condition is not an error. there reports
// whether the item exists afterwards.
func (c shelf) unless(ctx context.Context, w tables.Write) (there bool, err error) {
	held := errors.New("index: the condition does not hold")
	err = c.app.Once(ctx, w.Else(func(old tables.Item) error {
		there = old != nil
		return held
	}))
	if errors.Is(err, held) {
		return there, nil
	}
	return err == nil, err
}

func headItem(h *search.Head, live bool, now time.Time) *tables.SearchHead {
	return &tables.SearchHead{Head: h.Encode(), Live: live, At: now.UnixMilli()}
}

// Range implements [search.Shelf].
func (c Channel) Range(ctx context.Context, after, to search.ID, most int) (entries []search.Entry, err error) {
	q := tables.PostsAfter(c.name, PostID(after), PostID(to))
	q.Limit = 2 * most // a post is two items
	err = c.each(ctx, c.app.Table.Query, q, func(item tables.Item) (bool, error) {
		posts, err := found([]tables.Item{item})
		if err != nil || len(posts) == 0 { // counters
			return false, err
		}
		entries = append(entries, search.Entry{Doc: posts[0].Doc, Deleted: posts[0].Value.Deleted})
		return len(entries) == most, nil
	})
	return entries, err
}

// Announce implements [search.Shelf].
func (c shelf) Announce(ctx context.Context, h *search.Head, now time.Time) error {
	_, err := c.unless(ctx, headItem(h, false, now).Put(c.name, h.String()))
	return err
}

// PutParts implements [search.Shelf].
func (c shelf) PutParts(ctx context.Context, parts map[search.Part][]byte) error {
	var writes []tables.Write
	for _, p := range slices.SortedFunc(maps.Keys(parts), func(a, b search.Part) int { return strings.Compare(a.String(), b.String()) }) {
		item := &tables.SearchPart{Bytes: parts[p]}
		writes = append(writes, tables.Put(item.Item(c.name, p.String())))
	}
	return c.write(ctx, writes...)
}

// Publish implements [search.Shelf].
func (c shelf) Publish(ctx context.Context, h *search.Head, now time.Time) error {
	if len(h.Parts()) == 0 {
		_, err := c.unless(ctx, headItem(h, true, now).Put(c.name, h.String()))
		return err
	}
	there, err := c.unless(ctx, tables.LiveSearchHead(c.name, h.String(), now))
	if err == nil && !there {
		return fmt.Errorf("index: the segment %s of %s was removed before it was complete", h.Name, c.name)
	}
	return err
}

// Retire implements [search.Shelf].
func (c shelf) Retire(ctx context.Context, n search.Name) error {
	_, err := c.unless(ctx, tables.RetireSearchHead(c.name, n.String()))
	return err
}

// RemoveParts implements [search.Shelf].
func (c shelf) RemoveParts(ctx context.Context, parts []search.Part) error {
	var writes []tables.Write
	for _, p := range parts {
		writes = append(writes, tables.Delete(tables.SearchPartKey(c.name, p.String())))
	}
	return c.write(ctx, writes...)
}

// RemoveHead implements [search.Shelf].
func (c shelf) RemoveHead(ctx context.Context, n search.Name) error {
	return c.write(ctx, tables.Delete(tables.SearchHeadKey(c.name, n.String())))
}

// AddLate stores the IDs of late posts, see [search.IsLate].
func (c shelf) AddLate(ctx context.Context, ids ...search.ID) error {
	var writes []tables.Write
	for _, id := range ids {
		writes = append(writes, tables.Put(tables.SearchLateItem(c.name, id.String())))
	}
	return c.write(ctx, writes...)
}

// RemoveLate implements [search.Shelf].
func (c shelf) RemoveLate(ctx context.Context, ids []search.ID) error {
	var writes []tables.Write
	for _, id := range ids {
		writes = append(writes, tables.Delete(tables.SearchLateKey(c.name, id.String())))
	}
	return c.write(ctx, writes...)
}
