package embedded

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"agentsocial/tables"
)

// Get implements [tables.Backend]. All items are of one moment, which is more
// than DynamoDB promises.
func (t *Table) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	defer tables.Trip(ctx)()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(keys) == 0 || len(keys) > tables.MaxGetKeys {
		return nil, invalid("a read of %d items", len(keys))
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
	err := t.view(fault == Stale && c == tables.Eventual, func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketItems)
		for i, k := range keys {
			encoded := b.Get(itemKey(k))
			if encoded == nil {
				continue
			}
			var err error
			if items[i], err = decodeItem(encoded); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tables.Spend(ctx, tables.GetUnits(c, distinctSizes(keys, items)...), 0)
	return items, nil
}

// distinctSizes are the sizes of the items, those asked for twice once.
func distinctSizes(keys []tables.Key, items []tables.Item) []int {
	sizes := make([]int, 0, len(items))
	seen := make(map[tables.Key]bool, len(keys))
	for i, k := range keys {
		if !seen[k] {
			seen[k] = true
			sizes = append(sizes, items[i].Size())
		}
	}
	return sizes
}

// view reads from a snapshot: of now, or of some commits ago if stale is
// wanted and there is one.
func (t *Table) view(stale bool, read func(*bbolt.Tx) error) error {
	if stale {
		if found, err := t.past.view(read); found {
			return err
		}
	}
	err := t.db.View(read)
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}
