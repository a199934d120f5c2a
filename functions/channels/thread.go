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

// thread reads a post and its direct replies at the same time, in two round trips.
func (g channels) thread(ctx context.Context, in *threadIn) (*wire.Thread, error) {
	before, err := api.CursorID(in.Before, id.Post)
	if err != nil {
		return nil, err
	}
	var p *view.Post
	var replies listing
	work, ctx := app.SideBySide(ctx)
	work.Go(func() (err error) {
		p, err = g.readPost(ctx, in.Ch, in.ID)
		return err
	})
	work.Go(func() (err error) {
		replies, err = g.listed(ctx, tables.Replies(in.Ch, in.ID, before, in.Limit+1))
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
