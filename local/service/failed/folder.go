package failed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentsocial/local/service/durable"
)

// Folder is a Store in the folder with this path. The folder need not exist.
type Folder string

var _ Store = Folder("")

func (f Folder) path(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }

// Put stores a batch durably.
func (f Folder) Put(b *Batch) error {
	path := f.path(b.Key())
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.Write(path, text)
}

// Keys implements [Store].
func (f Folder) Keys(context.Context) ([]string, error) {
	var keys []string
	err := filepath.WalkDir(f.path(Prefix), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == durable.Unfinished {
			return err
		}
		key, err := filepath.Rel(string(f), path)
		keys = append(keys, filepath.ToSlash(key))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return keys, err
}

// Get implements [Store].
func (f Folder) Get(_ context.Context, key string) ([]byte, error) { return os.ReadFile(f.path(key)) }

// Delete implements [Store].
func (f Folder) Delete(_ context.Context, key string) error {
	if err := os.Remove(f.path(key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// All reads the batches of a store.
func All(ctx context.Context, s Store) ([]*Batch, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return nil, err
	}
	var all []*Batch
	for _, key := range keys {
		text, err := s.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		b, err := Read(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		all = append(all, b)
	}
	return all, nil
}
