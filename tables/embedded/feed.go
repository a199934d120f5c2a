package embedded

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"agentsocial/tables"
)

const (
	shardID   = "shard-0" // the only one
	feedLife  = 24 * time.Hour
	seqDigits = 20
)

var feedEnd = number(uint64(math.MaxUint64)) + "\x00"

// record adds a change to the feed, if the readers want it.
func (s *state) record(c *change) error {
	if err := s.complete(c); err != nil {
		return err
	}
	if s.wants != nil && !s.wants(streamed(c.old, c.now)) {
		return nil
	}
	seq, err := s.nextSeq()
	if err != nil {
		return err
	}
	s.fed = true
	if c.now != absent {
		c.now.seq = seq
	}
	return s.feed.put(number(seq), &record{key: c.key, at: s.at.UnixMilli(), expired: c.expired, old: c.old, now: c.now, current: c.now != absent})
}

// complete copies an item that is about to change into the record of its last change.
func (s *state) complete(c *change) error {
	if c.old.seq == 0 { // absent, not in the feed, or already in its record
		return nil
	}
	at := number(c.old.seq)
	encoded, found := s.feed.shelf.get(at)
	if !found || len(encoded) < recordHead { // trimmed; or broken, so that its reader will fail
		return nil
	}
	return s.feed.shelf.put(at, completed(encoded, c.old.pack(c.key)))
}

// streamed converts a record for readers.
func (r *record) streamed(key string) tables.StreamRecord {
	out := streamed(r.old, r.now)
	out.Seq = fmt.Sprintf("%0*d", seqDigits, binary.BigEndian.Uint64([]byte(key)))
	out.At, out.Expired = time.UnixMilli(r.at).UTC(), r.expired
	return out
}

// streamed returns the record of a change, without its position and its time.
func streamed(old, now *stored) tables.StreamRecord {
	out := tables.StreamRecord{Shard: shardID, Event: "MODIFY", Key: now.item.Key(), Old: old.item, New: now.item}
	if old == absent {
		out.Event = "INSERT"
	}
	if now == absent {
		out.Event, out.Key = "REMOVE", old.item.Key()
	}
	return out
}

func (t *Table) announce() {
	t.feedMu.Lock()
	defer t.feedMu.Unlock()
	if t.feedNew != nil {
		close(t.feedNew)
		t.feedNew = nil
	}
}

func (t *Table) announced() <-chan struct{} {
	t.feedMu.Lock()
	defer t.feedMu.Unlock()
	if t.feedNew == nil {
		t.feedNew = make(chan struct{})
	}
	return t.feedNew
}

// Shards implements [tables.Feed]. There is one shard, which never ends.
func (t *Table) Shards(ctx context.Context) ([]tables.Shard, error) {
	return []tables.Shard{{ID: shardID}}, ctx.Err()
}

// Changes implements [tables.Feed]. Changes are in the order of the commits. After a
// trimmed sequence number it continues with the oldest change left.
func (t *Table) Changes(ctx context.Context, shard, after string, limit int, wait time.Duration) ([]tables.StreamRecord, bool, error) {
	if shard != shardID {
		return nil, false, invalid("there is no shard %q", shard)
	}
	if limit < 1 {
		return nil, false, invalid("the limit is %d, want at least 1", limit)
	}
	var seq uint64
	if after != "" {
		var err error
		if seq, err = strconv.ParseUint(after, 10, 64); err != nil {
			return nil, false, invalid("%q is not a sequence number of this feed", after)
		}
	}
	patience := time.NewTimer(wait)
	defer patience.Stop()
	for over := wait <= 0; ; {
		grown := t.announced() // before reading, so that no change is missed
		changes, err := t.changesAfter(seq, limit)
		if err != nil || len(changes) > 0 || over {
			return changes, false, err
		}
		select {
		case <-grown:
		case <-patience.C:
			over = true // one more read
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-t.closing:
			return nil, false, ErrClosed
		}
	}
}

// changesAfter reads changes of at most about 1 MB, as DynamoDB does.
func (t *Table) changesAfter(seq uint64, limit int) (changes []tables.StreamRecord, err error) {
	if seq == math.MaxUint64 {
		return nil, nil
	}
	err = t.view(false, func(now *trees) error {
		size := 0
		return now.feed.walk(number(seq+1), feedEnd, false, func(key string, r *record) (bool, error) {
			if err := now.restore(key, r); err != nil {
				return false, err
			}
			changes = append(changes, r.streamed(key))
			size += r.old.size + r.now.size
			return len(changes) < limit && size < tables.MaxPageSize, nil
		})
	})
	return changes, err
}
