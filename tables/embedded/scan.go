package embedded

import (
	"context"

	"agentsocial/tables"
)

var _ tables.Scanner = (*Table)(nil)

// beyond sorts after every item's key, since no UTF-8 text begins with it.
const beyond = "\xff"

// Scan implements [tables.Scanner]. It sees the table at one moment.
func (t *Table) Scan(ctx context.Context, visit func(tables.Item) error) error {
	return t.view(false, func(now *trees) error {
		return now.readRange("", beyond, false, nil, func(found *stored) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			return true, visit(found.item)
		})
	})
}
