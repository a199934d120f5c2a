// Package index stores the search indexes of channels and of ideas in the table.
package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Channel holds a channel's posts and their index.
type Channel struct{ shelf }

// shelf is the part that all indexes share.
type shelf struct {
	app  *app.App
	name string
}

// Of returns the index of a channel. The channel need not exist.
func Of(a *app.App, channel string) Channel { return Channel{shelf{a, channel}} }

var (
	_ search.Store[view.Post] = Channel{}
	_ search.Shelf            = Channel{}
)

// PostID turns an ID of the index into a post's id (po_…).
func PostID(i search.ID) string { return string(id.Post) + "_" + i.String() }

// IDOf turns a post's id (po_…) into an ID of the index.
func IDOf(post string) (search.ID, error) { return idOf(id.Post, post) }

func idOf(kind id.Kind, s string) (search.ID, error) {
	ulid, ok := strings.CutPrefix(s, string(kind)+"_")
	if !ok {
		return search.ID{}, fmt.Errorf("index: %q does not begin with %s_", s, kind)
	}
	return search.ParseID(ulid)
}

// query is the Query of a table, or of [app.App.Recent].
type query func(context.Context, tables.Query) (tables.Page, error)

// each calls f with the items of a query until f has enough.
func (c shelf) each(ctx context.Context, query query, q tables.Query, f func(tables.Item) (enough bool, err error)) error {
	for {
		page, err := query(ctx, q)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if enough, err := f(item); err != nil || enough {
				return err
			}
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}

// Heads implements [search.Store] and [search.Shelf].
func (c shelf) Heads(ctx context.Context, before search.ID, most int, fresh bool) (heads []search.Listed, err error) {
	q, query := tables.SearchHeads(c.name, before.String(), most, tables.Consistency(fresh)), c.app.Recent().Query
	if fresh {
		query = c.app.Table.Query
	}
	err = c.each(ctx, query, q, func(item tables.Item) (bool, error) {
		var h tables.SearchHead
		if err := tables.Unmarshal(item, &h); err != nil {
			return false, err
		}
		head, err := search.DecodeHead(h.Head)
		if err != nil {
			return false, fmt.Errorf("index: %s of %s: %w", item.Key().SK, c.name, err)
		}
		heads = append(heads, search.Listed{Head: head, Live: h.Live, At: time.UnixMilli(h.At)})
		return len(heads) == most, nil
	})
	return heads, err
}

// Late implements [search.Store] and [search.Shelf].
func (c shelf) Late(ctx context.Context) (late []search.ID, err error) {
	err = c.each(ctx, c.app.Recent().Query, tables.SearchLate(c.name), func(item tables.Item) (bool, error) {
		i, err := search.ParseID(item.Str("post"))
		late = append(late, i)
		return false, err
	})
	return late, err
}

// Parts implements [search.Store] and [search.Shelf]. Its reads are eventually
// consistent, at half the price. It reads missing parts again strongly: a missing part
// makes a search start over.
func (c shelf) Parts(ctx context.Context, parts []search.Part) ([][]byte, error) {
	bytes := make([][]byte, len(parts))
	for _, consistency := range []tables.Consistency{tables.Eventual, tables.Strong} {
		var keys []tables.Key
		var places []int
		for i, p := range parts {
			if bytes[i] == nil {
				keys, places = append(keys, tables.SearchPartKey(c.name, p.String())), append(places, i)
			}
		}
		items, err := c.app.GetRecent(ctx, consistency, keys)
		if err != nil {
			return nil, err
		}
		for i, item := range items {
			var p tables.SearchPart
			if err := tables.Unmarshal(item, &p); err != nil {
				return nil, err
			}
			bytes[places[i]] = p.Bytes
		}
	}
	return bytes, nil
}

// tailBytes is the approximate number of bytes of a tail that are read: 18 read units.
// Unusually long posts may take more.
const tailBytes = 72 << 10

// Tail implements [search.Store]. It takes at most two trips of at most 24 posts each, and
// at most 110 read units.
func (c Channel) Tail(ctx context.Context, after, before search.ID) (t search.Tail[view.Post], err error) {
	q := tables.PostsBetween(c.name, PostID(after), PostID(before))
	const first = 2 * search.TailFirst // a post is two items
	q.Limit = first
	var items []tables.Item
	for more := true; more; {
		t.Trips++
		page, err := c.app.Recent().Query(ctx, q)
		if err != nil {
			return t, err
		}
		items, q.After = append(items, page.Items...), page.Next
		size := 0
		for _, item := range items {
			size += item.Size()
		}
		q.Limit = min(first, (tailBytes-size)*len(items)/max(1, size))
		more = t.Trips == 1 && page.Next != nil && q.Limit > 1
	}
	all, err := found(items)
	for _, p := range all {
		if q.After != nil {
			t.Down = p.ID
		}
		if !p.Value.Deleted {
			t.Posts = append(t.Posts, p)
		}
	}
	return t, err
}

// found converts items to search results.
func found(items []tables.Item) (all []search.Post[view.Post], err error) {
	posts, err := view.Posts(items...)
	for _, p := range posts {
		at, wrong := IDOf(p.ID)
		err = errors.Join(err, wrong)
		all = append(all, search.Post[view.Post]{Doc: search.Doc{ID: at, Text: p.Body}, Value: p})
	}
	return all, err
}

// Posts implements [search.Store]. It reads the posts strongly, and their counters
// eventually.
func (c Channel) Posts(ctx context.Context, ids []search.ID) (posts []search.Post[view.Post], err error) {
	keys, numbers := make([]tables.Key, len(ids)), make([]tables.Key, len(ids))
	for i, id := range ids {
		keys[i], numbers[i] = tables.PostKey(c.name, PostID(id)), tables.PostCountersKey(c.name, PostID(id))
	}
	var items, counters []tables.Item
	work, ctx := app.SideBySide(ctx)
	work.Go(func() (err error) { items, err = c.app.GetRecent(ctx, tables.Strong, keys); return err })
	work.Go(func() (err error) { counters, err = c.app.GetRecent(ctx, tables.Eventual, numbers); return err })
	if err := work.Wait(); err != nil {
		return nil, err
	}
	posts, err = found(append(items, counters...))
	return slices.DeleteFunc(posts, func(p search.Post[view.Post]) bool { return p.Value.Deleted }), err
}
