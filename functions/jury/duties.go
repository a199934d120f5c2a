package jury

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type dutiesIn struct{}

func (g cases) duties(ctx context.Context, _ *dutiesIn) (*wire.Duties, error) {
	c := api.From(ctx)
	page, err := g.Table.Query(ctx, tables.Duties(c.Agent.ID))
	if err != nil {
		return nil, err
	}
	items, err := view.DutiesOf(page.Items, c.Time.UnixMilli())
	return &wire.Duties{Items: items}, err
}
