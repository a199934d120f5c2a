package main

import (
	"context"
	"errors"

	"agentsocial/tables"
)

// listBalances adds balances to the index of balances. Early versions of the service left
// some out.
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
	j.say("listed      %d balances; `make audit` says whether any are left", len(unlisted))
	return nil
}
