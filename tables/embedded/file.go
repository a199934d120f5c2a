package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"agentsocial/tables"
)

// file is an engine that keeps its trees in a bbolt file, each in a bucket. Writes that
// wait while the disk is busy are grouped, so that one fsync makes them durable.
type file struct {
	db       *bbolt.DB
	clean    bool          // the file is as its last close left it
	compact  time.Duration // bounds the compaction at close; 0: close always compacts
	requests chan *request
	closing  chan struct{} // closed when close begins
	stopped  chan struct{} // closed when the committer has ended
}

// lockPatience is how long openFile waits for another process to release the file.
const lockPatience = time.Second

const growth = 1 << 20

// maxListed bounds the free pages that a commit lists in the file. The list takes 8 bytes a
// page, and each commit writes it. Without a list, the next start must read every page to
// find the free ones.
const maxListed = 8192

func options() *bbolt.Options {
	return &bbolt.Options{
		Timeout: lockPatience,
		// A commit that outgrows the map waits for all reads. bbolt would begin with 32 KB.
		InitialMmapSize: growth,
		FreelistType:    bbolt.FreelistArrayType, // quick for short lists
		NoFreelistSync:  true,                    // commits change it: see maxListed
	}
}

func openFile(path string) (*file, error) {
	clean, err := checkFile(path)
	if err != nil {
		return nil, err
	}
	db, err := openCurrent(path)
	if err != nil {
		return nil, explained(err)
	}
	db.AllocSize = growth
	if err = errors.Join(layOut(db), removeIfThere(path+compacted)); err == nil {
		// A new file's name is durable only once its folder is synced. An earlier process
		// may have stopped before that.
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := &file{
		db: db, clean: clean, compact: compactWithin,
		requests: make(chan *request), closing: make(chan struct{}), stopped: make(chan struct{}),
	}
	go f.commitGroups()
	return f, nil
}

// openCurrent opens the file at a path. Another process may replace the file by a compacted
// one while openCurrent waits for its lock.
func openCurrent(path string) (*bbolt.DB, error) {
	for {
		db, opened, err := openOnce(path)
		if err != nil {
			return nil, err
		}
		is, err := opened.Stat()
		now, errNow := os.Stat(path)
		if err = errors.Join(err, errNow); err == nil && os.SameFile(is, now) {
			return db, nil
		}
		if err = errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
	}
}

func openOnce(path string) (db *bbolt.DB, opened *os.File, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil { // the list of free pages is damaged
			err = errors.Join(fmt.Errorf("%v", reason), opened.Close())
		}
	}()
	o := options()
	o.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		opened, err = os.OpenFile(name, flag, mode)
		return opened, err
	}
	db, err = bbolt.Open(path, 0o600, o)
	return db, opened, err
}

// close closes the file so that the next start need not read all of it.
func (f *file) close() error {
	close(f.closing)
	<-f.stopped
	if f.clean && f.compact > 0 {
		return f.db.Close()
	}
	path := f.db.Path()
	if f.wasteful() {
		if done, err := compactFile(f.db, path, f.compact); done || err != nil {
			return errors.Join(err, f.db.Close())
		}
	}
	f.db.NoFreelistSync = false
	at := time.Now()
	err := f.db.Update(func(tx *bbolt.Tx) error { return markClosed(tx, at) })
	if err == nil {
		err = os.Chtimes(path, at, at)
	}
	return errors.Join(err, f.db.Close())
}

// free returns the number of bytes in free pages.
func (f *file) free() int {
	s := f.db.Stats()
	return (s.FreePageN + s.PendingPageN) * f.db.Info().PageSize
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
	bucketCheckpoints = "checkpoints"
)

var (
	keyFormat = []byte("format")
	keyClosed = []byte("closed") // when the file was closed, in unix ns
)

// format is the version of the file's layout. Files of former formats can be read. Opening
// a file converts its tokens. An item is packed when it is next written, or when the file
// is compacted.
const format = "3"

var formerFormats = []string{"1", "2"}

// markClosed stores when the file is closed. close sets the file's time of modification to
// the same time. If the two differ later, something else has touched the file.
func markClosed(tx *bbolt.Tx, at time.Time) error {
	return tx.Bucket([]byte(bucketMeta)).Put(keyClosed, []byte(number(at.UnixNano())))
}

// closedAt returns when a file was closed, in unix ns; 0 if it never was.
func closedAt(tx *bbolt.Tx) int64 {
	if b := tx.Bucket([]byte(bucketMeta)); b != nil {
		if v := b.Get(keyClosed); len(v) == 8 {
			return int64(numberIn(string(v)))
		}
	}
	return 0
}

// layOut makes the buckets of a new file, and those that an older file lacks. It converts
// the tokens of a former format.
func layOut(db *bbolt.DB) error {
	names := []string{bucketMeta, bucketItems, bucketExpiry, bucketFeed, bucketTokens, bucketCheckpoints}
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
	if found != "" && found != format && !slices.Contains(formerFormats, found) {
		return fmt.Errorf("its format is %q; this program reads %q and %q", found, formerFormats, format)
	}
	return db.Update(func(tx *bbolt.Tx) error {
		if err := convertTokens(tx); err != nil {
			return err
		}
		for _, n := range names {
			if _, err := tx.CreateBucketIfNotExists([]byte(n)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte(bucketMeta)).Put(keyFormat, []byte(format))
	})
}
