// Package embedded is the table in one file, or in memory: what the local
// runner and most tests use instead of DynamoDB. It behaves as DynamoDB does,
// limits and refusals included, and can be told to behave as badly as DynamoDB
// is allowed to ([Faults]).
//
// It stands on bbolt, a B+tree with one writer at a time and snapshots for
// readers:
//
//	items                       item key → item
//	by_rank, by_parent, by_author   index key + item key → nothing
//	expiry                      ttl + item key → nothing
//	feed                        sequence number → change
//	tokens, token_expiry        what makes a transaction idempotent
//
// Commits are gathered: those that wait while the disk is busy are made
// durable by one fsync ([Table.run]).
package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
)

// Memory is the path of a table that is in memory only.
const Memory = ":memory:"

// Config says where a table is and how it behaves.
type Config struct {
	Path   string           // the file, made if it does not exist; "" or Memory for none
	Now    func() time.Time // the clock of TTL, tokens and the feed; time.Now if nil
	Faults Faults           // see [Table.SetFaults]
}

// Table is a table. It implements [tables.Backend] and [tables.Feed].
type Table struct {
	db       *bbolt.DB
	now      func() time.Time
	faults   atomic.Pointer[Faults]
	past     past
	requests chan *request
	closing  chan struct{} // closed when Close begins
	stopped  chan struct{} // closed when the committer has ended
	close    sync.Once

	feedMu  sync.Mutex
	feedNew chan struct{} // closed and replaced when the feed has grown
}

var (
	_ tables.Backend = (*Table)(nil)
	_ tables.Feed    = (*Table)(nil)
)

// ErrClosed is what a closed table answers.
var ErrClosed = errors.New("embedded: the table is closed")

// lockPatience is how long Open waits for a process that is just ending.
const lockPatience = time.Second

// Open opens a table. The caller closes it.
func Open(c Config) (*Table, error) {
	o := bbolt.Options{
		Timeout:      lockPatience,
		FreelistType: bbolt.FreelistMapType,
		// The list of free pages is found again when a file is opened: writing
		// it would be part of every commit.
		NoFreelistSync: true,
		NoStatistics:   true,
	}
	path := c.Path
	inMemory := path == "" || path == Memory
	if inMemory {
		path = Memory
		o.OpenFile, o.NoSync, o.NoGrowSync = openMemory, true, true
	}
	db, err := bbolt.Open(path, 0o600, &o)
	if err != nil {
		return nil, fmt.Errorf("embedded: opening %s: %w", path, err)
	}
	if err := layOut(db); err != nil {
		return nil, errors.Join(fmt.Errorf("embedded: opening %s: %w", path, err), db.Close())
	}
	if !inMemory {
		// A new file's name is durable only when its folder is. It may have
		// been made by a process that did not come this far.
		if err := syncFolder(filepath.Dir(path)); err != nil {
			return nil, errors.Join(fmt.Errorf("embedded: opening %s: %w", path, err), db.Close())
		}
	}
	t := &Table{
		db:       db,
		now:      c.Now,
		requests: make(chan *request),
		closing:  make(chan struct{}),
		stopped:  make(chan struct{}),
		feedNew:  make(chan struct{}),
	}
	if t.now == nil {
		t.now = time.Now
	}
	t.SetFaults(c.Faults)
	go t.commitGroups()
	return t, nil
}

// Close waits for the calls that are under way and closes the table. What was
// in memory is gone.
func (t *Table) Close() error {
	var err error
	t.close.Do(func() {
		close(t.closing)
		<-t.stopped
		t.past.forget()
		err = t.db.Close()
	})
	return err
}

func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

var (
	bucketMeta        = []byte("meta")
	bucketItems       = []byte("items")
	bucketExpiry      = []byte("expiry")
	bucketFeed        = []byte("feed")
	bucketTokens      = []byte("tokens")
	bucketTokenExpiry = []byte("token_expiry")

	keyFormat = []byte("format")
)

// format is the version of the file's layout.
const format = "1"

func layOut(db *bbolt.DB) error {
	found := ""
	err := db.View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket(bucketMeta); b != nil {
			found = string(b.Get(keyFormat))
		}
		return nil
	})
	if err != nil || found == format {
		return err
	}
	if found != "" {
		return fmt.Errorf("its format is %q, this program knows %q", found, format)
	}
	return db.Update(func(tx *bbolt.Tx) error {
		names := [][]byte{bucketMeta, bucketItems, bucketExpiry, bucketFeed, bucketTokens, bucketTokenExpiry}
		for _, s := range tables.Indexes {
			names = append(names, []byte(s.Name))
		}
		for _, n := range names {
			if _, err := tx.CreateBucket(n); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketMeta).Put(keyFormat, []byte(format))
	})
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{tables.ErrInvalid}, args...)...)
}
