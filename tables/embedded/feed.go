package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
)

const (
	shardID   = "shard-0" // the only one
	feedLife  = 24 * time.Hour
	feedWait  = time.Second // how long Changes waits for a first change
	seqDigits = 20
)

// A record of the feed: milliseconds since 1970, then whether it expired, then
// the encodings of the old and the new item, each behind its length.

func (s *state) record(c *change) error {
	seq, err := s.feed.NextSequence()
	if err != nil {
		return err
	}
	b := make([]byte, 0, 9+2*binary.MaxVarintLen64+len(c.oldEncoded)+len(c.nowEncoded))
	b = binary.BigEndian.AppendUint64(b, uint64(s.at.UnixMilli()))
	if c.expired {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = append(binary.AppendUvarint(b, uint64(len(c.oldEncoded))), c.oldEncoded...)
	b = append(binary.AppendUvarint(b, uint64(len(c.nowEncoded))), c.nowEncoded...)
	s.fed = true
	return s.feed.Put(binary.BigEndian.AppendUint64(nil, seq), b)
}

var errBrokenRecord = errors.New("embedded: a broken change in the file")

func decodeRecord(k, v []byte) (tables.StreamRecord, error) {
	var r tables.StreamRecord
	if len(k) != 8 || len(v) < 9 {
		return r, errBrokenRecord
	}
	r.Shard = shardID
	r.Seq = fmt.Sprintf("%0*d", seqDigits, binary.BigEndian.Uint64(k))
	r.At = time.UnixMilli(int64(binary.BigEndian.Uint64(v))).UTC()
	r.Expired = v[8] == 1
	v = v[9:]
	for _, image := range []*tables.Item{&r.Old, &r.New} {
		n, width := binary.Uvarint(v)
		if width <= 0 || n > uint64(len(v)-width) {
			return r, errBrokenRecord
		}
		if n > 0 {
			var err error
			if *image, err = decodeItem(v[width : width+int(n)]); err != nil {
				return r, err
			}
		}
		v = v[width+int(n):]
	}
	switch {
	case r.Old == nil:
		r.Event, r.Key = "INSERT", r.New.Key()
	case r.New == nil:
		r.Event, r.Key = "REMOVE", r.Old.Key()
	default:
		r.Event, r.Key = "MODIFY", r.New.Key()
	}
	return r, nil
}

// announce wakes those who wait for changes.
func (t *Table) announce() {
	t.feedMu.Lock()
	close(t.feedNew)
	t.feedNew = make(chan struct{})
	t.feedMu.Unlock()
}

func (t *Table) announced() <-chan struct{} {
	t.feedMu.Lock()
	defer t.feedMu.Unlock()
	return t.feedNew
}

// Shards implements [tables.Feed]: there is one, and it is never done.
func (t *Table) Shards(ctx context.Context) ([]tables.Shard, error) {
	return []tables.Shard{{ID: shardID}}, ctx.Err()
}

// Changes implements [tables.Feed]. All changes of all items are in one order,
// that of the commits. It waits for up to a second. A sequence number that has
// been trimmed away stands for the oldest change that is left.
func (t *Table) Changes(ctx context.Context, shard, after string, limit int) ([]tables.StreamRecord, bool, error) {
	if shard != shardID {
		return nil, false, invalid("there is no shard %q", shard)
	}
	if limit < 1 {
		return nil, false, invalid("a limit of %d", limit)
	}
	var seq uint64
	if after != "" {
		var err error
		if seq, err = strconv.ParseUint(after, 10, 64); err != nil {
			return nil, false, invalid("the sequence number %q", after)
		}
	}
	patience := time.NewTimer(feedWait)
	defer patience.Stop()
	for {
		grown := t.announced() // before reading, so that no change is missed
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		changes, err := t.changesAfter(seq, limit)
		if err != nil || len(changes) > 0 {
			return changes, false, err
		}
		select {
		case <-grown:
		case <-patience.C:
			return nil, false, nil
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-t.closing:
			return nil, false, ErrClosed
		}
	}
}

// changesAfter reads changes, of about 1 MB at most, as DynamoDB does.
func (t *Table) changesAfter(seq uint64, limit int) (changes []tables.StreamRecord, err error) {
	if seq == ^uint64(0) {
		return nil, nil
	}
	err = t.view(false, func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketFeed).Cursor()
		size := 0
		for k, v := c.Seek(binary.BigEndian.AppendUint64(nil, seq+1)); k != nil; k, v = c.Next() {
			r, err := decodeRecord(k, v)
			if err != nil {
				return err
			}
			changes = append(changes, r)
			if size += len(v); len(changes) == limit || size >= tables.MaxPageSize {
				return nil
			}
		}
		return nil
	})
	return changes, err
}
