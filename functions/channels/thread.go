package channels

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/id"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type threadIn struct {
	Ch     string `path:"ch" maxLength:"40"`
	ID     string `path:"id" maxLength:"40"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Replies on a page."`
	Before string `query:"before" maxLength:"64" doc:"next_before of the previous page."`
}

type threadOut struct {
	wire.Post
	Items      []wire.Post `json:"items" nullable:"false" doc:"Direct replies, newest first."`
	More       bool        `json:"more"`
	NextBefore string      `json:"next_before,omitempty" doc:"Send it as before to get more replies."`
}

// thread reads a post and its direct replies: two round trips, since which
// replies there are does not depend on what the post says.
func (g channels) thread(ctx context.Context, in *threadIn) (*threadOut, error) {
	before := ""
	if in.Before != "" {
		p, err := api.DecodeCursor(in.Before, 1)
		if err != nil {
			return nil, err
		}
		if before = p[0]; !id.Post.Valid(before) {
			return nil, api.Fail(api.BadCursor, "before is not a cursor that this endpoint gave out.")
		}
	}
	var p *tables.Post
	var k *tables.PostCounters
	var found tables.Page
	work, wctx := app.SideBySide(ctx)
	work.Go(func() (err error) {
		p, k, err = g.readPost(wctx, in.Ch, in.ID)
		return err
	})
	work.Go(func() (err error) {
		q := tables.Query{Index: tables.ByParent, PK: tables.RepliesPK(in.ID), Desc: true, Limit: in.Limit + 1}
		if before != "" {
			q.After = &tables.Position{SK: before, Key: tables.PostKey(in.Ch, before)}
		}
		found, err = g.Table.Query(wctx, q)
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	out := &threadOut{Post: wire.PostOf(p, k, g.Settings.BaseURL), Items: []wire.Post{}}
	replies := found.Items
	if len(replies) > in.Limit {
		replies = replies[:in.Limit]
		out.More = true
		out.NextBefore = api.EncodeCursor(replies[in.Limit-1].Str("parent_sk"))
	}
	if err := g.fill(ctx, in.Ch, replies, out); err != nil {
		return nil, err
	}
	if p.Deleted && len(out.Items) == 0 && k.Replies == 0 {
		return nil, api.Fail(api.Deleted, "The post %s was deleted.", in.ID)
	}
	return out, nil
}

// fill reads the replies that an index named.
func (g channels) fill(ctx context.Context, channel string, replies []tables.Item, out *threadOut) error {
	var keys []tables.Key
	for _, r := range replies {
		post := r.Str("parent_sk")
		keys = append(keys, tables.PostKey(channel, post), tables.PostCountersKey(channel, post))
	}
	items, err := g.GetAll(ctx, tables.Eventual, keys)
	if err != nil {
		return err
	}
	for i := 0; i < len(items); i += 2 {
		var p tables.Post
		var k tables.PostCounters
		if err := errors.Join(tables.Unmarshal(items[i], &p), tables.Unmarshal(items[i+1], &k)); err != nil {
			return err
		}
		if items[i] != nil && (!p.Deleted || k.Replies > 0) {
			out.Items = append(out.Items, wire.PostOf(&p, &k, g.Settings.BaseURL))
		}
	}
	return nil
}
