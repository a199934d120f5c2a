package embedded_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func TestOpenRefuses(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	used := filepath.Join(folder, "used")
	open(t, embedded.Config{Path: used})
	for path, want := range map[string]string{text: "invalid", used: "another process", folder: "directory", filepath.Join(folder, "no", "table"): "no such file"} {
		table, err := embedded.Open(embedded.Config{Path: path})
		if err == nil {
			table.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q): got %v, want an error with %q", path, err, want)
		}
	}
}

// TestUsage checks the reported units. tables/capacity_test.go checks the formulas.
func TestUsage(t *testing.T) { onBoth(t, testUsage) }

func testUsage(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	i := item{"pk": "P", "sk": "S", "b": make([]byte, 1500), "rank_pk": "R", "rank_sk": "1"} // 2 units in the table, 2 in the index
	other := item{"pk": "P", "sk": "T"}
	commitIt := func(tx tables.Tx) func(context.Context) {
		return func(ctx context.Context) { table.Commit(ctx, tx) }
	}
	single := func(w ...tables.Write) func(context.Context) { return commitIt(tables.Tx{Writes: w}) }
	made := tables.Tx{Token: "t", Writes: []tables.Write{tables.Put(i), tables.Put(other), tables.Check(at("P", "U"), tables.NoItem())}}
	for _, c := range []struct {
		what          string
		do            func(context.Context)
		reads, writes float64
	}{
		{"a put", single(tables.Put(i)), 0, 2 + 2},
		{"the same put", single(tables.Put(i)), 0, 2},
		{"a failed condition", single(tables.Put(i, tables.NoItem())), 0, 2},
		{"a delete", single(tables.Delete(i.Key())), 0, 2 + 2},
		{"a transaction", commitIt(made), 0, 4 + 2 + 2 + 2},
		{"its replay", commitIt(made), 2 + 2 + 2, 0},
		{"a cancelled transaction", single(tables.Put(i, tables.NoItem()), tables.Put(other)), 0, 4 + 2},
		{"a check alone", single(tables.Check(at("P", "U"), tables.NoItem())), 0, 2},
		{"a refused write", single(tables.Put(item{"pk": "P"})), 0, 0},
		{"a get", func(ctx context.Context) { table.Get(ctx, tables.Strong, i.Key(), i.Key(), at("P", "U")) }, 2, 0},
		{"a query", func(ctx context.Context) { table.Query(ctx, tables.Query{PK: "P"}) }, 0.5, 0},
	} {
		ctx, usage := tables.WithUsage(t.Context())
		if c.do(ctx); usage.ReadUnits() != c.reads || usage.WriteUnits() != c.writes || usage.Trips() != 1 {
			t.Errorf("%s: got %v read units, %v write units, %d trips; want %v, %v, 1", c.what, usage.ReadUnits(), usage.WriteUnits(), usage.Trips(), c.reads, c.writes)
		}
	}
}
