package embedded_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// A copy of a table in use has each transaction as a whole or not at all.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	table := open(t, embedded.Config{Path: filepath.Join(dir, "table")})
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for n := int64(1); ; n++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			var writes []tables.Write
			for i := range 20 {
				writes = append(writes, tables.Put(item{"pk": fmt.Sprint("P", i), "sk": "S", "n": n}))
			}
			if err := table.Commit(t.Context(), tables.Tx{Writes: writes}); err != nil {
				stopped <- err
				return
			}
		}
	}()
	path := filepath.Join(dir, "copy")
	last := int64(0)
	for range 20 {
		if err := table.Copy(path); err != nil {
			t.Fatal(err)
		}
		copied, err := embedded.Open(embedded.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int64]int{}
		err = copied.Scan(t.Context(), func(i tables.Item) error { seen[i.Int("n")]++; return nil })
		if err != nil || len(seen) > 1 {
			t.Fatalf("items per transaction: got %v, %v; want at most one transaction", seen, err)
		}
		for n, items := range seen {
			if items != 20 || n < last {
				t.Fatalf("got %d items of transaction %d, want 20 of transaction %d or later", items, n, last)
			}
			last = n
		}
		if err := copied.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if err := table.Copy(filepath.Join(dir, "no", "folder")); err == nil {
		t.Error("Copy to a missing folder succeeded")
	}
	if err := open(t, embedded.Config{}).Copy(path); err == nil {
		t.Error("Copy of a table in memory succeeded")
	}
}
