package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"agentsocial/tables"
)

// file is an engine on bbolt, a B+tree in a file. Each tree is a bucket. Writes
// that wait while the disk is busy are grouped, so that one fsync makes them
// durable.
type file struct {
	db       *bbolt.DB
	requests chan *request
	closing  chan struct{} // closed when close begins
	stopped  chan struct{} // closed when the committer has ended
}

// lockPatience is how long openFile waits for another process to release the file.
const lockPatience = time.Second

func openFile(path string) (*file, error) {
	if err := checkFile(path); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:      lockPatience,
		FreelistType: bbolt.FreelistMapType,
		// Opening a file rebuilds the list of free pages. Otherwise every commit would
		// have to write the list.
		NoFreelistSync: true,
		NoStatistics:   true,
	})
	if err != nil {
		return nil, explained(err)
	}
	err = layOut(db)
	if err == nil {
		// A new file's name is durable only once its folder is synced. An
		// earlier process may have made the file and stopped before that.
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := &file{db: db, requests: make(chan *request), closing: make(chan struct{}), stopped: make(chan struct{})}
	go f.commitGroups()
	return f, nil
}

func (f *file) close() error {
	close(f.closing)
	<-f.stopped
	return f.db.Close()
}

func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f *file) read() (now *trees, end func(), err error) {
	tx, err := f.db.Begin(false)
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return nil, nil, ErrClosed
	}
	if err != nil {
		return nil, nil, err
	}
	return treesOf(&session{tx: tx}), func() { tx.Rollback() }, nil // ends a read; its error does not matter
}

func (f *file) hold() (before *trees, end func(), err error) { return f.read() }

const (
	bucketMeta        = "meta"
	bucketItems       = "items"
	bucketExpiry      = "expiry"
	bucketFeed        = "feed"
	bucketTokens      = "tokens"
	bucketTokenExpiry = "token_expiry"
	bucketCheckpoints = "checkpoints"
)

var keyFormat = []byte("format")

// format is the version of the file's layout. Files of format 1, whose feed has no
// differences, are read.
const (
	format       = "2"
	formerFormat = "1"
)

// layOut makes the buckets of a new file, and those that an older file lacks.
func layOut(db *bbolt.DB) error {
	names := []string{bucketMeta, bucketItems, bucketExpiry, bucketFeed, bucketTokens, bucketTokenExpiry, bucketCheckpoints}
	for _, s := range tables.Indexes {
		names = append(names, string(s.Name))
	}
	found, whole := "", true
	err := db.View(func(tx *bbolt.Tx) error {
		for _, n := range names {
			whole = whole && tx.Bucket([]byte(n)) != nil
		}
		if b := tx.Bucket([]byte(bucketMeta)); b != nil {
			found = string(b.Get(keyFormat))
		}
		return nil
	})
	if err != nil || found == format && whole {
		return err
	}
	if found != "" && found != format && found != formerFormat {
		return fmt.Errorf("its format is %q; this program reads %q", found, format)
	}
	return db.Update(func(tx *bbolt.Tx) error {
		for _, n := range names {
			if _, err := tx.CreateBucketIfNotExists([]byte(n)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte(bucketMeta)).Put(keyFormat, []byte(format))
	})
}
