package embedded

import (
	"context"
	"time"
)

// DynamoDB leaves alone what says that it expired more than five years ago:
// most likely that is no time at all.
const oldestTTL = 5 * 365 * 24 * time.Hour

// Steps of a sweep are small, so that commits do not wait for it.
const (
	sweepItems   = 256
	sweepRecords = 1024
	sweepTokens  = 4096
)

// Sweep does what DynamoDB does by itself at some later time: it removes the
// items whose ttl is past, with records in the feed that say so, forgets
// tokens, and trims the feed of what is older than 24 hours. It returns the
// number of items removed.
func (t *Table) Sweep(ctx context.Context) (removed int, err error) {
	for {
		more := false
		step := 0
		err := t.run(ctx, func(s *state) error {
			items, err := s.expire(sweepItems)
			if err != nil {
				return err
			}
			step = items
			records, err := s.trimFeed(sweepRecords)
			if err != nil {
				return err
			}
			tokens, err := s.dropTokens(sweepTokens)
			more = items == sweepItems || records == sweepRecords || tokens == sweepTokens
			return err
		})
		if err != nil {
			return removed, err
		}
		if removed += step; !more {
			return removed, nil
		}
	}
}

// expire removes up to n items whose ttl is past.
func (s *state) expire(n int) (removed int, err error) {
	now := s.at.Unix()
	keys, err := firstKeys(s.expiry, number(max(1, now-int64(oldestTTL/time.Second))), number(now), n)
	for _, key := range keys {
		c := change{key: key[8:], now: absent, expired: true}
		if c.old, err = s.item(c.key); err != nil {
			return removed, err
		}
		if err := s.apply(&c); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, err
}

// trimFeed removes up to n changes that are older than the feed keeps them.
func (s *state) trimFeed(n int) (removed int, err error) {
	horizon := s.at.Add(-feedLife).UnixMilli()
	var keys []string
	err = s.feed.walk("", feedEnd, false, func(key string, r *record) (bool, error) {
		if r.at >= horizon {
			return false, nil
		}
		keys = append(keys, key)
		return len(keys) < n, nil
	})
	for _, key := range keys {
		if err := s.feed.remove(key); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, err
}

// firstKeys are the first n keys in [from, to): they are taken first, since a
// tree that is walked is not to be changed.
func firstKeys(t tree[nothing], from, to string, n int) (keys []string, err error) {
	err = t.walk(from, to, false, func(key string, _ nothing) (bool, error) {
		keys = append(keys, key)
		return len(keys) < n, nil
	})
	return keys, err
}
