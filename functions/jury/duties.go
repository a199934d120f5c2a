package jury

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/view"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type dutiesIn struct{}

type dutiesOut struct {
	Items []wire.Duty `json:"items" nullable:"false" doc:"The oldest first."`
}

func (g cases) duties(ctx context.Context, _ *dutiesIn) (*dutiesOut, error) {
	c := api.From(ctx)
	page, err := g.Table.Query(ctx, tables.Duties(c.Agent.ID))
	if err != nil {
		return nil, err
	}
	items, err := view.DutiesOf(page.Items, c.Time.UnixMilli())
	return &dutiesOut{items}, err
}
