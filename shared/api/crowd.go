package api

import (
	"errors"
	"slices"
	"sync"
	"time"

	"agentsocial/tables"
)

// crowds keeps items that many requests of this process need within a second, such as a
// post that everybody votes on ([CrowdReader]). DynamoDB serves 3 000 reads of an item in
// a second, and no more. A process that needs an item often reads it once a second, and if
// the table refuses that, takes what it read up to two seconds ago. So other processes may
// see a change two seconds late. The one that makes it sees it at once.
type crowds struct {
	mu sync.Mutex
	m  map[tables.Key]*crowd
}

// crowd is an item's requests in a second.
type crowd struct {
	since time.Time // when the second began
	n     int
	busy  bool // the second before had many
	item  tables.Item
	at    time.Time // when the item was read
}

const (
	crowdFor   = time.Second
	crowdLeast = 20      // so many requests in a second are a crowd
	crowdMost  = 1 << 10 // items that are counted
)

// recall counts a request that needs an item. It returns the item if there is a crowd and
// the item is known, else nil.
func (o *crowds) recall(key tables.Key, now time.Time) tables.Item {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.m[key]
	if e == nil {
		if e = o.begin(key, now); e == nil {
			return nil
		}
	}
	if age := now.Sub(e.since); age < 0 || age >= crowdFor {
		e.busy = e.n >= crowdLeast && age < 2*crowdFor
		e.since, e.n = now, 0
	}
	if e.n++; (e.busy || e.n > crowdLeast) && !e.at.Before(e.since) && !e.at.After(now) {
		return e.item
	}
	return nil
}

// latest returns an item that this process read up to two seconds ago; nil if none. The
// table refused to read it, so there is a crowd, though perhaps in other processes.
func (o *crowds) latest(key tables.Key, now time.Time) tables.Item {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.m[key]
	if e == nil {
		return nil
	}
	e.n = max(e.n, crowdLeast)
	if now.Sub(e.at).Abs() < 2*crowdFor {
		return e.item
	}
	return nil
}

// begin makes room for an item; nil if there is none.
func (o *crowds) begin(key tables.Key, now time.Time) *crowd {
	if len(o.m) >= crowdMost {
		for k, e := range o.m {
			if age := now.Sub(e.since); age < 0 || age >= 2*crowdFor {
				delete(o.m, k)
			}
		}
	}
	if len(o.m) >= crowdMost {
		return nil
	}
	if o.m == nil {
		o.m = map[tables.Key]*crowd{}
	}
	e := &crowd{since: now}
	o.m[key] = e
	return e
}

// remember keeps an item that was just read.
func (o *crowds) remember(key tables.Key, item tables.Item, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.m[key]; e != nil {
		e.item, e.at = item, now
	}
}

// forget drops the items that were just written.
func (o *crowds) forget(writes []tables.Write) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range writes {
		delete(o.m, w.Key)
	}
}

// recall returns an item that a crowd needs, if this process knows it; else nil.
func (c *Call) recall(key tables.Key) tables.Item {
	if !slices.Contains(c.crowded, key) {
		return nil
	}
	return c.crowds.recall(key, c.Now())
}

// remember keeps an item that was just read, if a crowd may need it.
func (c *Call) remember(key tables.Key, item tables.Item) {
	if slices.Contains(c.crowded, key) {
		c.crowds.remember(key, item, c.Now())
	}
}

// recallRefused takes the items of keys that err says the table refused from what a crowd
// needs. It returns whether all could be taken, and the other keys.
func (c *Call) recallRefused(err error, keys []tables.Key) (others []tables.Key, ok bool) {
	var refused *tables.Throttled
	if !errors.As(err, &refused) || len(refused.Keys) == 0 {
		return nil, false
	}
	for _, k := range keys {
		if !slices.Contains(refused.Keys, k) {
			others = append(others, k)
			continue
		}
		if !slices.Contains(c.crowded, k) {
			return nil, false
		}
		item := c.crowds.latest(k, c.Now())
		if item == nil {
			return nil, false
		}
		c.items[k] = item
	}
	return others, true
}
