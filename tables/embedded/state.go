package embedded

import (
	"encoding/binary"
	"fmt"
	"time"

	"agentsocial/tables"
)

// state is the table within a write, after all earlier writes.
type state struct {
	*trees
	at    time.Time
	trims bool                           // the feed is trimmed behind its readers
	wants func(tables.StreamRecord) bool // the changes that enter the feed; nil: all
	fed   bool
}

// change is a change of one item; old and now differ.
type change struct {
	key      string
	old, now *stored // may be absent
	expired  bool
}

// apply writes a change to the item, the indexes, the expiry and the feed.
func (s *state) apply(c *change) error {
	for i, index := range tables.Indexes {
		if err := move(s.indexes[i], indexKey(index, c.old.item, c.key), indexKey(index, c.now.item, c.key)); err != nil {
			return fmt.Errorf("embedded: index %s: %w", index.Name, err)
		}
	}
	if err := move(s.expiry, expiryKey(c.old.item, c.key), expiryKey(c.now.item, c.key)); err != nil {
		return fmt.Errorf("embedded: expiry: %w", err)
	}
	if err := s.record(c); err != nil {
		return fmt.Errorf("embedded: feed: %w", err)
	}
	if c.now == absent {
		return s.items.remove(c.key)
	}
	return s.items.put(c.key, c.now)
}

// move replaces one entry by another; "" means none.
func move(t *tree[nothing], old, now string) error {
	if old == now {
		return nil
	}
	if old != "" {
		if err := t.remove(old); err != nil {
			return err
		}
	}
	if now != "" {
		return t.put(now, nothing{})
	}
	return nil
}

// indexKey returns the key of an item's entry in an index; "" if it has none.
func indexKey(s tables.IndexSchema, item tables.Item, key string) string {
	pk, sk := item.Str(s.PK), item.Str(s.SK)
	if pk == "" || sk == "" {
		return ""
	}
	return rowOf(key, pk, sk)
}

// expiryKey returns the key of an item's entry in expiry; "" if it has none.
func expiryKey(item tables.Item, key string) string {
	ttl := item.Int(tables.AttrTTL)
	if ttl <= 0 {
		return ""
	}
	return number(ttl) + key
}

// number encodes a non-negative number so that keys sort numerically.
func number[N int64 | uint64](n N) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return string(b[:])
}

// numberIn decodes the first 8 bytes of a string.
func numberIn(s string) uint64 { return binary.BigEndian.Uint64([]byte(s[:8])) }
