package data

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/shared/app/owned"
	"agentsocial/shared/wire"
)

type exportIn struct {
	Before string `query:"before" maxLength:"1400" doc:"next_before of the previous page."`
}

func (g data) export(ctx context.Context, in *exportIn) (*wire.ExportPage, error) {
	c := api.From(ctx)
	var from []string
	if in.Before != "" {
		var err error
		if from, err = api.DecodeCursor(in.Before, owned.PositionLen); err != nil {
			return nil, err
		}
	}
	page, err := (owned.Exporter{App: g.App}).Page(ctx, c.Agent, from)
	if errors.Is(err, owned.ErrPosition) {
		return nil, api.ForeignCursor()
	}
	if err != nil {
		return nil, err
	}
	out := &wire.ExportPage{Agent: c.Agent.ID, Items: make([]wire.ExportItem, len(page.Items))}
	for i, item := range page.Items {
		out.Items[i] = wire.ExportItem(item)
	}
	if page.Next != nil {
		out.More, out.NextBefore = true, api.EncodeCursor(page.Next...)
	}
	return out, nil
}
