package service

import (
	"context"
	"fmt"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// within is a table with the permissions of a function's role. Like DynamoDB, it refuses what the
// function does not declare, so every test of the service also tests permissions.
type within struct {
	tables.Backend
	name          string
	reads, writes tables.Families
}

// confined returns an App whose table allows only what a function declares.
func confined(a *app.App, name string, reads, writes tables.Families) *app.App {
	own := *a
	own.Table = within{a.Table, name, reads, writes}
	return &own
}

func (w within) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	for _, k := range keys {
		if !w.reads.Has(k.PK) {
			return nil, w.refuse("read", k.PK)
		}
	}
	return w.Backend.Get(ctx, c, keys...)
}

func (w within) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	switch {
	case q.Index == "" && !w.reads.Has(q.PK):
		return tables.Page{}, w.refuse("read", q.PK)
	case q.Index != "" && !w.reads.HasIndex(q.Index):
		return tables.Page{}, w.refuse("read", string(q.Index))
	}
	return w.Backend.Query(ctx, q)
}

func (w within) Commit(ctx context.Context, tx tables.Tx) error {
	for _, x := range tx.Writes {
		if !w.writes.Has(x.Key.PK) {
			return w.refuse("write", x.Key.PK)
		}
	}
	return w.Backend.Commit(ctx, tx)
}

func (w within) refuse(what, where string) error {
	return fmt.Errorf("service: the function %s may not %s %s; it declares reads %q and writes %q", w.name, what, where, w.reads, w.writes)
}
