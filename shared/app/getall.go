package app

import (
	"context"

	"agentsocial/tables"
)

// GetAll is the backend's Get for any number of keys, with several calls in parallel if
// necessary.
func (a *App) GetAll(ctx context.Context, c tables.Consistency, keys []tables.Key) ([]tables.Item, error) {
	return getAll(ctx, a.Table.Get, c, keys)
}

// GetRecent is GetAll for public content ([App.Recent]).
func (a *App) GetRecent(ctx context.Context, c tables.Consistency, keys []tables.Key) ([]tables.Item, error) {
	return getAll(ctx, a.Recent().Get, c, keys)
}

type get func(context.Context, tables.Consistency, ...tables.Key) ([]tables.Item, error)

func getAll(ctx context.Context, get get, c tables.Consistency, keys []tables.Key) ([]tables.Item, error) {
	if 0 < len(keys) && len(keys) <= tables.MaxGetKeys {
		return get(ctx, c, keys...)
	}
	items := make([]tables.Item, len(keys))
	var work Group
	for from := 0; from < len(keys); from += tables.MaxGetKeys {
		part := keys[from:min(from+tables.MaxGetKeys, len(keys))]
		work.Go(func() error {
			got, err := get(ctx, c, part...)
			copy(items[from:], got)
			return err
		})
	}
	return items, work.Wait()
}
