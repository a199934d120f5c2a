package embedded_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func large(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	table := open(t, embedded.Config{Path: path})
	for i := range 20 {
		var writes []tables.Write
		for j := range 20 {
			writes = append(writes, tables.Put(item{"pk": fmt.Sprint("P", i), "sk": fmt.Sprint(j), "b": noise(1500 * j)}))
		}
		commit(t, table, writes...)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(b) // never fails
	return b
}

// used returns the size of a file up to the last page in use.
func used(t *testing.T, file []byte) (n int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *bbolt.Tx) error { n = int(tx.Size()); return nil })
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpenRefusesDamage(t *testing.T) {
	whole := large(t)
	zeroed := func(from, to int) []byte {
		b := bytes.Clone(whole)
		clear(b[from:min(to, len(b))])
		return b
	}
	page := os.Getpagesize()
	damaged := map[string][]byte{
		"empty":        {},
		"one byte":     whole[:1],
		"one page":     whole[:page],
		"two pages":    whole[:2*page],
		"three pages":  whole[:3*page],
		"a third":      whole[:len(whole)/3],
		"half":         whole[:len(whole)/2],
		"a page short": whole[:used(t, whole)-page],
		"no meta":      zeroed(0, 2*page),
		"zeros":        zeroed(2*page, len(whole)),
		"half zeros":   zeroed(len(whole)/2, len(whole)),
		"text":         bytes.Repeat([]byte("text"), 25_000),
	}
	for name, b := range damaged {
		path := filepath.Join(t.TempDir(), "table.db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := embedded.Open(embedded.Config{Path: path})
		if err == nil {
			table.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "replace it with an earlier copy, or remove it") {
			t.Errorf("%s: got %v, want an error that names the file and the remedy", name, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b) {
			t.Errorf("%s: opening changed the file (%v)", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "table.db")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, open(t, embedded.Config{Path: path}), item{"pk": "P3", "sk": "5", "b": noise(7500)})
}
