package index

import (
	"context"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/tables"
)

// Index is the search index of a channel or of ideas.
type Index interface {
	Tend(ctx context.Context, most search.Level) (due time.Time, err error)
	TendBy(ctx context.Context, at time.Time) error
	AddLate(ctx context.Context, ids ...search.ID) error
}

// Named returns the index of a channel, or of ideas ([tables.SearchIdeas]).
func Named(a *app.App, name string) Index {
	if name == tables.SearchIdeas {
		return OfIdeas(a)
	}
	return Of(a, name)
}

// Arrived returns the index that a new item belongs to, and the item's id in it.
func Arrived(item tables.Item) (name string, id search.ID, err error) {
	if item.Str(tables.AttrType) == tables.TypeIdea {
		id, err = IdeaIDOf(item.Str("id"))
		return tables.SearchIdeas, id, err
	}
	id, err = IDOf(item.Str("id"))
	return item.Str("channel"), id, err
}

// Tend updates the index as [search.Tend] does.
func (c Channel) Tend(ctx context.Context, most search.Level) (due time.Time, err error) {
	return search.Tend(ctx, c, most, c.app.Now)
}

// TendBy makes the schedule tend the index at the given time or earlier. A sweep that
// has taken the index may be past the new work, so TendBy makes the index due again, at
// the latest when the sweep's lease ends.
func (c shelf) TendBy(ctx context.Context, at time.Time) error {
	return c.app.Retry(ctx, func() error {
		items, err := c.app.Table.Get(ctx, tables.Strong, tables.SealDueKey(c.name))
		if err != nil {
			return err
		}
		var stands tables.SealDue
		if err := tables.Unmarshal(items[0], &stands); err != nil {
			return err
		}
		stands.Channel = c.name
		if stands.At > 0 && !stands.Taken && stands.At <= at.UnixMilli() {
			return nil
		}
		if lease := time.UnixMilli(stands.At); stands.Taken && lease.Before(at) {
			return c.app.Once(ctx, stands.Move(lease))
		}
		return c.app.Once(ctx, stands.Move(at))
	})
}
