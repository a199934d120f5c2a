package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"agentsocial/local/engines/logs"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// folder is a data folder whose service a test starts and stops.
type folder struct {
	*running
	t     *testing.T
	dir   string
	table string // as in service.Config
	below tables.Backend
	keeps bool // as in running
	log   logs.Buffer
}

func newFolder(t *testing.T, table string) *folder {
	return &folder{t: t, dir: t.TempDir(), table: table}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *folder) tryStart() (*service.Service, error) {
	return service.Start(f.t.Context(), service.Config{
		Data: f.dir, Table: f.table, Settings: generous(), KeepFeed: f.keeps, Log: slog.New(slog.NewTextHandler(&f.log, nil)),
		Wrap: func(b tables.Backend) tables.Backend { f.below = b; return b },
	})
}

func (f *folder) start() {
	f.t.Helper()
	s, err := f.tryStart()
	if err != nil {
		f.t.Fatal(err)
	}
	f.running = &running{Service: s, t: f.t, table: f.below, keeps: f.keeps}
	f.t.Cleanup(func() {
		if f.running != nil && f.Service == s {
			f.stop()
		}
	})
}

func (f *folder) stop() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := f.Stop(ctx); err != nil {
		f.t.Error(err)
	}
	f.running = nil
}

func (f *folder) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) kinds(a *transcripts.Agent) (kinds string) {
	f.t.Helper()
	var inbox struct{ Items []struct{ Kind string } }
	f.into(a, "/v1/me/inbox", &inbox)
	for _, e := range inbox.Items {
		kinds += e.Kind + " "
	}
	return strings.TrimSpace(kinds)
}

// works fails the test if the stream's readers miss what happens now.
func (f *folder) works(when string) {
	f.t.Helper()
	a := f.join(fmt.Sprint("agent", f.App.Now().UnixNano()))
	f.drain()
	if got := f.kinds(a); got != "welcome" {
		f.t.Errorf("%s: the inbox of a new agent has %q, want a welcome", when, got)
	}
}

// After a table is removed, or replaced by a copy, the readers' positions fit its stream.
func TestStreamFollowsTheTable(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"embedded", "dynamodb-local"} {
		t.Run(kind, func(t *testing.T) {
			database := "table.db"
			if kind == "dynamodb-local" {
				useLocal(t, 1)
				database = "dynamodb-local/shared-local-instance.db"
			}
			f := newFolder(t, kind)
			f.start()
			fox := f.join("fox")
			f.works("a new table")
			f.stop()
			saved, err := os.ReadFile(f.path(database))
			if err != nil {
				t.Fatal(err)
			}
			f.start()
			for range 5 {
				f.works("the second run")
			}
			f.stop()

			f.write(database, string(saved))
			f.start()
			f.works("a copy put back")
			if got := f.kinds(fox); got != "welcome" {
				t.Errorf("after a copy was put back: got events %q, want one welcome", got)
			}
			f.stop()

			if err := os.Remove(f.path(database)); err != nil {
				t.Fatal(err)
			}
			f.start()
			f.works("a table removed")
			if a := f.call(nil, "GET", "/v1/agents/fox", ""); a.Status != 404 {
				t.Errorf("an agent of the removed table: got %d, want 404", a.Status)
			}
			f.stop()
			if kind == "embedded" && !strings.Contains(f.log.String(), "table.db is missing") {
				t.Errorf("no warning of the missing table in the log:\n%s", f.log.String())
			}
		})
	}
}

// A restart keeps the checkpoints.
func TestStreamGoesOn(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "embedded")
	f.start()
	f.works("the first run")
	f.stop()
	f.start()
	before := f.checkpoints()
	f.stop()
	f.start()
	if after := f.checkpoints(); len(after) == 0 || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("checkpoints: got %v after a restart, want %v", after, before)
	}
}

func (f *folder) checkpoints() map[string]string {
	f.t.Helper()
	all, err := f.below.(tables.Checkpoints).Checkpoints(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// Checkpoint files of earlier versions are adopted if they fit the table. Otherwise the stream is
// read again.
func TestStreamOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, content, says string }{
		{"fits", "checkpoints-embedded.json", "", "are now in the table"},
		{"fits, of a still earlier version", "places-embedded.json", "", "are now in the table"},
		{"beyond the feed", "checkpoints-embedded.json", `{"inbox shard-0":"00000000000000009999","tally shard-0":"00000000000000009999"}`, "read again"},
		{"empty", "checkpoints-embedded.json", " ", "read again"},
		{"not an object", "places-embedded.json", `[1]`, "read again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t, "embedded")
			f.start()
			fox := f.join("fox")
			f.drain()
			f.stop()
			f.start()
			stored := f.checkpoints()
			f.stop()
			forgetCheckpoints(t, f.path("table.db"))
			if c.content == "" {
				b, err := json.Marshal(stored)
				if err != nil {
					t.Fatal(err)
				}
				c.content = string(b)
			}
			f.write(c.file, c.content)
			f.log.Take()
			f.start()
			if said := f.log.String(); !strings.Contains(said, c.says) || !strings.Contains(said, f.path(c.file)) {
				t.Errorf("the log says %q, want %q and the file's name", said, c.says)
			}
			f.works("after the upgrade")
			if got := f.kinds(fox); got != "welcome" {
				t.Errorf("after the upgrade: got events %q, want one welcome", got)
			}
			f.stop()
			if _, err := os.Stat(f.path(c.file)); !os.IsNotExist(err) {
				t.Errorf("the file of the earlier version is still there (%v)", err)
			}
			f.start()
			f.works("a second start")
		})
	}
}

