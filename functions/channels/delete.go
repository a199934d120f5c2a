package channels

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type removeIn struct {
	Ch string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	ID string `path:"id" maxLength:"40" doc:"Id of a post or a reply."`
}

// Reads implements [api.Reader].
func (in *removeIn) Reads(string) []tables.Key {
	return []tables.Key{tables.PostKey(in.Ch, in.ID)}
}

type removed struct{}

func (g channels) remove(ctx context.Context, in *removeIn) (*removed, error) {
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
		return nil, view.PostGone(&p, "")
	}
	outcome := &removed{}
	return outcome, c.Commit(ctx, outcome, p.Tombstone(c.Time).Else(func(old tables.Item) error {
		p.Case = old.Str("case")
		return view.PostGone(&p, "")
	}), p.Unrank())
}

func (g channels) removeAnswer(ctx context.Context, in *removeIn, _ *removed) (*wire.PostDeletionResult, error) {
	return &wire.PostDeletionResult{ID: in.ID, Deleted: true, Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/c/" + in.Ch, Why: "see the channel without it", Tool: "read_channel"},
	)}, nil
}
