package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"
)

// DynamoDB leaves alone what says that it expired more than five years ago:
// most likely that is no time at all.
const oldestTTL = 5 * 365 * 24 * time.Hour

// Steps of a sweep are small, so that commits do not wait for it.
const (
	sweepItems   = 256
	sweepRecords = 4096
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
	from := max(1, now-int64(oldestTTL/time.Second))
	var keys [][]byte // taken first: removing items moves the cursor's entries
	c := s.expiry.Cursor()
	for k, _ := c.Seek(binary.BigEndian.AppendUint64(nil, uint64(from))); k != nil && len(keys) < n; k, _ = c.Next() {
		if int64(binary.BigEndian.Uint64(k)) >= now {
			break
		}
		keys = append(keys, bytes.Clone(k[8:]))
	}
	for _, key := range keys {
		c := change{key: key, oldEncoded: s.items.Get(key), expired: true}
		if c.old, err = decodeItem(c.oldEncoded); err != nil {
			return removed, err
		}
		if err := s.apply(&c); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// trimFeed removes up to n changes that are older than the feed keeps them.
func (s *state) trimFeed(n int) (removed int, err error) {
	horizon := s.at.Add(-feedLife).UnixMilli()
	c := s.feed.Cursor()
	for k, v := c.First(); k != nil && removed < n; k, v = c.First() {
		if len(v) < 8 || int64(binary.BigEndian.Uint64(v)) >= horizon {
			break
		}
		if err := c.Delete(); err != nil {
			return removed, err
		}
		s.dirty = true
		removed++
	}
	return removed, nil
}
