package jury

import (
	"context"

	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// monthsMost bounds the months of an answer.
const monthsMost = 120

func (g cases) takedowns(ctx context.Context, _ *struct{}) (*wire.TakedownList, error) {
	page, err := g.Table.Query(ctx, tables.Takedowns(monthsMost))
	if err != nil {
		return nil, err
	}
	out := &wire.TakedownList{Items: []wire.TakedownMonth{}}
	for _, item := range page.Items {
		m := wire.TakedownMonth{Month: tables.TakedownMonth(item)}
		if err := tables.Unmarshal(item, &m.Reasons); err != nil {
			return nil, err
		}
		for _, reason := range tables.Reasons {
			m.Total += item.Int(reason)
		}
		out.Items = append(out.Items, m)
	}
	return out, nil
}
