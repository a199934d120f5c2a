package main

import (
	"context"
	"errors"

	"agentsocial/tables"
)

// listGiven completes the lists of what agents gave ([tables.Giver]) in a table that is
// older than these lists. It repeats the erasure of erased agents, so that the schedule `erase`
// finds the listed items. It also removes the names of authors from deleted posts and ideas.
func listGiven(ctx context.Context, j job) error {
	erased := map[string]tables.Item{} // profiles of erased agents
	var given []tables.Item
	var named []tables.Write
	err := j.Scan(ctx, func(item tables.Item) error {
		switch {
		case item.Str(tables.AttrType) == tables.TypeProfile && item.Str("state") == tables.StateErased:
			erased[item.Str("id")] = item
		case tables.NamesAuthor(item):
			named = append(named, tables.ForgetAuthor(item))
		case tables.Giver(item) != "" && !tables.IsListedGiven(item):
			given = append(given, item)
		}
		return nil
	})
	if err != nil {
		return err
	}
	commit := func(n *int, writes ...tables.Write) error {
		err := j.Commit(ctx, tables.Tx{Writes: writes})
		var gone *tables.Cancelled
		if errors.As(err, &gone) || errors.Is(err, tables.ErrConflict) {
			return nil // the item changed meanwhile, and the next run sees it
		}
		if err == nil {
			*n++
		}
		return err
	}
	var listed, again, forgot int
	for _, item := range given {
		n, writes := &listed, []tables.Write{tables.ListGiven(item)}
		if p := erased[tables.Giver(item)]; p != nil {
			n, writes = &again, append(writes, tables.EraseAgain(p.Str("id"), p.Int("erased_at"), j.Now()))
		}
		if err := commit(n, writes...); err != nil {
			return err
		}
	}
	j.say("listed      %d items with the agents that gave them", listed)
	j.say("erasing     %d items of agents that were erased; the schedule erase removes them", again)
	for _, w := range named {
		if err := commit(&forgot, w); err != nil {
			return err
		}
	}
	j.say("forgot      the authors' names of %d deleted posts and ideas", forgot)
	return nil
}
