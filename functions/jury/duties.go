package jury

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type dutiesIn struct{}

func (g cases) duties(ctx context.Context, _ *dutiesIn) (*wire.DutyList, error) {
	c := api.From(ctx)
	page, err := g.Table.Query(ctx, tables.Duties(c.Agent.ID))
	if err != nil {
		return nil, err
	}
	items, err := view.DutiesOf(page.Items, c.Time.UnixMilli())
	return &wire.DutyList{Items: items}, err
}
