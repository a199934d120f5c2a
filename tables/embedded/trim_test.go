package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// follower is a reader of a feed whose changes are numbered from 1.
type follower struct {
	at    int // the last change that it has read
	saved int // the position that it has stored
}

func TestTrim_NoReaderMissesAChange(t *testing.T) { onBoth(t, testTrim) }

func testTrim(t *testing.T, path string) {
	rapid.Check(t, func(t *rapid.T) {
		os.Remove(path)
		now := time.Now()
		table, err := embedded.Open(embedded.Config{Path: path, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { table.Close() }()
		ctx := t.Context()
		readers := map[string]*follower{}
		newest, oldest := 0, 1 // the last change made, and the first that must still be in the feed
		read := func(after string, limit int) (numbers []int) {
			records, _, err := table.Changes(ctx, "shard-0", after, limit, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				seq, err := strconv.Atoi(r.Seq)
				if err != nil || r.New.Int("n") != int64(seq) {
					t.Fatalf("change %s: got the item %v and error %v, want n = %[1]s", r.Seq, r.New, err)
				}
				numbers = append(numbers, seq)
			}
			return numbers
		}
		declare := func(names []string) {
			if err := table.SetReaders(ctx, names); err != nil {
				t.Fatal(err)
			}
			stored, err := table.Checkpoints(ctx)
			if err != nil || len(stored) != len(names) {
				t.Fatalf("stored positions: got %v, %v; want those of %v", stored, err, names)
			}
			before := readers
			readers = map[string]*follower{}
			for _, name := range names {
				f := before[name]
				if f == nil { // begins at the oldest change left
					f = &follower{at: newest}
					if left := read("", 1); len(left) > 0 {
						f.at = left[0] - 1
						if left[0] > oldest {
							t.Fatalf("the oldest change left: got %d, want at most %d", left[0], oldest)
						}
					}
					f.saved = f.at
				}
				f.at = f.saved
				readers[name] = f
			}
		}
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID[string])
		declare(names.Draw(t, "readers"))
		someone := func() *follower {
			var present []string
			for _, name := range []string{"a", "b", "c"} {
				if readers[name] != nil {
					present = append(present, name)
				}
			}
			return readers[rapid.SampledFrom(present).Draw(t, "reader")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				newest++
				put := tables.Put(item{"pk": "P", "sk": fmt.Sprint(newest % 3), "n": int64(newest)})
				if err := table.Commit(ctx, tables.Tx{Writes: []tables.Write{put}}); err != nil {
					t.Fatal(err)
				}
			},
			"read": func(t *rapid.T) {
				f, limit := someone(), rapid.IntRange(1, 10).Draw(t, "limit")
				got := read(fmt.Sprint(f.at), limit)
				if want := min(limit, newest-f.at); len(got) != want {
					t.Fatalf("read after change %d of %d: got %d changes, want %d", f.at, newest, len(got), want)
				}
				for _, n := range got {
					if n != f.at+1 {
						t.Fatalf("change read after %d: got %d, want %d", f.at, n, f.at+1)
					}
					f.at = n
				}
			},
			"crash": func(t *rapid.T) { f := someone(); f.at = f.saved },
			"save": func(t *rapid.T) {
				changed := map[string]string{}
				for name, f := range readers {
					if rapid.Bool().Draw(t, name) {
						changed[name], f.saved = fmt.Sprint(f.at), f.at
					}
				}
				if err := table.SetCheckpoints(ctx, changed); err != nil {
					t.Fatal(err)
				}
			},
			"sweep": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "hours")) * time.Hour)
				if _, err := table.Sweep(ctx); err != nil {
					t.Fatal(err)
				}
				want := slowest(readers, newest) + 1
				if left := read("", 1); len(left) > 0 && left[0] != want || len(left) == 0 && want <= newest {
					t.Fatalf("the oldest change left: got %v, want %d", left, want)
				}
			},
			"restart": func(t *rapid.T) {
				if path != embedded.Memory {
					if err := table.Close(); err != nil {
						t.Fatal(err)
					}
					if table, err = embedded.Open(embedded.Config{Path: path, Now: func() time.Time { return now }}); err != nil {
						t.Fatal(err)
					}
				}
				declare(names.Draw(t, "readers"))
			},
			"": func(*rapid.T) {
				oldest = max(oldest, slowest(readers, newest)+1)
			},
		})
	})
}

// slowest returns the least stored position.
func slowest(readers map[string]*follower, newest int) int {
	for _, f := range readers {
		newest = min(newest, f.saved)
	}
	return newest
}

// Readers get every change once, in order, while the feed is trimmed behind them.
func TestTrim_WhileReading(t *testing.T) { onBoth(t, testTrimWhileReading) }

