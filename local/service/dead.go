package service

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"agentsocial/local/service/failed"
)

// deadLetters stores the batches that readers gave up on, in memory or in a folder
// beside the table, where `make redrive` finds them.
type deadLetters struct {
	folder failed.Folder // "" in memory
	mu     sync.Mutex
	memory []*failed.Batch
}

// failedFolder returns the folder of a table's failed batches.
func failedFolder(dir, kind string) failed.Folder {
	return failed.Folder(filepath.Join(dir, "failed", kind))
}

func (d *deadLetters) add(b *failed.Batch) error {
	if d.folder != "" {
		return d.folder.Put(b)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory = append(d.memory, b)
	return nil
}

func (d *deadLetters) all(ctx context.Context) ([]*failed.Batch, error) {
	if d.folder != "" {
		return failed.All(ctx, d.folder)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*failed.Batch{}, d.memory...), nil
}

// deadLetter is a failed batch in a form for people.
type deadLetter struct {
	Reader string          `json:"reader"`
	Tries  int             `json:"tries"`
	At     time.Time       `json:"at"`
	Event  json.RawMessage `json:"event"`
}

func (d *deadLetters) page(r *http.Request) (any, int) {
	all, err := d.all(r.Context())
	if err != nil {
		return problem(err.Error()), http.StatusInternalServerError
	}
	letters := []deadLetter{}
	for _, b := range all {
		letters = append(letters, deadLetter{b.Reader(), b.Request.Attempts, b.Timestamp, json.RawMessage(b.Event)})
	}
	return letters, http.StatusOK
}
