package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentsocial/tables"
)

// Table is a table without a service around it, to be read as a whole.
type Table struct {
	tables.Backend
	tables.Scanner
	Where string
	close func()
}

// Close closes it.
func (t *Table) Close() { t.close() }

// OpenTable opens the table of a run: kind and data are those of [Config]. It
// makes none that is not there.
func OpenTable(ctx context.Context, kind, data string) (*Table, error) {
	if file := map[string]string{"embedded": "table.db", "dynamodb-local": "dynamodb-local"}[kind]; file != "" {
		if _, err := os.Stat(filepath.Join(data, file)); err != nil {
			return nil, fmt.Errorf("DATA=%s holds no table: %w", data, err)
		}
	}
	t, err := open(ctx, kind, data, time.Now)
	if err != nil {
		return nil, fmt.Errorf("%w (a table in a file is one process's: does the service run on it?)", err)
	}
	s, ok := t.Backend.(tables.Scanner)
	if !ok {
		t.close()
		return nil, fmt.Errorf("TABLE=%s cannot be read as a whole", kind)
	}
	return &Table{t.Backend, s, t.where, t.close}, nil
}
