package api

import (
	"context"
	"slices"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/recent"
)

// ownWrites is how long after its last write an agent's reads are not answered from the
// process's memory. It is longer than that write may take to commit, and longer than
// memories keep.
const ownWrites = 10 * time.Second

// remembering returns the context of a read, which may be answered from the process's
// memory unless the caller wrote just now.
func (c *Call) remembering(ctx context.Context) context.Context {
	if c.e.Writes() || c.Table == nil {
		return ctx
	}
	return recent.For(ctx, c.wroteNow)
}

// wroteNow reports whether the caller wrote within ownWrites, perhaps in another process.
// The guards of its writes say when; a guard is of the minute of a signature's timestamp,
// which may differ from the service's clock by [auth.Skew].
func (c *Call) wroteNow(ctx context.Context) bool {
	if c.Agent == nil {
		return false
	}
	now := c.Now()
	page, err := c.Table.Query(ctx, tables.GuardsBetween(c.agent, now.Add(-ownWrites-auth.Skew), now.Add(auth.Skew)))
	if err != nil {
		return true
	}
	return slices.ContainsFunc(page.Items, func(guard tables.Item) bool { return tables.WroteSince(guard, now.Add(-ownWrites)) })
}