// A stream that is read again from its oldest change changes nothing.
func TestStreamReadAgain(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "embedded")
	f.keeps = true
	f.start()
	fox, owl, elk := f.join("fox"), f.join("owl"), f.join("elk")
	f.credit(elk, 10_000_000)
	do := func(a *transcripts.Agent, target, body string) *transcripts.Answer {
		t.Helper()
		ans := f.call(a, "POST", target, body)
		if ans.Status/100 != 2 {
			t.Fatalf("POST %s: got %d %s, want 2xx", target, ans.Status, ans.Body)
		}
		return ans
	}
	for _, a := range []*transcripts.Agent{owl, elk} {
		f.send(f.follow(a, "agent", "fox", true))
		f.send(f.follow(a, "channel", "golang", true))
		do(a, "/v1/agents/fox/visit", "")
	}
	post := f.asks(fox, "what do you think, @owl?", "")
	reply := f.asks(owl, "I agree with @fox", post)
	do(owl, post+"/vote", `{"v":1}`)
	do(elk, post+"/vote", `{"v":-1}`)
	do(elk, post+"/vote", `{"v":1}`)
	do(fox, reply+"/vote", `{"v":1}`)
	do(elk, post+"/react", `{"emoji":"🦊"}`)
	idea := f.suggests(fox)
	do(owl, "/v1/ideas/"+idea+"/support", "")
	f.send(f.messaging(elk, fox, "hello"))
	f.drain()
	f.call(fox, "DELETE", f.asks(fox, "gone soon", ""), "")
	f.drain()
	f.stop()

	before := scanned(t, f.path("table.db"))
	forgetCheckpoints(t, f.path("table.db"))
	f.start()
	f.drain()
	if dead := f.call(nil, "GET", "/_local/dead", "").Body; strings.TrimSpace(string(dead)) != "[]" {
		t.Errorf("failed batches: got %s, want none", dead)
	}
	f.stop()
	after := scanned(t, f.path("table.db"))
	for key, i := range after {
		if !before[key].Equal(i) {
			t.Errorf("%v changed, want it unchanged\nbefore %v\nafter  %v", key, before[key], i)
		}
	}
	if len(before) < 100 || len(after) != len(before) {
		t.Errorf("after the stream was read again: got %d items, want %d, and at least 100", len(after), len(before))
	}
}

// scanned returns all items of a table that is not in use.
func scanned(t *testing.T, path string) map[tables.Key]tables.Item {
	t.Helper()
	table, err := embedded.Open(embedded.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	all := map[tables.Key]tables.Item{}
	if err := table.Scan(t.Context(), func(i tables.Item) error { all[i.Key()] = i; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestStreamIsTrimmed(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "embedded")
	f.start()
	f.works("a table in a file")
	inMemory := run(t, unlimited())
	inMemory.join("fox")
	for name, r := range map[string]*running{"file": f.running, "memory": inMemory} {
		r.drain()
		left := -1
		for end := time.Now().Add(time.Minute); left != 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			records, _, err := r.embedded().Changes(t.Context(), "shard-0", "", 1000, 0)
			if err != nil {
				t.Fatal(err)
			}
			left = len(records)
		}
		if left != 0 {
			t.Errorf("%s: got %d changes in the feed that all readers have read, want none", name, left)
		}
	}
	f.stop()
	f.start()
	f.works("a second start")
}

func TestStartRefusesDamage(t *testing.T) {
	t.Parallel()
	whole := newFolder(t, "embedded")
	whole.start()
	whole.advance(time.Hour)
	whole.call(whole.join("fox"), "POST", "/v1/me/credits/checkout", `{"usd": 5}`)
	whole.stop()
	table, err := os.ReadFile(whole.path("table.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, content string }{
		{"clock", ""}, {"clock", "soon\n"}, {"clock", "-5\n"}, {"clock", "99999999999999999\n"},
		{"secret", ""}, {"pepper", "short\n"}, {"payments.json", ""}, {"payments.json", `{"key":`},
		{"table.db", ""}, {"table.db", string(table[:16<<10])}, {"table.db", "not a table, but a text of some length"},
	} {
		f := newFolder(t, "embedded")
		if err := os.CopyFS(f.dir, os.DirFS(whole.dir)); err != nil {
			t.Fatal(err)
		}
		f.write(c.file, c.content)
		s, err := f.tryStart()
		if err == nil {
			f.running = &running{Service: s, t: t}
			f.stop()
		}
		if err == nil || !strings.Contains(err.Error(), f.path(c.file)) || !strings.Contains(err.Error(), "replace it with an earlier copy, or remove it") {
			t.Errorf("%s with %.20q: got %v, want an error with the file's name and the remedy", c.file, c.content, err)
		}
		if now, err := os.ReadFile(f.path(c.file)); err != nil || string(now) != c.content {
			t.Errorf("%s with %.20q: the file was changed or removed (%v)", c.file, c.content, err)
		}
		if err := os.Remove(f.path(c.file)); err != nil {
			t.Fatal(err)
		}
		f.start()
		f.works(c.file + " removed")
		f.stop()
	}
}

// forgetCheckpoints removes the checkpoints from a table's file, as if an earlier version had
// written it.
func forgetCheckpoints(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("checkpoints")) })
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
