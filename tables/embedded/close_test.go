package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
)

func openAt(t *testing.T, path string) *Table {
	t.Helper()
	table, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

func closed(t *testing.T, table *Table) {
	t.Helper()
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
}

func noise(seed, n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(b) // never fails
	return b
}

func puts(t *testing.T, table *Table, from, to int) {
	t.Helper()
	for n := from; n < to; n += 20 {
		var writes []tables.Write
		for i := n; i < min(n+20, to); i++ {
			writes = append(writes, tables.Put(tables.Item{"pk": "P", "sk": fmt.Sprintf("%05d", i), "rank_pk": "R", "rank_sk": fmt.Sprint(i), "b": noise(i, 3000)}))
		}
		if err := table.Commit(t.Context(), tables.Tx{Writes: writes}); err != nil {
			t.Fatal(err)
		}
	}
}

// contents returns everything in a file but the time when it was closed.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]string{}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			all[string(name)] = fmt.Sprint(b.Sequence())
			return b.ForEach(func(k, v []byte) error {
				if !bytes.Equal(k, keyClosed) {
					all[string(name)+"/"+string(k)] = string(v)
				}
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// listed reports whether a file's newest meta page (bbolt's internal/common.Meta) has a
// list of its free pages.
func listed(t *testing.T, path string) bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var newest, list uint64
	for _, at := range []int{0, os.Getpagesize()} {
		meta := b[at+16:]
		if txid := binary.NativeEndian.Uint64(meta[48:]); txid >= newest {
			newest, list = txid, binary.NativeEndian.Uint64(meta[32:])
		}
	}
	return list != 1<<64-1
}

func TestClose_Clean(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	isClean := func(path, when string, want bool) {
		t.Helper()
		if clean, err := checkFile(path); err != nil || clean != want {
			t.Errorf("%s: checkFile = %t, %v; want %t", when, clean, err, want)
		}
		if !listed(t, path) {
			t.Errorf("%s: the free pages are not listed", when)
		}
	}
	table := openAt(t, path)
	puts(t, table, 0, 100)
	closed(t, table)
	isClean(path, "closed", true)
	closed(t, openAt(t, path))
	isClean(path, "closed without a write", true)

	table = openAt(t, path)
	puts(t, table, 100, 101)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "killed")
	if err := os.WriteFile(killed, b, 0o600); err != nil {
		t.Fatal(err)
	}
	isClean(killed, "killed", false)
	closed(t, openAt(t, killed))
	isClean(killed, "killed, opened and closed", true)
	closed(t, table)
	isClean(path, "closed after another write", true)

	if b, err = os.ReadFile(path); err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	isClean(path, "written by another program", false)
}

func TestMapAtOnce(t *testing.T) {
	if small, large := mapAtOnce(atOnceMost), mapAtOnce(atOnceMost+1); small != mapPopulate || large != 0 {
		t.Errorf("mapAtOnce: got flags %#x for a file of 4 GiB and %#x for a larger one, want %#x and 0", small, large, mapPopulate)
	}
}

func TestOpen_DamagedFreeList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := openAt(t, path)
	puts(t, table, 0, 100)
	closed(t, table)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page, found := os.Getpagesize(), 0
	for at := 2 * page; at+page <= len(b); at += page {
		if binary.NativeEndian.Uint16(b[at+8:]) == 0x10 { // a list of free pages, maybe an old one
			clear(b[at : at+page])
			found++
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil || found == 0 {
		t.Fatalf("lists of free pages: got %d, %v; want at least one", found, err)
	}
	if _, err := Open(Config{Path: path}); err == nil || !strings.Contains(err.Error(), remedy) {
		t.Fatalf("Open: got %v, want an error with the remedy", err)
	}
}

func TestClose_Compacts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := openAt(t, path)
	puts(t, table, 0, 8000)
	if err := table.SetReaders(t.Context(), []string{"reader"}); err != nil {
		t.Fatal(err)
	}
	if err := table.SetCheckpoints(t.Context(), map[string]string{"reader": "7990"}); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 7000; n += 100 {
		var writes []tables.Write
		for i := n; i < n+100; i++ {
			writes = append(writes, tables.Delete(tables.Key{PK: "P", SK: fmt.Sprintf("%05d", i)}))
		}
		if err := table.Commit(t.Context(), tables.Tx{Writes: writes}); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.SetCheckpoints(t.Context(), map[string]string{"reader": "14990"}); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := table.engine.(*file)
	f.compact = time.Nanosecond // no compaction ends in time
	closed(t, table)
	large, before := sizeOf(t, path), contents(t, path)

	table = openAt(t, path)
	if err := table.SetCheckpoints(t.Context(), map[string]string{"reader": "14990"}); err != nil {
		t.Fatal(err)
	}
	closed(t, table)
	if small := sizeOf(t, path); small > large/3 {
		t.Errorf("the file has %d bytes after Close, want at most a third of %d", small, large)
	}
	if got := contents(t, path); !reflect.DeepEqual(got, before) {
		t.Errorf("Close changed the contents: %d entries before, %d after", len(before), len(got))
	}
	if clean, err := checkFile(path); err != nil || !clean || !listed(t, path) {
		t.Errorf("the compacted file: got clean %v, %v; want a clean file that lists its free pages", clean, err)
	}
	if _, err := os.Stat(path + compacted); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary file: got %v, want that it does not exist", err)
	}
	puts(t, openAt(t, path), 0, 100)
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestCloseCompacted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	if err := os.WriteFile(path+compacted, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	table := openAt(t, path)
	if _, err := os.Stat(path + compacted); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary file: got %v, want that it does not exist", err)
	}
	puts(t, table, 0, 1000)
	if _, err := Open(Config{Path: path}); err == nil || !strings.Contains(err.Error(), "another process has the file open") {
		t.Errorf("a second Open: got %v, want an error that the file is open", err)
	}
	before, after, err := table.CloseCompacted()
	if err != nil || after > before || after != sizeOf(t, path) {
		t.Errorf("CloseCompacted: got %d bytes before and %d after, %v; want no more after, and the file's size %d", before, after, err, sizeOf(t, path))
	}
	table = openAt(t, path)
	for n := range 100 {
		if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Delete(tables.Key{PK: "P", SK: fmt.Sprintf("%05d", n)})}}); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, table)
	if before, after, err = openAt(t, path).CloseCompacted(); err != nil || after > before {
		t.Errorf("CloseCompacted of a clean file: got %d bytes before and %d after, %v; want no more after", before, after, err)
	}
	if _, _, err := openAt(t, Memory).CloseCompacted(); err == nil {
		t.Error("a table in memory was compacted")
	}
}

// A process waits for the file's lock while the file is replaced.
func TestOpen_ReplacedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := openAt(t, path)
	puts(t, table, 0, 100)
	opened := make(chan error)
	go func() {
		db, err := openCurrent(path)
		if err == nil {
			err = db.View(func(tx *bbolt.Tx) error {
				if closedAt(tx) == 0 {
					return errors.New("the old file was opened")
				}
				return nil
			})
			err = errors.Join(err, db.Close())
		}
		opened <- err
	}()
	time.Sleep(100 * time.Millisecond)
	if _, _, err := table.CloseCompacted(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}
