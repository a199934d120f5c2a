package channels

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type searchIn struct {
	Ch     string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	Q      string `query:"q" required:"true" maxLength:"1000" doc:"1-8 words of 1-32 letters and digits. A word also finds longer words that begin with it. Case, accents and order do not matter. In scripts without spaces, any piece of text is a word."`
	Before string `query:"before" maxLength:"40" doc:"Only posts before this one: a post id, or next_before of the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"20"`
}

// search finds posts with the channel's index, usually in at most six round trips. If these
// find nothing, it goes on with older posts, within a budget ([search.Budget]).
func (g channels) search(ctx context.Context, in *searchIn) (*wire.SearchPage, error) {
	r := search.Request{Limit: in.Limit, Spent: tables.UsageOf(ctx).ReadUnits}
	var err error
	if r.Terms, err = search.Query(in.Q); err != nil {
		var wrong *search.QueryError
		if errors.As(err, &wrong) {
			return nil, api.BadField("q", "%s", wrong.Problem)
		}
		return nil, err
	}
	if err := checkBefore(in.Before); err != nil {
		return nil, err
	}
	if in.Before != "" {
		if r.Before, err = index.IDOf(in.Before); err != nil {
			return nil, err
		}
		if r.Before == (search.ID{}) { // zero would mean no bound; no post is older than ID 1
			r.Before[len(r.Before)-1] = 1
		}
	}
	var found search.Found[view.Post]
	_, err = g.withChannel(ctx, in.Ch, func(ctx context.Context) (err error) {
		found, err = search.Search(ctx, index.Of(g.App, in.Ch), r)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &wire.SearchPage{Items: make([]wire.Post, len(found.Posts))}
	for i := range found.Posts {
		out.Items[i] = view.PostOf(&found.Posts[i].Value, g.Settings.BaseURL)
	}
	if found.Next != (search.ID{}) {
		out.More, out.NextBefore = true, index.PostID(found.Next)
	}
	return out, nil
}
