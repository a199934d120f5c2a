package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

// copyFile is the [copier] of the embedded table.
func (j job) copyFile(_ context.Context, past func() error) (*backup, error) {
	path := filepath.Join(j.Data, "table-drill.db")
	at := j.Now()
	if err := j.Backend.(*embedded.Table).Copy(path); err != nil {
		return nil, err
	}
	if err := past(); err != nil {
		return nil, err
	}
	t, err := embedded.Open(embedded.Config{Path: path, Now: j.Now})
	if err != nil {
		return nil, err
	}
	return &backup{
		Scanner: t, where: path, at: at,
		close:  func() { _ = t.Close() }, // nothing was written
		remove: func(context.Context) error { return os.Remove(path) },
	}, nil
}

// Bounds of one write to a copied table: items and bytes.
const (
	copyItems = 25
	copySize  = 1 << 20
)

// copyTable is the [copier] of DynamoDB Local.
func (j job) copyTable(ctx context.Context, past func() error) (*backup, error) {
	c := j.Dynamo
	c.Table += "-drill"
	at := j.Now()
	client := c.Client()
	var none *types.ResourceNotFoundException
	if err := remove(ctx, client, c.Table); err != nil && !errors.As(err, &none) { // an interrupted drill may have left one
		return nil, err
	}
	if err := dynamo.CreateTable(ctx, client, c.Table, false); err != nil {
		return nil, err
	}
	t := dynamo.Open(c)
	if err := pour(ctx, j, retry.Over(t, rand.Int64N)); err != nil {
		return nil, err
	}
	if err := past(); err != nil {
		return nil, err
	}
	return &backup{
		Scanner: t, where: "table " + c.Table, at: at, close: func() {},
		remove: func(ctx context.Context) error { return remove(ctx, client, c.Table) },
	}, nil
}

func remove(ctx context.Context, client *dynamodb.Client, table string) error {
	_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table})
	return err
}

// pour copies all items of a table into another.
func pour(ctx context.Context, from tables.Scanner, to tables.Backend) error {
	var writes []tables.Write
	size := 0
	flush := func() error {
		if len(writes) == 0 {
			return nil
		}
		err := to.Commit(ctx, tables.Tx{Writes: writes})
		writes, size = nil, 0
		return err
	}
	err := from.Scan(ctx, func(i tables.Item) error {
		if len(writes) == copyItems || size+i.Size() > copySize {
			if err := flush(); err != nil {
				return err
			}
		}
		writes, size = append(writes, tables.Put(i)), size+i.Size()
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// stamp formats a time as the end of a table's name.
func stamp(at time.Time) string { return at.UTC().Format("20060102T150405") }
