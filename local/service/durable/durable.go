// Package durable writes small files so that a crash never leaves half of one.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Unfinished ends the names of files that are being written.
const Unfinished = ".new"

// Write makes or replaces a file that only its owner may read. After a crash the file has its old
// or its new content. Once Write has succeeded, it has the new. Calls for one file must not overlap.
func Write(path string, content []byte) error {
	if err := fill(path+Unfinished, content); err != nil {
		return err
	}
	if err := os.Rename(path+Unfinished, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path)) // the file's name is in it, so sync it too
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func fill(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}
