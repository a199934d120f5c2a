package main

import (
	"context"
	"io"
	"testing"
)

// TestSearchesGrow: a channel that grows is searched within the budgets, and
// SQLite finds the same.
func TestSearchesGrow(t *testing.T) {
	afar(t, func(ctx context.Context) {
		if err := runSearches(ctx, io.Discard, 1, 300, 3000); err != nil {
			t.Error(err)
		}
	})
}
