package embedded

import (
	"context"

	"agentsocial/tables"
)

// engine stores a table's trees. file and memory implement it.
type engine interface {
	// read returns a consistent view of the trees, for one goroutine at a time, until end
	// is called.
	read() (now *trees, end func(), err error)
	// hold returns the state before a write, for views that outlive the write. It is called
	// within the write, before any change.
	hold() (before *trees, end func(), err error)
	// write runs work on the trees, one call at a time. It returns when the changes are
	// visible, and as durable as the engine makes them. If work fails, write undoes the
	// changes and returns the error. If ctx ends before work begins, write may
	// give up without running work.
	write(ctx context.Context, work func(*trees) error) error
	// close waits for running writes. Afterwards all calls fail with ErrClosed.
	close() error
}

// trees hold all data of a table:
//
//	items                           item key → item
//	by_rank, by_parent, by_author   index key + item key → nothing
//	expiry                          ttl + item key → nothing
//	feed                            sequence number → change
//	tokens                          slot of its end + its hash → its end, and the digest of its transaction
//	checkpoints                     reader of the feed → its position
type trees struct {
	items       *tree[*stored]
	indexes     []*tree[nothing] // in the order of tables.Indexes
	expiry      *tree[nothing]
	feed        *tree[*record]
	tokens      *tree[token]
	checkpoints *tree[string]

	nextSeq func() (uint64, error) // the feed's next sequence number, never repeated
	lastSeq func() uint64          // the newest one; 0 before the first
}

// token holds when a token ends, and the digest of the transaction that used it.
type token struct {
	end    int64 // unix ms
	digest string
}

// hashSize is the number of bytes in the hashes of tokens and of transactions. It is short,
// since nobody gains from making two hashes equal.
const hashSize = 16

// read returns the item under a key, or absent. The item lacks seq, which a write needs.
func (t *trees) read(key string) (*stored, error) {
	encoded, found := t.items.shelf.lend(key)
	if !found {
		return absent, nil
	}
	return readStored(key, encoded, nil)
}

// readRange visits the items with keys in [from, to), backwards if desc, until visit
// returns false. As in read, the items lack seq. They have the attributes of the projection;
// nil means all.
func (t *trees) readRange(from, to string, desc bool, only *tables.Projection, visit func(*stored) (more bool, err error)) (err error) {
	t.items.shelf.walk(from, to, desc, func(key, encoded string) (more bool) {
		var s *stored
		if s, err = readStored(key, encoded, only); err == nil {
			more, err = visit(s)
		}
		return more && err == nil
	})
	return err
}

// item returns the item under a key, or absent.
func (t *trees) item(key string) (*stored, error) {
	s, found, err := t.items.get(key)
	if !found {
		return absent, err
	}
	return s, err
}
