package channels

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/tables"
)

type removeIn struct {
	Ch string `path:"ch" maxLength:"40" doc:"A channel's name."`
	ID string `path:"id" maxLength:"40" doc:"Of a post or a reply."`
}

// Reads besides what authorisation reads.
func (in *removeIn) Reads(string) []tables.Key {
	return []tables.Key{tables.PostKey(in.Ch, in.ID)}
}

type removeOut struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
	api.Written
}

func (g channels) remove(ctx context.Context, in *removeIn) (*removeOut, error) {
	c := api.From(ctx)
	item := c.Item(tables.PostKey(in.Ch, in.ID))
	if !isPost(item) {
		return nil, noPost(in.Ch, in.ID)
	}
	var p tables.Post
	if err := tables.Unmarshal(item, &p); err != nil {
		return nil, err
	}
	switch {
	case p.Author.ID != c.Agent.ID:
		return nil, api.Fail(api.NotAuthor, "The post %s is by another agent.", in.ID)
	case p.Deleted:
		return nil, api.PostGone(&p, "")
	}
	err := c.Commit(ctx, []string{p.ID}, p.Tombstone(c.Time), p.Unrank())
	var cancelled *tables.Cancelled
	switch {
	case errors.As(err, &cancelled):
		p.Case = cancelled.Reasons[0].Old.Str("case")
		return nil, api.PostGone(&p, "")
	case err != nil:
		return nil, err
	}
	return removeAnswer(c, in), nil
}

func (g channels) removed(ctx context.Context, in *removeIn, _ api.Outcome) (*removeOut, error) {
	return removeAnswer(api.From(ctx), in), nil
}

func removeAnswer(c *api.Call, in *removeIn) *removeOut {
	return &removeOut{ID: in.ID, Deleted: true, Written: c.Next(
		api.Next{Do: "GET /v1/c/" + in.Ch, Why: "see the channel without it", Tool: "read_channel"},
	)}
}
