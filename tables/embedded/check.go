package embedded

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// remedy ends the errors for a file that is damaged, empty or not a table.
const remedy = "replace it with an earlier copy, or remove it to begin with an empty table"

// checkFile refuses a damaged file, on which bbolt panics or crashes. It also refuses an
// empty file, which bbolt treats as a new table. clean means that nobody has touched the
// file since this program closed it. If it is not clean, checkFile reads all pages, which
// takes seconds.
func checkFile(path string) (clean bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil // Open makes it
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, nil // bbolt's own error says what is wrong
	case info.Size() == 0:
		return false, errors.New("the file is empty; " + remedy)
	}
	err = reading(path, 0, func(tx *bbolt.Tx) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Size() < tx.Size() {
			return fmt.Errorf("the file is cut off: it has %d bytes of %d; %s", info.Size(), tx.Size(), remedy)
		}
		clean = closedAt(tx) == info.ModTime().UnixNano()
		return nil
	})
	if err != nil || clean {
		return clean, err
	}
	return false, reading(path, mapAtOnce(info.Size()), func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(_, _ []byte) error { return nil })
		})
	})
}

// atOnceMost bounds the size of a file that is mapped at once. A larger one may not fit
// into memory.
const atOnceMost = 4 << 30

// mapAtOnce returns the flags for mapping a file whose every page will be read. With them
// the system reads the file in order, which is seven times as fast as page by page.
func mapAtOnce(size int64) int {
	if size > atOnceMost {
		return 0
	}
	return mapPopulate
}

// reading calls do on a file that is open for reading. Reading a page that the file lacks
// is a memory fault, which SetPanicOnFault turns into a panic.
func reading(path string, flags int, do func(tx *bbolt.Tx) error) (err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: lockPatience, MmapFlags: flags})
	if err != nil {
		return explained(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the file is damaged (%v); %s", reason, remedy)
		}
	}()
	return db.View(do)
}

// explained adds to an error from bbolt what to do about it.
func explained(err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return errors.New("another process has the file open; stop it first (is the service running?)")
	case errors.As(err, new(*os.PathError)):
		return err
	}
	return fmt.Errorf("the file is not a table, or is damaged: %w; %s", err, remedy)
}
