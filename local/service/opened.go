package service

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"agentsocial/local/service/failed"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/retry"
)

// Table is a table without a running service, for maintenance.
type Table struct {
	tables.Backend
	tables.Scanner
	Where    string
	Deployed bool             // it belongs to a deployment, whose functions use it
	Data     string           // its data folder; "" for a deployed table
	Dynamo   dynamo.Config    // its address, if it is in DynamoDB
	Now      func() time.Time // the clock of its service
	Failed   failed.Folder    // its failed batches; "" for a deployed table
	close    func()
}

// Close closes the table.
func (t *Table) Close() { t.close() }

// OpenTable opens an existing table. kind and data are Table and Data of [Config].
func OpenTable(ctx context.Context, kind, data string) (*Table, error) {
	clock := &clock{}
	if file := map[string]string{"embedded": tableFile, "dynamodb-local": "dynamodb-local"}[kind]; file != "" {
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
		return nil, fmt.Errorf("TABLE=%s does not support scans", kind)
	}
	if o.dynamo.Table != "" {
		o.Backend = retry.Over(o.Backend, rand.Int64N)
	}
	t := &Table{Backend: o.Backend, Scanner: s, Where: o.where, Deployed: o.deployed, Dynamo: o.dynamo, Now: clock.Now, close: o.close}
	if !o.deployed {
		t.Data, t.Failed = data, failedFolder(data, kind)
	}
	return t, nil
}
