package embedded

import (
	"context"
	"crypto/sha256"
)

// engine keeps a table's trees. There are two, file and memory.
type engine interface {
	// read gives the trees as they are now, all of one moment. They are for
	// one goroutine at a time, and only until end is called.
	read() (now *trees, end func(), err error)
	// hold does the same for longer than a read takes. It is called by a work
	// that has written nothing yet, and gives what can be read until then.
	hold() (before *trees, end func(), err error)
	// write has work done on the trees, and returns when its effect can be
	// read and is as durable as the engine makes it. An error of work is
	// returned, and nothing that it did remains. Works are serial. If ctx ends
	// before work has begun, it is not done; once begun it takes milliseconds
	// at most, and its outcome is worth more than those.
	write(ctx context.Context, work func(*trees) error) error
	// close waits for works that have begun. Afterwards all is ErrClosed.
	close() error
}

// trees are all that a table is:
//
//	items                           item key → item
//	by_rank, by_parent, by_author   index key + item key → nothing
//	expiry                          ttl + item key → nothing
//	feed                            sequence number → change
//	tokens                          token → the digest of its transaction
//	token_expiry                    end of life + token → nothing
type trees struct {
	items       tree[*stored]
	indexes     []tree[nothing] // in the order of tables.Indexes
	expiry      tree[nothing]
	feed        tree[*record]
	tokens      tree[token]
	tokenExpiry tree[nothing]

	nextSeq func() (uint64, error) // the feed's next sequence number; none comes twice
}

// tree is a map in the order of its keys' bytes. Errors are of the file.
type tree[V any] interface {
	get(key string) (v V, found bool, err error)
	put(key string, v V) error
	remove(key string) error // nothing happens if there is none
	// walk visits what lies in [from, to), backwards if desc, until visit says
	// that it is enough. The tree is not to be changed meanwhile.
	walk(from, to string, desc bool, visit func(key string, v V) (more bool, err error)) error
}

type nothing struct{}

// record is a change as the feed keeps it.
type record struct {
	at       int64 // unix ms
	expired  bool
	old, now *stored // absent or not
}

// token says which transaction has used it, and until when.
type token struct {
	end    int64 // unix ms
	digest digest
}

// digest is the hash of a transaction's writes.
type digest [sha256.Size]byte

// item is the item under a key, or absent.
func (t *trees) item(key string) (*stored, error) {
	s, found, err := t.items.get(key)
	if !found {
		return absent, err
	}
	return s, err
}
