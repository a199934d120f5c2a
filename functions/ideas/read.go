package ideas

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type readIn struct {
	ID string `path:"id" maxLength:"40" doc:"Id of an idea."`
}

// Reads implements [api.Reader].
func (in *readIn) Reads(agent string) []tables.Key {
	keys := []tables.Key{tables.IdeaKey(in.ID), tables.IdeaCountersKey(in.ID)}
	if agent != "" {
		keys = append(keys, tables.SupportKey(in.ID, agent))
	}
	return keys
}

func (g ideas) read(ctx context.Context, in *readIn) (*wire.Idea, error) {
	c := api.From(ctx)
	i, n, err := find(c, in.ID)
	if err != nil {
		return nil, err
	}
	v := view.IdeaOf(i, n)
	if c.Agent != nil {
		v = view.IdeaFor(i, n, c.Item(tables.SupportKey(in.ID, c.Agent.ID)))
	}
	return &v, nil
}
