package main

import (
	"context"
	"errors"

	"agentsocial/tables"
)

// listCases adds cases to the lists of cases by state, in a table that is older than these
// lists.
func listCases(ctx context.Context, j job) error {
	var unlisted []tables.Item
	err := j.Scan(ctx, func(item tables.Item) error {
		if item.Str(tables.AttrType) == tables.TypeCase && !tables.IsListedCase(item) {
			unlisted = append(unlisted, item)
		}
		return nil
	})
	if err != nil {
		return err
	}
	listed := 0
	for _, item := range unlisted {
		err := j.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.ListCase(item)}})
		var changed *tables.Cancelled
		switch {
		case err == nil:
			listed++
		case !errors.As(err, &changed) && !errors.Is(err, tables.ErrConflict):
			return err
		}
	}
	j.say("listed      %d cases", listed)
	return nil
}
