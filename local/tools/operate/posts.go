package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"agentsocial/tables"
)

// listAtOnce bounds the concurrent writes. One at a time would be slow, since an old table
// may have millions of posts.
const listAtOnce = 16

// listPosts adds posts to the index of posts by id, in a table that is older than the
// index.
func listPosts(ctx context.Context, j job) error {
	var unlisted []tables.Key
	err := j.Scan(ctx, func(item tables.Item) error {
		if item.Str(tables.AttrType) == tables.TypePostCounters && !tables.IsFoundByID(item) {
			unlisted = append(unlisted, item.Key())
		}
		return nil
	})
	if err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(listAtOnce)
	for _, k := range unlisted {
		work.Go(func() error {
			err := j.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.ListPost(k)}})
			for errors.Is(err, tables.ErrConflict) && ctx.Err() == nil { // a mark is being counted
				err = j.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.ListPost(k)}})
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	j.say("listed      %d posts", len(unlisted))
	return nil
}
