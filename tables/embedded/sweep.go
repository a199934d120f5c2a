package embedded

import (
	"context"
	"strconv"
	"time"
)

// DynamoDB ignores a TTL of more than five years ago, which is probably not a time.
const oldestTTL = 5 * 365 * 24 * time.Hour

// A sweep's steps are small, so that commits do not wait for the whole sweep.
const (
	sweepItems   = 256
	sweepRecords = 1024
	sweepTokens  = 4096
)

// Sweep does what DynamoDB does in the background: it removes expired items and tokens, and
// trims the feed. It returns the number of removed items.
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

func (s *state) expire(n int) (removed int, err error) {
	now := s.at.Unix()
	for _, key := range s.expiry.firstKeys(number(max(1, now-int64(oldestTTL/time.Second))), number(now), n) {
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

// trimFeed removes up to n changes that all readers have passed or, without declared
// readers, that are older than 24 hours.
func (s *state) trimFeed(n int) (removed int, err error) {
	if s.trims {
		return s.trimPassed(n)
	}
	horizon := s.at.Add(-feedLife).UnixMilli()
	var keys []string
	err = s.feed.walk("", feedEnd, false, func(key string, r *record) (bool, error) {
		if r.at >= horizon {
			return false, nil
		}
		keys = append(keys, key)
		return len(keys) < n, nil
	})
	if err != nil {
		return 0, err
	}
	return s.removeRecords(keys)
}

// trimPassed removes up to n changes that all readers have passed. Without declared readers
// it removes nothing.
func (s *state) trimPassed(n int) (removed int, err error) {
	if !s.trims || n == 0 {
		return 0, nil
	}
	passed, err := s.passed()
	if err != nil {
		return 0, err
	}
	return s.removeRecords(s.feed.firstKeys("", number(passed)+"\x00", n))
}

// passed returns the position of the slowest reader; 0 if there is no reader.
func (s *state) passed() (least uint64, err error) {
	found := false
	err = s.checkpoints.walk("", beyond, false, func(_, seq string) (bool, error) {
		n, err := strconv.ParseUint(seq, 10, 64)
		if !found || n < least {
			found, least = true, n
		}
		return true, err
	})
	return least, err
}

func (s *state) removeRecords(keys []string) (removed int, err error) {
	for _, key := range keys {
		if err := s.feed.remove(key); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
