package embedded_test

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func checkpoints(t *testing.T, table *embedded.Table) map[string]string {
	t.Helper()
	all, err := table.Checkpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantCheckpoints(t *testing.T, table *embedded.Table, want map[string]string) {
	t.Helper()
	if got := checkpoints(t, table); !maps.Equal(got, want) {
		t.Errorf("checkpoints: got %v, want %v", got, want)
	}
}

func TestCheckpoints(t *testing.T) { onBoth(t, testCheckpoints) }

func testCheckpoints(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	set := func(changed map[string]string) error { return table.SetCheckpoints(t.Context(), changed) }
	wantCheckpoints(t, table, map[string]string{})
	if err := set(map[string]string{"a": "1"}); !errors.Is(err, tables.ErrInvalid) {
		t.Errorf("SetCheckpoints with a position in an empty feed: got %v, want %v", err, tables.ErrInvalid)
	}
	commit(t, table, tables.Put(item{"pk": "P", "sk": "1"}))
	commit(t, table, tables.Put(item{"pk": "P", "sk": "2"}))
	records := changes(t, table, "")
	if err := set(map[string]string{"a": records[0].Seq, "b": records[1].Seq}); err != nil {
		t.Fatal(err)
	}
	if err := set(map[string]string{"a": records[1].Seq}); err != nil {
		t.Fatal(err)
	}
	stands := map[string]string{"a": records[1].Seq, "b": records[1].Seq}
	wantCheckpoints(t, table, stands)
	for name, bad := range map[string]map[string]string{
		"beyond the feed": {"a": records[0].Seq, "b": "00000000000000000003"},
		"a letter":        {"a": records[0].Seq, "b": "x"},
		"empty":           {"a": records[0].Seq, "b": ""},
		"no name":         {"a": records[0].Seq, "": "1"},
	} {
		if err := set(bad); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("SetCheckpoints, %s: got %v, want %v", name, err, tables.ErrInvalid)
		}
		wantCheckpoints(t, table, stands)
	}
	if n := len(changes(t, table, "")); n != 2 {
		t.Errorf("after SetCheckpoints: got %d changes in the feed, want 2", n)
	}
	if path == embedded.Memory {
		return
	}
	// A copy has the positions of the time of copying.
	copied := filepath.Join(t.TempDir(), "copy")
	if err := table.Copy(copied); err != nil {
		t.Fatal(err)
	}
	commit(t, table, tables.Put(item{"pk": "P", "sk": "3"}))
	third := changes(t, table, "")[2].Seq
	if err := set(map[string]string{"b": third}); err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	wantCheckpoints(t, open(t, embedded.Config{Path: path}), map[string]string{"a": records[1].Seq, "b": third})
	wantCheckpoints(t, open(t, embedded.Config{Path: copied}), stands)
}

func TestCheckpoints_OlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := open(t, embedded.Config{Path: path})
	i := item{"pk": "P", "sk": "S"}
	commit(t, table, tables.Put(i))
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("checkpoints")) })
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	table = open(t, embedded.Config{Path: path})
	wantCheckpoints(t, table, map[string]string{})
	want(t, table, i)
	if err := table.SetCheckpoints(t.Context(), map[string]string{"a": "1"}); err != nil {
		t.Fatal(err)
	}
	wantCheckpoints(t, table, map[string]string{"a": "1"})
}
