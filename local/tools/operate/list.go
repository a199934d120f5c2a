package main

import (
	"context"
	"errors"

	"agentsocial/tables"
)

// listBalances lists the balances of a table from before they were listed. It may
// be done again, and while the table is in use: what moves meanwhile is listed by
// that.
func listBalances(ctx context.Context, j job) error {
	var unlisted []tables.Account
	err := j.Scan(ctx, func(item tables.Item) error {
		if item.Str(tables.AttrType) == tables.TypeBalance && !tables.Listed(item) {
			unlisted = append(unlisted, tables.BalanceOwner(item))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, account := range unlisted {
		list := tables.ListBalance(account).When(tables.ItemExists())
		if err := j.Commit(ctx, tables.Tx{Writes: []tables.Write{list}}); err != nil && !errors.Is(err, tables.ErrConflict) {
			return err
		}
	}
	j.say("listed      %d balances; `make audit` says whether any is left", len(unlisted))
	return nil
}
