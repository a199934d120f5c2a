package embedded

import (
	"context"
	"fmt"
	"slices"

	"agentsocial/tables"
)

// Get implements [tables.Backend]. It reads all items at one moment, which DynamoDB does
// not guarantee.
func (t *Table) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	defer tables.Trip(ctx)()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(keys) == 0 || len(keys) > tables.MaxGetKeys {
		return nil, invalid("a read has %d keys, want 1 to %d", len(keys), tables.MaxGetKeys)
	}
	for _, k := range keys {
		if err := checkKey(k); err != nil {
			return nil, err
		}
	}
	fault := t.fault(KindGet, func() []tables.Key { return keys })
	if fault == Throttled {
		return nil, fmt.Errorf("embedded: injected: %w", tables.ErrThrottled)
	}
	items := make([]tables.Item, len(keys))
	sizes := make([]int, 0, len(keys)) // a duplicate key counts once
	err := t.view(fault == Stale && c == tables.Eventual, func(now *trees) error {
		for i, k := range keys {
			found, err := now.read(itemKey(k))
			if err != nil {
				return err
			}
			items[i] = found.item
			if !slices.Contains(keys[:i], k) {
				sizes = append(sizes, found.size)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tables.Spend(ctx, tables.GetUnits(c, sizes...), 0)
	return items, nil
}
