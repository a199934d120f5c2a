package embedded

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
)

// state is the table as the committer sees it: with all that the commits of
// the same group before have written.
type state struct {
	items, expiry, feed, tokens, tokenExpiry *bbolt.Bucket

	indexes []*bbolt.Bucket // in the order of tables.Indexes
	at      time.Time
	dirty   bool // something was written
	fed     bool // the feed has grown
}

func newState(tx *bbolt.Tx, at time.Time) *state {
	s := &state{
		items:       tx.Bucket(bucketItems),
		expiry:      tx.Bucket(bucketExpiry),
		feed:        tx.Bucket(bucketFeed),
		tokens:      tx.Bucket(bucketTokens),
		tokenExpiry: tx.Bucket(bucketTokenExpiry),
		at:          at,
	}
	s.feed.FillPercent = 0.95 // it only ever grows at its end
	for _, index := range tables.Indexes {
		s.indexes = append(s.indexes, tx.Bucket([]byte(index.Name)))
	}
	return s
}

// change is the change of one item. Its encodings differ; an absent item's is
// empty.
type change struct {
	key                    []byte
	old, now               tables.Item
	oldEncoded, nowEncoded []byte
	expired                bool
}

// apply writes a change everywhere it belongs: to the item, to the indexes'
// entries and to the feed.
func (s *state) apply(c *change) error {
	s.dirty = true
	for i, index := range tables.Indexes {
		if err := move(s.indexes[i], indexKey(index, c.old, c.key), indexKey(index, c.now, c.key)); err != nil {
			return fmt.Errorf("embedded: index %s: %w", index.Name, err)
		}
	}
	if err := move(s.expiry, expiryKey(c.old, c.key), expiryKey(c.now, c.key)); err != nil {
		return fmt.Errorf("embedded: expiry: %w", err)
	}
	if err := s.record(c); err != nil {
		return fmt.Errorf("embedded: feed: %w", err)
	}
	// Last, because what oldEncoded points to is gone then.
	if c.now == nil {
		return s.items.Delete(c.key)
	}
	return s.items.Put(c.key, c.nowEncoded)
}

// move replaces an entry without a value by another one; nil is none.
func move(b *bbolt.Bucket, old, now []byte) error {
	if bytes.Equal(old, now) {
		return nil
	}
	if old != nil {
		if err := b.Delete(old); err != nil {
			return err
		}
	}
	if now != nil {
		return b.Put(now, nil)
	}
	return nil
}

// indexKey is the key of an item's entry in an index, nil if it has none.
func indexKey(s tables.IndexSchema, item tables.Item, key []byte) []byte {
	pk, sk := item.Str(s.PK), item.Str(s.SK)
	if pk == "" || sk == "" {
		return nil
	}
	b := make([]byte, 0, len(pk)+len(sk)+len(key)+4)
	return append(appendPart(appendPart(b, pk), sk), key...)
}

// expiryKey is the key of an item's entry among those that expire, nil if it
// does not.
func expiryKey(item tables.Item, key []byte) []byte {
	ttl := item.Int(tables.AttrTTL)
	if ttl <= 0 {
		return nil
	}
	return append(binary.BigEndian.AppendUint64(nil, uint64(ttl)), key...)
}
