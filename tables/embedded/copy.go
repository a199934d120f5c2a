package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// Copy writes a consistent snapshot of a file-backed table to path, as a backup that [Open]
// accepts. It overwrites path. The table may be in use meanwhile.
func (t *Table) Copy(path string) error {
	f, ok := t.engine.(*file)
	if !ok {
		return errors.New("embedded: a table in memory cannot be copied")
	}
	if err := f.copy(path); err != nil {
		return fmt.Errorf("embedded: copying to %s: %w", path, err)
	}
	return nil
}

func (f *file) copy(path string) error {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = f.db.View(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(to)
		return err
	})
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
