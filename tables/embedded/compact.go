package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// A file that is mostly free pages is compacted when it is closed. Nobody waits for an
// answer then, a start stays quick, and bbolt cannot move pages of a file in use. A
// compaction that takes longer than compactWithin is given up, because a process that is
// told to stop has only a few seconds.
const (
	compactWithin = 3 * time.Second
	compactFrom   = 16 << 20 // free bytes, which must also be more than half of the file
)

// compacted is the suffix of the new file until it replaces the table's file.
const compacted = ".compact"

// CloseCompacted closes the table and compacts its file, however long that takes. It
// returns the file's size in bytes before and after.
func (t *Table) CloseCompacted() (before, after int64, err error) {
	f, ok := t.engine.(*file)
	if !ok {
		return 0, 0, errors.New("embedded: a table in memory has no file")
	}
	path := f.db.Path()
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	f.compact = 0
	if err := t.Close(); err != nil {
		return 0, 0, err
	}
	now, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), now.Size(), nil
}

// wasteful reports whether the file is to be compacted.
func (f *file) wasteful() bool {
	if f.compact == 0 {
		return true
	}
	size, free := 0, f.free()
	_ = f.db.View(func(tx *bbolt.Tx) error { size = int(tx.Size()); return nil })
	return free >= compactFrom && free > size/2
}

// compactFile replaces a file by one with few free pages, unless that takes longer than
// within (0: no limit). The new file is whole and durable before it gets the table's name.
// Other processes wait for the lock of the old file, and then see that it was replaced
// (openCurrent).
func compactFile(db *bbolt.DB, path string, within time.Duration) (done bool, err error) {
	temporary := path + compacted
	if err := removeIfThere(temporary); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, removeIfThere(temporary)) }()
	o := options()
	o.NoFreelistSync, o.NoSync, o.NoGrowSync = false, true, true
	to, err := bbolt.Open(temporary, 0o600, o)
	if err != nil {
		return false, err
	}
	at := time.Now()
	err = db.View(func(from *bbolt.Tx) error {
		return from.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return copyBucket(to, name, b, func() error {
				if within > 0 && time.Since(at) > within {
					return errTooSlow
				}
				return nil
			})
		})
	})
	if err == nil {
		err = to.Update(func(tx *bbolt.Tx) error { return markClosed(tx, at) })
	}
	if err == nil {
		err = to.View(func(tx *bbolt.Tx) error { return atLeast(temporary, tx.Size()) })
	}
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Chtimes(temporary, at, at)
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	switch {
	case errors.Is(err, errTooSlow):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, syncFolder(filepath.Dir(path))
}

var errTooSlow = errors.New("embedded: compacting takes too long")

// copyStep bounds the bytes that one transaction copies, since it holds them in memory.
const copyStep = 4 << 20

func copyBucket(to *bbolt.DB, name []byte, from *bbolt.Bucket, proceed func() error) error {
	c := from.Cursor()
	for k, v, first := []byte(nil), []byte(nil), true; first || k != nil; first = false {
		if err := proceed(); err != nil {
			return err
		}
		err := to.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			b.FillPercent = fillOf(string(name))
			if first {
				if err := b.SetSequence(from.Sequence()); err != nil {
					return err
				}
				k, v = c.First()
			}
			for size := 0; k != nil && size < copyStep; k, v = c.Next() {
				if string(name) == bucketItems && v[0] == itemVersion {
					v = appendPacked([]byte{packedVersion, 0}, string(k), string(v))
				}
				if err := b.Put(k, v); err != nil {
					return err
				}
				size += len(k) + len(v)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// atLeast extends a file to size bytes if it is shorter.
func atLeast(path string, size int64) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() < size {
		err = os.Truncate(path, size)
	}
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
