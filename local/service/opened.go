package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentsocial/local/service/failed"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
)

// Table is a table without a service around it, for those who look after it.
type Table struct {
	tables.Backend
	tables.Scanner
	Where    string
	Deployed bool             // its functions run elsewhere
	Data     string           // the folder of what belongs to it; "" for a deployed one
	Dynamo   dynamo.Config    // where it is, if it is DynamoDB's
	Now      func() time.Time // the clock of its service
	Failed   failed.Folder    // what its readers gave up; "" for a deployed one
	close    func()
}

// Close closes it.
func (t *Table) Close() { t.close() }

// OpenTable opens the table of a run: kind and data are those of [Config]. It
// makes none that is not there.
func OpenTable(ctx context.Context, kind, data string) (*Table, error) {
	clock := &clock{}
	if file := map[string]string{"embedded": "table.db", "dynamodb-local": "dynamodb-local"}[kind]; file != "" {
		_, err := os.Stat(filepath.Join(data, file))
		if err != nil {
			return nil, fmt.Errorf("DATA=%s holds no table: %w", data, err)
		}
		if clock, err = openClock(data); err != nil {
			return nil, err
		}
	}
	o, err := open(ctx, kind, data, "", clock.Now)
	if err != nil {
		return nil, err
	}
	s, ok := o.Backend.(tables.Scanner)
	if !ok {
		o.close()
		return nil, fmt.Errorf("TABLE=%s cannot be read as a whole", kind)
	}
	t := &Table{Backend: o.Backend, Scanner: s, Where: o.where, Deployed: o.deployed, Dynamo: o.dynamo, Now: clock.Now, close: o.close}
	if !o.deployed {
		t.Data, t.Failed = data, failedFolder(data, kind)
	}
	return t, nil
}
