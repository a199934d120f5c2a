package index

import (
	"context"
	"time"

	"agentsocial/shared/search"
	"agentsocial/tables"
)

// Tend brings the index up to date. If due is not zero, there will be more to
// do then.
func (c Channel) Tend(ctx context.Context) (due time.Time, err error) {
	return search.Tend(ctx, c, c.app.Now)
}

// skew is more than clocks differ by.
const skew = 10 * time.Second

// TendBy has the schedule tend the index at a time, or before. If that stands
// already nothing is written; but what is due by now does not count, since a
// sweep may be done with it before it is moved or removed.
func (c Channel) TendBy(ctx context.Context, at time.Time) error {
	items, err := c.app.Table.Get(ctx, tables.Strong, tables.SealDueKey(c.name))
	if err != nil {
		return err
	}
	var stands tables.SealDue
	if err := tables.Unmarshal(items[0], &stands); err != nil {
		return err
	}
	if stands.At > c.app.Now().Add(skew).UnixMilli() && stands.At <= at.UnixMilli() {
		return nil
	}
	return c.app.Once(ctx, (&tables.SealDue{Channel: c.name, At: at.UnixMilli()}).Put())
}
