package api

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"agentsocial/tables"
)

// When a credential was last used is kept to the day: its first request of a
// day, as far as this process knows, says so once its answer is made, in an item
// among the quotas, where functions that only read may write, and on the
// condition that nobody said so before.

// usedToday remembers which credentials said so already.
type usedToday struct {
	mu   sync.Mutex
	day  time.Time
	seen map[tables.Key]bool
}

const usedTodayMost = 1 << 14

// notePatience is how long an answer may wait for its note.
const notePatience = 150 * time.Millisecond

// first reports whether a credential has not been seen on a day.
func (u *usedToday) first(cred tables.Key, day time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil || day.After(u.day) || len(u.seen) >= usedTodayMost {
		u.day, u.seen = day, map[tables.Key]bool{}
	}
	if u.seen[cred] || day.Before(u.day) {
		return false
	}
	u.seen[cred] = true
	return true
}

// has reports whether a credential was seen today, and forget lets it be new.
func (u *usedToday) has(cred tables.Key) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen[cred]
}

func (u *usedToday) forget(cred tables.Key) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.seen, cred)
}

// markUsed notes the day of a credential that was proved. That it could not be
// noted is no reason to keep the answer back.
func (c *Call) markUsed(ctx context.Context) {
	if c.Agent == nil || c.Table == nil {
		return
	}
	day := c.Time.UTC().Truncate(24 * time.Hour)
	key := tables.UsedKey(c.agent, c.credentialName())
	if !c.used.first(key, day) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, notePatience)
	defer cancel()
	err := c.Table.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.MarkUsed(c.agent, c.credentialName(), day)}})
	var known *tables.Cancelled
	if err != nil && !errors.As(err, &known) {
		c.Log.Warn("use of a credential not noted", "error", err.Error())
	}
}

// credentialName tells an agent's credentials apart: a public key or a token's
// id. A token that ends within the hour is named for what it was made with.
func (c *Call) credentialName() string {
	on := c.cred.token.On
	return cmp.Or(c.cred.pub, on.Grant, on.Key, c.cred.token.ID)
}
