package tally

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// countSupport counts the current state of the support in records. The transactions for
// one idea run one after another. If they keep conflicting with other batches, the stream
// delivers the support again.
func (f reader) countSupport(ctx context.Context, records []tables.StreamRecord) error {
	byIdea := map[string][]tables.Item{}
	seen := map[tables.Key]bool{}
	for _, r := range records {
		if idea := r.New.Str("idea"); !seen[r.Key] {
			seen[r.Key] = true
			byIdea[idea] = append(byIdea[idea], r.New)
		}
	}
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for _, idea := range slices.Sorted(maps.Keys(byIdea)) {
		work.Go(func() error {
			for chunk := range slices.Chunk(byIdea[idea], tallyMost) {
				err := f.thrice(ctx, func(ctx context.Context) error { return f.tryCountSupport(ctx, idea, chunk) })
				if contended(err) {
					err = f.wait(ctx, chunk, err)
				}
				if err != nil {
					return fmt.Errorf("tally: %w", err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}

// tryCountSupport counts the uncounted support of some agents, on condition that neither
// it nor the idea's counters changed meanwhile.
func (f reader) tryCountSupport(ctx context.Context, idea string, support []tables.Item) error {
	keys := []tables.Key{tables.IdeaCountersKey(idea)}
	for _, s := range support {
		keys = append(keys, s.Key())
	}
	items, err := f.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return err
	}
	var waiting []*tables.Support
	var n int64
	for _, item := range items[1:] {
		if item.Str(tables.AttrType) != tables.TypeSupport {
			continue
		}
		s := new(tables.Support)
		if err := tables.Unmarshal(item, s); err != nil {
			return err
		}
		n += s.Adds()
		waiting = append(waiting, s)
	}
	if len(waiting) == 0 {
		return nil
	}
	var writes []tables.Write
	var counters tables.IdeaCounters
	if items[0] != nil {
		if err := tables.Unmarshal(items[0], &counters); err != nil {
			return err
		}
		writes = counters.Add(n, f.Now())
	}
	for _, s := range waiting {
		writes = append(writes, s.Count(&counters))
	}
	return f.Transact(ctx, writes...)
}
