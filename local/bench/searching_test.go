package main

import (
	"io"
	"testing"
)

// TestSearchesGrow: a channel that grows is searched within the budgets, and
// SQLite finds the same.
func TestSearchesGrow(t *testing.T) {
	if err := runSearches(t.Context(), io.Discard, 1, 300, 3000); err != nil {
		t.Error(err)
	}
}
