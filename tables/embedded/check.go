package embedded

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// remedy ends the error for a damaged file.
const remedy = "replace it with an earlier copy, or remove it to begin with an empty table"

// checkFile refuses a damaged or empty file. bbolt panics or crashes when it reads a
// damaged file, and treats an empty file as a new table. clean means that nobody has touched
// the file since this program closed it. Only then its pages are not checked, so that a
// start does not take seconds.
func checkFile(path string) (clean bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil // it will be made
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, nil // bbolt's own error says what is wrong
	case info.Size() == 0:
		return false, errors.New("the file is empty; " + remedy)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: lockPatience})
	if err != nil {
		return false, explained(err)
	}
	clean, err = checkPages(db, path)
	return clean, errors.Join(err, db.Close())
}

// checkPages reads every page's keys unless the file is clean. Reading a page that the
// file lacks is a memory fault, which SetPanicOnFault turns into a panic.
func checkPages(db *bbolt.DB, path string) (clean bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the file is damaged (%v); %s", reason, remedy)
		}
	}()
	err = db.View(func(tx *bbolt.Tx) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Size() < tx.Size() {
			return fmt.Errorf("the file is cut off: it has %d bytes of %d; %s", info.Size(), tx.Size(), remedy)
		}
		if clean = closedAt(tx) == info.ModTime().UnixNano(); clean {
			return nil
		}
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(_, _ []byte) error { return nil })
		})
	})
	return clean, err
}

// explained adds to an error from bbolt what to do about it. It returns an
// [os.PathError] unchanged.
func explained(err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return errors.New("another process has the file open; stop it first (is the service running?)")
	case errors.As(err, new(*os.PathError)): // it cannot be read
		return err
	}
	return fmt.Errorf("the file is not a table, or is damaged: %w; %s", err, remedy)
}
