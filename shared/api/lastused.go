package api

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"agentsocial/tables"
)

// On a credential's first request of a day, each process stores that day as the day of the
// credential's last use. The item is in the family of quotas, because every function may
// write there.

// usedToday remembers the credentials that were used on its day.
type usedToday struct {
	mu   sync.Mutex
	day  time.Time
	seen map[tables.Key]bool
}

const usedTodayMost = 1 << 14

// notePatience bounds how long an answer waits for [Call.markUsed].
const notePatience = 150 * time.Millisecond

// note records a use on a day, and reports whether it is the credential's first that day.
func (u *usedToday) note(cred tables.Key, day time.Time) bool {
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

// has reports whether a credential was seen on u.day.
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

// markUsed stores the day of a proved credential's last use. A failure is only logged.
func (c *Call) markUsed(ctx context.Context) {
	if c.Agent == nil || c.Table == nil {
		return
	}
	day := c.Time.UTC().Truncate(24 * time.Hour)
	key := tables.UsedKey(c.agent, c.credentialName())
	if !c.used.note(key, day) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, notePatience)
	defer cancel()
	err := c.Table.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.MarkUsed(c.agent, c.credentialName(), day)}})
	var known *tables.Cancelled
	if err != nil && !errors.As(err, &known) {
		c.Log.Warn("last use of a credential not recorded", "error", err.Error())
	}
}

// credentialName returns a public key, or the id of a connection or a token. An access
// token has the name of the connection or key that it was made with.
func (c *Call) credentialName() string {
	on := c.cred.token.On
	return cmp.Or(c.cred.pub, on.Grant, on.Key, c.cred.token.ID)
}
