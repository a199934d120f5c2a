package recent

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentsocial/tables"
)

// crowd counts the requests in a second that need an item.
type crowd struct {
	since time.Time // when the second began
	n     int
	busy  bool // there was a crowd in the second before
}

const (
	crowdFor   = time.Second
	crowdLeast = 20 // after this many requests in a second there is a crowd
)

// add counts a request, and reports whether there is a crowd.
func (c *crowd) add(now time.Time) bool {
	if !within(crowdFor, c.since, now) {
		c.busy = c.n >= crowdLeast && within(2*crowdFor, c.since, now)
		c.since, c.n = now, 0
	}
	c.n++
	return c.busy || c.n > crowdLeast
}

// GetCrowded reads items strongly, for a request whose outcome depends on them. crowded
// names public items that many requests may need at once, such as a post that everybody
// votes on.
//
// DynamoDB reads an item at most 3 000 times a second. So a process that often needs a
// crowded item reads it once a second. If the table refuses a read, the process takes the
// item from memory. Only items that were read strongly are taken.
func (r Reader) GetCrowded(ctx context.Context, crowded []tables.Key, keys ...tables.Key) ([]tables.Item, error) {
	if !r.Memory.on() {
		return r.Table.Get(ctx, tables.Strong, keys...)
	}
	may := func(k tables.Key) bool { return k.Public() && slices.Contains(crowded, k) }
	items := make([]tables.Item, len(keys))
	for i, k := range keys {
		if may(k) {
			items[i] = r.Memory.needed(k)
		}
	}
	err := r.fill(ctx, tables.Strong, keys, items, may)
	for err != nil && r.Memory.relieve(err, keys, items, may) {
		err = r.fill(ctx, tables.Strong, keys, items, may)
	}
	if err != nil {
		return nil, err
	}
	return items, nil
}

// needed counts a request that needs an item. It returns the item if there is a crowd and
// the process read it strongly within the last second, else nil.
func (m *Memory) needed(k tables.Key) tables.Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	e := m.entries[question{key: k}]
	if e == nil || !e.crowd.add(now) || !e.strong || !within(min(crowdFor, m.keep), e.at, now) {
		return nil
	}
	return e.page.Items[0]
}

// relieve takes from memory the items that, according to err, the table refused. It reports
// whether it has them all. A refusal also counts as a crowd, since other processes may
// cause it.
func (m *Memory) relieve(err error, keys []tables.Key, items []tables.Item, may func(tables.Key) bool) (ok bool) {
	var refused *tables.Throttled
	if !errors.As(err, &refused) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for i, k := range keys {
		if !slices.Contains(refused.Keys, k) {
			continue
		}
		if !may(k) {
			return false
		}
		e := m.entries[question{key: k}]
		if e == nil {
			e = &entry{of: question{key: k}, at: now, unread: true, crowd: crowd{since: now}}
			m.add(e)
		}
		e.crowd.n = max(e.crowd.n, crowdLeast)
		if !e.strong || !m.fresh(e, now) {
			return false
		}
		items[i], ok = e.page.Items[0], true
	}
	return ok
}
