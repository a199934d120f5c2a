package embedded

import (
	"context"

	"agentsocial/tables"
)

var _ tables.Scanner = (*Table)(nil)

// beyond is after every item's key: no UTF-8 begins with it.
const beyond = "\xff"

// Scan implements [tables.Scanner] with a view of one moment.
func (t *Table) Scan(ctx context.Context, visit func(tables.Item) error) error {
	return t.view(false, func(now *trees) error {
		return now.items.walk("", beyond, false, func(_ string, found *stored) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			return true, visit(found.give())
		})
	})
}
