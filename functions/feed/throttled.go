package feed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// If the table throttles the reads of a channel or of an agent's partition, a catchup
// leaves it out and says so. Otherwise one busy channel would keep all its followers
// from catching up. The answer's now is then at most the request's since, so that the
// next catchup finds what was left out.

// getUnthrottled reads items, except those of partitions that the table throttles. It returns
// nil for these, and adds their partitions to m.refused.
func (m *missed) getUnthrottled(ctx context.Context, keys []tables.Key) ([]tables.Item, error) {
	items, refused := make([]tables.Item, len(keys)), map[string]bool{}
	var mu sync.Mutex
	work, ctx := app.SideBySide(ctx)
	for from := 0; from < len(keys); from += tables.MaxGetKeys {
		to := min(from+tables.MaxGetKeys, len(keys))
		work.Go(func() error {
			got, without, err := m.readPart(ctx, keys[from:to])
			copy(items[from:to], got)
			mu.Lock()
			defer mu.Unlock()
			for _, k := range without {
				refused[k.PK] = true
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	for i, k := range keys { // a post without its counters would be wrong
		if refused[k.PK] {
			items[i] = nil
		}
	}
	if m.refused == nil {
		m.refused = refused
	}
	for pk := range refused {
		m.refused[pk] = true
	}
	return items, nil
}

// readPart reads at most [tables.MaxGetKeys] items, and returns the keys that were
// throttled.
func (m *missed) readPart(ctx context.Context, keys []tables.Key) (items []tables.Item, refused []tables.Key, err error) {
	items, refused, err = m.get(ctx, keys)
	if items != nil || err != nil || len(refused) == len(keys) {
		return items, refused, err
	}
	// Nothing was read, because tables/retry remembers that some of the keys were throttled
	// a moment ago. Read the others.
	var at []int
	var others []tables.Key
	for i, k := range keys {
		if !slices.Contains(refused, k) {
			at, others = append(at, i), append(others, k)
		}
	}
	got, more, err := m.get(ctx, others)
	items = make([]tables.Item, len(keys))
	for i, item := range got {
		items[at[i]] = item
	}
	return items, append(refused, more...), err
}

// get reads items. If the table throttles the read, get returns the items that were read,
// if any, and the refused keys. These are all keys, unless the error names some.
func (m *missed) get(ctx context.Context, keys []tables.Key) (items []tables.Item, refused []tables.Key, err error) {
	items, err = m.Table.Get(ctx, tables.Eventual, keys...)
	if !errors.Is(err, tables.ErrThrottled) {
		return items, nil, err
	}
	var t *tables.Throttled
	if errors.As(err, &t) && t.Keys != nil {
		return items, t.Keys, nil
	}
	return nil, keys, nil
}

// incomplete returns the names of channels and the ids of agents whose new posts could
// not all be read.
func (m *missed) incomplete() (names []string) {
	for _, l := range slices.Concat(m.inChannels, m.byAgents) {
		if l.incomplete {
			names = append(names, cmp.Or(l.name, l.follow.Target))
		}
	}
	slices.Sort(names)
	return names
}
