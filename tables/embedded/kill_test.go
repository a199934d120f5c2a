package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

const (
	victimPath   = "AGENTSOCIAL_TEST_VICTIM"
	victimCloses = "AGENTSOCIAL_TEST_VICTIM_CLOSES" // if set, the victim compacts the file again and again
)

func TestMain(m *testing.M) {
	if path := os.Getenv(victimPath); path != "" {
		work := victim
		if os.Getenv(victimCloses) != "" {
			work = closingVictim
		}
		if err := work(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1) // only after an error: the test kills the victim
	}
	os.Exit(m.Run())
}

func victimWrites(name string) []tables.Write {
	return []tables.Write{
		tables.Put(item{"pk": "HALF", "sk": name + "#a", "rank_pk": "R", "rank_sk": name}, tables.NoItem()),
		tables.Put(item{"pk": "HALF", "sk": name + "#b"}, tables.NoItem()),
		tables.Change(at("COUNT", "N"), tables.Add("n", 1)),
	}
}

func victim(path string) error {
	table, err := embedded.Open(embedded.Config{Path: path})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var failed error
	for worker := range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("%d-%d-%d", os.Getpid(), worker, n)
				if err := table.Commit(context.Background(), tables.Tx{Writes: victimWrites(name)}); err != nil {
					failed = err
					return
				}
				fmt.Fprintln(os.Stdout, name)
			}
		})
	}
	wg.Wait()
	return failed
}

func closingVictim(path string) error {
	for n := 0; ; n++ {
		table, err := embedded.Open(embedded.Config{Path: path})
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%d-%d", os.Getpid(), n)
		if err := table.Commit(context.Background(), tables.Tx{Writes: victimWrites(name)}); err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, name)
		if _, _, err := table.CloseCompacted(); err != nil {
			return err
		}
	}
}

// TestKill kills processes while they commit to a file. Every acknowledged transaction is
// in the file. No transaction is in the file only in part.
func TestKill(t *testing.T) { testKill(t) }

func TestKill_Compacting(t *testing.T) { testKill(t, victimCloses+"=yes") }

func testKill(t *testing.T, env ...string) {
	path := filepath.Join(t.TempDir(), "table")
	acknowledged := map[string]bool{}
	for range 6 {
		for _, name := range kill(t, path, env) {
			acknowledged[name] = true
		}
		checkVictim(t, path, acknowledged)
	}
	t.Logf("%d acknowledged transactions", len(acknowledged))
}

func kill(t *testing.T, path string, env []string) (acknowledged []string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), victimPath+"="+path), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if acknowledged == nil {
			time.AfterFunc(time.Duration(20+rand.IntN(100))*time.Millisecond, func() { cmd.Process.Kill() })
		}
		acknowledged = append(acknowledged, lines.Text())
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the process ended with %v, want it killed", err)
	}
	return acknowledged
}

func checkVictim(t *testing.T, path string, acknowledged map[string]bool) {
	t.Helper()
	table, err := embedded.Open(embedded.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	stored := map[key]item{}
	for _, i := range all(t, table, tables.Query{PK: "HALF"}) {
		stored[i.Key()] = i
	}
	for name := range acknowledged {
		if stored[at("HALF", name+"#a")] == nil {
			t.Fatalf("acknowledged transaction %s is lost", name)
		}
	}
	whole := 0
	for k := range stored {
		name := k.SK[:len(k.SK)-2]
		if stored[at("HALF", name+"#a")] == nil || stored[at("HALF", name+"#b")] == nil {
			t.Fatalf("transaction %s is in the file only in part", name)
		}
		whole++
	}
	count := get(t, table, at("COUNT", "N"))
	if count.Int("n") != int64(whole/2) {
		t.Fatalf("count of transactions: got %d, want %d", count.Int("n"), whole/2)
	}
	if ranked := all(t, table, tables.Query{Index: tables.ByRank, PK: "R"}); len(ranked) != whole/2 {
		t.Fatalf("got %d index entries, want %d", len(ranked), whole/2)
	}
	stored[count.Key()] = count
	replayed := replay(t, table)
	keys := maps.Clone(stored)
	maps.Copy(keys, replayed)
	for k := range keys {
		if !reflect.DeepEqual(replayed[k], stored[k]) {
			t.Fatalf("replayed item %v: got %v, want the table's %v", k, replayed[k], stored[k])
		}
	}
}

func all(t testing.TB, table tables.Backend, q tables.Query) (items []item) {
	t.Helper()
	for {
		page, err := table.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, page.Items...)
		if page.Next == nil {
			return items
		}
		q.After = page.Next
	}
}

// replay rebuilds the table from its feed. Each old image must be the new image of the
// item's previous change.
func replay(t testing.TB, table *embedded.Table) map[key]item {
	t.Helper()
	replayed := map[key]item{}
	for after := ""; ; {
		records := changes(t, table, after)
		if len(records) == 0 {
			return replayed
		}
		for _, r := range records {
			if !reflect.DeepEqual(r.Old, replayed[r.Key]) {
				t.Fatalf("record %s: old image of %v: got %v, want %v", r.Seq, r.Key, r.Old, replayed[r.Key])
			}
			if after = r.Seq; r.New == nil {
				delete(replayed, r.Key)
				continue
			}
			replayed[r.Key] = r.New
		}
	}
}
