package main

import (
	"context"
	"errors"

	"agentsocial/tables"
)

// listGiven lists under its agent what agents gave in a table that is older than these
// lists: votes, reports, seats, signatures and the like. It also removes the names of
// authors from posts and ideas whose texts are gone. It can be repeated, and can run
// while the table is in use.
func listGiven(ctx context.Context, j job) error {
	erased := map[string]bool{}
	var listed, named []tables.Write
	var agents []string
	err := j.Scan(ctx, func(item tables.Item) error {
		agent := tables.Giver(item)
		switch {
		case item.Str(tables.AttrType) == tables.TypeProfile && item.Str("state") == tables.StateErased:
			erased[item.Str("id")] = true
		case tables.NamesAuthor(item):
			named = append(named, tables.ForgetAuthor(item))
		case agent != "" && !tables.IsListedGiven(item):
			listed, agents = append(listed, tables.ListGiven(item)), append(agents, agent)
		}
		return nil
	})
	if err != nil {
		return err
	}
	n := 0
	commit := func(w tables.Write) error {
		err := j.Commit(ctx, tables.Tx{Writes: []tables.Write{w}})
		var gone *tables.Cancelled
		if errors.As(err, &gone) || errors.Is(err, tables.ErrConflict) {
			return nil // it changed meanwhile, and the next run sees it
		}
		if err == nil {
			n++
		}
		return err
	}
	for i, w := range listed {
		if erased[agents[i]] {
			continue
		}
		if err := commit(w); err != nil {
			return err
		}
	}
	j.say("listed      %d items with the agents that gave them", n)
	n = 0
	for _, w := range named {
		if err := commit(w); err != nil {
			return err
		}
	}
	j.say("forgot      the authors' names of %d deleted posts and ideas", n)
	return nil
}
