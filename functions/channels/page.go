package channels

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/id"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type pageIn struct {
	Ch      string `path:"ch" maxLength:"40"`
	Before  string `query:"before" maxLength:"40" doc:"Only posts before this one: a post id, or next_before of the previous page."`
	Limit   int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Replies bool   `query:"replies" default:"true" doc:"false leaves replies out."`
}

type pageOut struct {
	Channel    wire.Channel `json:"channel"`
	Items      []wire.Post  `json:"items" nullable:"false"`
	More       bool         `json:"more"`
	NextBefore string       `json:"next_before,omitempty" doc:"Send it as before to get the next page."`
}

// pageRounds bounds how often a page that filters much goes on reading.
const pageRounds = 4

func (g channels) page(ctx context.Context, in *pageIn) (*pageOut, error) {
	if in.Before != "" && !id.Post.Valid(in.Before) {
		return nil, api.Fail(api.BadCursor, "before=%q is not a post id.", in.Before)
	}
	var ch tables.Channel
	var list listing
	work, ctx := app.SideBySide(ctx)
	work.Go(func() error {
		items, err := g.Table.Get(ctx, tables.Eventual, tables.ChannelKey(in.Ch))
		if err != nil {
			return err
		}
		if items[0] == nil {
			return noChannel(in.Ch)
		}
		return tables.Unmarshal(items[0], &ch)
	})
	work.Go(func() (err error) {
		list, err = g.newest(ctx, in.Ch, in.Before, in.Limit, func(p *tables.Post, k *tables.PostCounters) bool {
			return (in.Replies || p.Parent == "") && (!p.Deleted || k.Replies > 0)
		})
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	return &pageOut{wire.ChannelOf(&ch), list.items, list.next != "", list.next}, nil
}

// listing is some posts and the id of the last one looked at, if there may be more.
type listing struct {
	items []wire.Post
	next  string
}

// newest reads a channel's posts before one, newest first, as far as keep wants them.
func (g channels) newest(ctx context.Context, channel, before string, limit int, keep func(*tables.Post, *tables.PostCounters) bool) (listing, error) {
	l := listing{items: []wire.Post{}}
	q := tables.Query{
		PK: tables.ChannelPK(channel), From: tables.PostPrefix, To: tables.PostPrefix + "\U0010FFFF",
		Desc: true, Limit: 2*limit + 2, // a post is two items
	}
	if before != "" {
		q.After = &tables.Position{SK: tables.PostKey(channel, before).SK}
	}
	var k tables.PostCounters // a post's numbers come right before it
	last := ""
	for range pageRounds {
		page, err := g.Table.Query(ctx, q)
		if err != nil {
			return l, err
		}
		for _, item := range page.Items {
			if item.Str(tables.AttrType) == tables.TypePostCounters {
				if err := tables.Unmarshal(item, &k); err != nil {
					return l, err
				}
				continue
			}
			var p tables.Post
			if err := tables.Unmarshal(item, &p); err != nil {
				return l, err
			}
			if keep(&p, &k) {
				if len(l.items) == limit { // one more is there
					l.next = last
					return l, nil
				}
				l.items = append(l.items, wire.PostOf(&p, &k, g.Settings.BaseURL))
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
