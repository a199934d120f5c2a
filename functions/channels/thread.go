package channels

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type threadIn struct {
	Ch     string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	ID     string `path:"id" maxLength:"40" doc:"Id of a post or a reply."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Replies on a page."`
	Before string `query:"before" maxLength:"64" doc:"next_before of the previous page."`
}

func (g channels) thread(ctx context.Context, in *threadIn) (*wire.Thread, error) {
	return g.readThread(ctx, in.ID, in.Before, in.Limit, func(ctx context.Context) (*view.Post, error) {
		return g.readPost(ctx, in.Ch, in.ID)
	})
}

type findIn struct {
	ID     string `path:"id" maxLength:"40" doc:"Id of a post or a reply."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Replies on a page."`
	Before string `query:"before" maxLength:"64" doc:"next_before of the previous page."`
}

// find reads a thread as [channels.thread] does. It looks up the post's channel in an index.
func (g channels) find(ctx context.Context, in *findIn) (*wire.Thread, error) {
	none := api.Fail(api.NotFound, "There is no post %q.", in.ID)
	if !id.Post.Valid(in.ID) {
		return nil, none
	}
	return g.readThread(ctx, in.ID, in.Before, in.Limit, func(ctx context.Context) (*view.Post, error) {
		page, err := g.Recent().Query(ctx, tables.PostWithID(in.ID))
		if err != nil {
			return nil, err
		}
		if len(page.Items) == 0 {
			return nil, none
		}
		channel, post := tables.PostOfCounters(page.Items[0].Key())
		return g.readPost(ctx, channel, post)
	})
}

// readThread reads a post with the func read, and its direct replies at the same time.
// Each takes at most two round trips.
func (g channels) readThread(ctx context.Context, post, from string, limit int, read func(context.Context) (*view.Post, error)) (*wire.Thread, error) {
	before, err := api.CursorID(from, id.Post)
	if err != nil {
		return nil, err
	}
	var p *view.Post
	var replies listing
	work, ctx := app.SideBySide(ctx)
	work.Go(func() (err error) {
		p, err = read(ctx)
		return err
	})
	work.Go(func() (err error) {
		replies, err = g.listed(ctx, tables.Replies(post, before, limit+1))
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	if !p.Shown() && len(replies.items) == 0 {
		return nil, view.PostGone(&p.Post, "")
	}
	out := &wire.Thread{Post: view.PostOf(p, g.Settings.BaseURL), Items: replies.items}
	if replies.next != "" {
		out.More, out.NextBefore = true, api.EncodeCursor(replies.next)
	}
	return out, nil
}