func testTrimWhileReading(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	const changes, names = 400, 3
	var all []string
	for n := range names {
		all = append(all, fmt.Sprint("reader", n))
	}
	if err := table.SetReaders(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range changes {
			commit(t, table, tables.Put(item{"pk": "P", "sk": "S", "n": int64(n)}))
		}
	})
	for _, name := range all {
		wg.Go(func() {
			for after, n := "", 0; n < changes; {
				records, _, err := table.Changes(t.Context(), "shard-0", after, 1+rand.IntN(20), time.Second)
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range records {
					if r.New.Int("n") != int64(n) {
						t.Errorf("%s: got change %d, want %d", name, r.New.Int("n"), n)
						return
					}
					n, after = n+1, r.Seq
				}
				if err := table.SetCheckpoints(t.Context(), map[string]string{name: after}); after != "" && err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if _, err := table.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _, err := table.Changes(t.Context(), "shard-0", "", 1, 0); err != nil || len(left) != 0 {
		t.Errorf("after all readers were done: got %d changes left, %v; want none", len(left), err)
	}
}

// Unwanted changes leave no gaps in the positions.
func TestFeed_WantedChanges(t *testing.T) { onBoth(t, testWantedChanges) }

func testWantedChanges(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	put := func(sk, itemType string, n int64) tables.Write {
		return tables.Put(item{"pk": "P", "sk": sk, tables.AttrType: itemType, "n": n})
	}
	commit(t, table, put("before", "other", 1))
	table.SetWanted(func(r tables.StreamRecord) bool {
		if r.Key.PK != "P" {
			t.Errorf("func given to SetWanted: got a change of %v, want one in partition P", r.Key)
		}
		return r.New.Str(tables.AttrType) == "wanted" || r.Event == "REMOVE" && r.Old.Str(tables.AttrType) == "wanted"
	})
	commit(t, table, put("a", "wanted", 1), put("b", "other", 1))
	commit(t, table, put("b", "other", 2), put("a", "wanted", 2))
	commit(t, table, tables.Delete(tables.Key{PK: "P", SK: "b"}))
	commit(t, table, tables.Delete(tables.Key{PK: "P", SK: "a"}))
	records, _, err := table.Changes(t.Context(), "shard-0", "", 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, r := range records {
		if seq, _ := strconv.Atoi(r.Seq); seq != i+1 {
			t.Errorf("position of change %d: got %s, want %d", i+1, r.Seq, i+1)
		}
		got = append(got, fmt.Sprint(r.Event, " ", r.Key.SK, " ", r.Old.Int("n"), " ", r.New.Int("n")))
	}
	if want := "INSERT before 0 1, INSERT a 0 1, MODIFY a 1 2, REMOVE a 2 0"; strings.Join(got, ", ") != want {
		t.Errorf("feed: got %s; want %s", strings.Join(got, ", "), want)
	}
}

func TestTrim_FileSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := open(t, embedded.Config{Path: path})
	if err := table.SetReaders(t.Context(), []string{"reader"}); err != nil {
		t.Fatal(err)
	}
	seq := 0
	size := func(rounds int) int64 {
		for range rounds {
			var writes []tables.Write
			for n := range 20 {
				writes = append(writes, tables.Put(item{"pk": "P", "sk": fmt.Sprint(n), "b": make([]byte, 2000), "n": rand.Int64()}))
			}
			commit(t, table, writes...)
			seq += len(writes)
			if err := table.SetCheckpoints(t.Context(), map[string]string{"reader": fmt.Sprint(seq)}); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size(50)
	if after := size(200); after > before {
		t.Errorf("size of the file after 250 rounds: got %d bytes, want at most the %d after 50", after, before)
	}
}

// SetCheckpoints trims a bounded number of changes. Later commits trim the rest.
func TestTrim_WithCommits(t *testing.T) { onBoth(t, testTrimWithCommits) }

func testTrimWithCommits(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	if err := table.SetReaders(t.Context(), []string{"reader"}); err != nil {
		t.Fatal(err)
	}
	n := 0
	puts := func(transactions int) {
		for range transactions {
			var writes []tables.Write
			for range 100 {
				n++
				writes = append(writes, tables.Put(item{"pk": "P", "sk": fmt.Sprint(n)}))
			}
			commit(t, table, writes...)
		}
	}
	puts(60)
	if err := table.SetCheckpoints(t.Context(), map[string]string{"reader": "6000"}); err != nil {
		t.Fatal(err)
	}
	puts(10)
	left, _, err := table.Changes(t.Context(), "shard-0", "", 1, 0)
	if err != nil || len(left) != 1 || left[0].New.Str("sk") != "6001" {
		t.Errorf("the first change left: got %v, %v; want 6001", left, err)
	}
}
