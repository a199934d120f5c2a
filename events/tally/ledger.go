package tally

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// countMovements adds up revenue and payments, by day and shard. A movement's item stores
// whether it was counted.
func (f reader) countMovements(ctx context.Context, records []tables.StreamRecord) error {
	bySum := map[tables.Key][]tables.Key{}
	for _, r := range records {
		var m tables.Movement
		if err := tables.Unmarshal(r.New, &m); err != nil {
			return err
		}
		if sum := m.DaySumKey(); sum != (tables.Key{}) && !slices.Contains(bySum[sum], r.Key) {
			bySum[sum] = append(bySum[sum], r.Key)
		}
	}
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for _, sum := range slices.SortedFunc(maps.Keys(bySum), compareKeys) {
		work.Go(func() error {
			for chunk := range slices.Chunk(bySum[sum], tallyMost) {
				if err := f.Retry(ctx, func() error { return f.trySum(ctx, chunk) }); err != nil {
					return fmt.Errorf("tally: %w", err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}

func (f reader) trySum(ctx context.Context, movements []tables.Key) error {
	items, err := f.Table.Get(ctx, tables.Strong, movements...)
	if err != nil {
		return err
	}
	var fresh []tables.Movement
	for _, item := range items {
		if item == nil || item.Bool("counted") {
			continue
		}
		var m tables.Movement
		if err := tables.Unmarshal(item, &m); err != nil {
			return err
		}
		fresh = append(fresh, m)
	}
	if len(fresh) == 0 {
		return nil
	}
	return f.Transact(ctx, tables.CountMovements(fresh)...)
}
