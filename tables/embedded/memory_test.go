package embedded_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// load is a table that gets ten transactions a second, and has one reader.
type load struct {
	*embedded.Table
	now time.Time
	seq int
}

func openLoad(t *testing.T, path string) *load {
	l := &load{now: time.Now()}
	l.Table = open(t, embedded.Config{Path: path, Now: func() time.Time { return l.now }})
	if err := l.SetReaders(t.Context(), []string{"reader"}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *load) commit(t *testing.T, token string, writes ...tables.Write) {
	t.Helper()
	if err := l.Commit(t.Context(), tables.Tx{Token: token, Writes: writes}); err != nil {
		t.Fatal(err)
	}
	l.seq += len(writes)
	l.now = l.now.Add(100 * time.Millisecond)
}

func (l *load) post(t *testing.T, n int) {
	sk := fmt.Sprintf("P#%07d", n)
	l.commit(t, fmt.Sprintf("%032d", n),
		tables.Put(item{"pk": "C#lounge", "sk": sk, "type": "post", "author": "ag_01", "body": hex.EncodeToString(noise(150)), "parent_pk": "ROOTS#lounge", "parent_sk": sk}),
		tables.Put(item{"pk": "C#lounge", "sk": sk + "+", "type": "counters", "score": int64(1), "rank_pk": "BEST#lounge", "rank_sk": sk}))
}

func (l *load) sweep(t *testing.T) {
	t.Helper()
	if err := l.SetCheckpoints(t.Context(), map[string]string{"reader": fmt.Sprint(l.seq)}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A table in memory takes at most as many bytes as the same table in a file, also under a
// constant load that deletes as much as it adds.
func TestMemory_Size(t *testing.T) {
	const posts = 2000
	path := filepath.Join(t.TempDir(), "table")
	inFile := openLoad(t, path)
	for n := range posts {
		inFile.post(t, n)
	}
	inFile.now = inFile.now.Add(time.Hour)
	inFile.sweep(t)
	if err := inFile.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	l := openLoad(t, embedded.Memory)
	for n := range posts {
		l.post(t, n)
	}
	l.now = l.now.Add(time.Hour)
	l.sweep(t)
	full := heap() - before
	if full > info.Size() {
		t.Errorf("%d posts: got %d bytes of memory, want at most the %d of a file", posts, full, info.Size())
	}
	most := int64(0)
	for n := posts; n < 6*posts; n++ {
		l.post(t, n)
		old := fmt.Sprintf("P#%07d", n-posts)
		l.commit(t, "", tables.Delete(at("C#lounge", old)), tables.Delete(at("C#lounge", old+"+")))
		if n%500 == 0 {
			l.sweep(t)
			if n%posts == 0 {
				most = max(most, heap()-before)
			}
		}
	}
	t.Logf("%d bytes in a file, %d in memory, at most %d under load", info.Size(), full, most)
	if most > info.Size() { // although it also holds the tokens of the last ten minutes
		t.Errorf("under a constant load: got %d bytes of memory, want at most the %d of a file", most, info.Size())
	}
	runtime.KeepAlive(l)
}
