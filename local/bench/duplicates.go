package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"agentsocial/functions/ideas/wishes"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// runDuplicates prints what share of ideas in other words is pointed out, and of
// different ones refused; functions/ideas holds that by a test.
func runDuplicates(ctx context.Context, out io.Writer) error {
	pairs, err := wishes.ChosenWith()
	if err != nil {
		return err
	}
	unseen, err := wishes.Unseen()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "likely duplicates among ideas, by %d pairs that thresholds were chosen with, and %d written afterwards\n\n", len(pairs), len(unseen))
	for _, x := range []struct {
		name        string
		board, pair []wishes.Pair
	}{{"chosen with", pairs, pairs}, {"afterwards", slices.Concat(pairs, unseen), unseen}} {
		s, err := wishes.Measure(ctx, inMemory, x.board, x.pair)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-12s %s\n", x.name, s)
	}
	return nil
}

func inMemory(clock func() time.Time) (tables.Backend, func(), error) {
	table, err := embedded.Open(embedded.Config{Now: clock})
	if err != nil {
		return nil, nil, err
	}
	return table, func() { table.Close() }, nil
}
