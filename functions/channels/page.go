package channels

import (
	"context"
	"slices"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type pageIn struct {
	Ch      string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	Before  string `query:"before" maxLength:"40" doc:"Only posts before this one: a post id, or next_before of the previous page."`
	Limit   int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Posts on a page."`
	Replies bool   `query:"replies" default:"true" doc:"false leaves replies out."`
}

// pageRounds bounds the queries of a page that leaves many posts out.
const pageRounds = 4

func (g channels) page(ctx context.Context, in *pageIn) (*wire.ChannelPage, error) {
	if err := checkBefore(in.Before); err != nil {
		return nil, err
	}
	var list listing
	ch, err := g.withChannel(ctx, in.Ch, func(ctx context.Context) (err error) {
		if in.Replies {
			list, err = g.newest(ctx, tables.Eventual, in.Ch, in.Before, in.Limit, (*view.Post).Shown)
		} else {
			list, err = g.listed(ctx, tables.Roots(in.Ch, in.Before, in.Limit+1))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &wire.ChannelPage{Channel: view.ChannelOf(ch), Items: list.items, More: list.next != "", NextBefore: list.next}
	if in.Before == "" {
		out.Promo = g.pagePromo(ctx, ch)
	}
	return out, nil
}

func checkBefore(before string) error {
	if before != "" && !id.Post.Valid(before) {
		return api.Fail(api.BadCursor, "before=%q is not a post id.", before)
	}
	return nil
}

// withChannel reads a channel and runs read at the same time.
func (g channels) withChannel(ctx context.Context, name string, read func(context.Context) error) (ch *tables.Channel, err error) {
	work, ctx := app.SideBySide(ctx)
	work.Go(func() (err error) {
		ch, err = g.readChannel(ctx, name)
		return err
	})
	work.Go(func() error { return read(ctx) })
	err = work.Wait()
	return ch, err
}

// readChannel reads a channel with eventual consistency.
func (g channels) readChannel(ctx context.Context, name string) (*tables.Channel, error) {
	items, err := g.Recent().Get(ctx, tables.Eventual, tables.ChannelKey(name))
	if err != nil {
		return nil, err
	}
	if err := view.ChannelOpen(name, items[0]); err != nil {
		return nil, err
	}
	ch := new(tables.Channel)
	return ch, tables.Unmarshal(items[0], ch)
}

// listing is a page of posts.
type listing struct {
	items []wire.Post
	next  string // id of the post after which the next page begins; "" if there is none
}

// newest reads a channel's posts, newest first, beginning after the post with the id in
// before. It leaves out posts for which keep is false. A strong read is never answered
// from memory.
func (g channels) newest(ctx context.Context, c tables.Consistency, channel, before string, limit int, keep func(*view.Post) bool) (listing, error) {
	l := listing{items: []wire.Post{}}
	q, query := tables.Posts(channel, before, limit+1, c), g.Recent().Query
	q.Only = view.PostAttributes
	if c == tables.Strong {
		query = g.Table.Query
	}
	var pairing view.Pairing
	last := ""
	for range pageRounds {
		page, err := query(ctx, q)
		if err != nil {
			return l, err
		}
		posts, err := pairing.Posts(page.Items)
		if err != nil {
			return l, err
		}
		l.items = slices.Grow(l.items, min(len(posts), limit-len(l.items)))
		for i := range posts {
			p := &posts[i]
			if keep(p) {
				if len(l.items) == limit { // p is one post more than the page takes
					l.next = last
					return l, nil
				}
				l.items = append(l.items, view.PostOf(p, g.Settings.BaseURL))
			}
			last = p.ID
		}
		if page.Next == nil {
			return l, nil
		}
		q.After = page.Next
	}
	l.next = last
	return l, nil
}

// listed reads the posts that an index lists, in two round trips. It reads one post fewer
// than q.Limit, because the last entry only shows that the list goes on.
func (g channels) listed(ctx context.Context, q tables.Query) (listing, error) {
	found, err := g.Recent().Query(ctx, q)
	if err != nil {
		return listing{}, err
	}
	l, refs := listing{items: []wire.Post{}}, found.Items
	if limit := q.Limit - 1; len(refs) > limit {
		refs = refs[:limit]
		l.next = refs[limit-1].Str("parent_sk")
	}
	keys := make([]tables.Key, len(refs))
	for i, r := range refs {
		keys[i] = r.Key()
	}
	items, err := g.GetRecent(ctx, tables.Eventual, view.WithCounters(keys...))
	if err != nil {
		return listing{}, err
	}
	posts, err := view.Posts(items...)
	l.items = slices.Grow(l.items, len(posts))
	for i := range posts {
		if p := &posts[i]; p.Shown() {
			l.items = append(l.items, view.PostOf(p, g.Settings.BaseURL))
		}
	}
	return l, err
}
