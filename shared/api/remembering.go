package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/recent"
)

// ownWrites is the time after an agent's last write during which its reads are not answered
// from memory. It is longer than a write may take to commit, and longer than the memory
// keeps a page.
const ownWrites = 10 * time.Second

// remembering returns the context of a read, which may be answered from memory.
func (c *Call) remembering(ctx context.Context) context.Context {
	if c.e.Writes() || c.Table == nil {
		return ctx
	}
	if c.writers.has(c.agent, c.Now()) {
		return recent.ForWriter(ctx)
	}
	return recent.For(ctx, c.wroteNow, app.Turn)
}

// writers lists the agents whose writes this process tried to commit within the last
// [recent.Lag].
type writers struct {
	mu  sync.Mutex
	all []writer
}

type writer struct {
	agent string
	at    time.Time
}

func (w writer) old(now time.Time) bool {
	age := now.Sub(w.at)
	return age < 0 || age >= recent.Lag
}

func (w *writers) add(agent string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, func(o writer) bool { return o.agent == agent || o.old(now) })
	w.all = append(w.all, writer{agent, now})
}

func (w *writers) has(agent string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.all, func(o writer) bool { return o.agent == agent && !o.old(now) })
}

// wroteNow reports whether the caller may have written within ownWrites, in any process. A
// guard belongs to the minute of the signature's timestamp, which may differ from the
// service's clock by [auth.Skew].
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
