package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/service/failed"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

func TestRedrive(t *testing.T) {
	dir := t.TempDir()
	s, fox := start(t, dir, true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	events := func() int {
		table := opened(t, dir)
		defer table.Close()
		s, err := take(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		return s.types[tables.TypeInboxWaiting]
	}
	env := map[string]string{"DATA": dir}
	folder := failed.Folder(filepath.Join(dir, "failed", "embedded"))
	batches, err := failed.All(t.Context(), folder)
	if err != nil || len(batches) == 0 || batches[0].Reader() != "inbox" || batches[0].Request.Attempts < 2 || events() != 0 {
		t.Fatalf("got batches %+v, error %v and %d events; want batches of inbox after at least 2 attempts, and no events", batches, err, events())
	}
	if a, err := letters(t, dir); err != nil || !strings.Contains(a, `"reader": "inbox"`) || !strings.Contains(a, fox.ID) {
		t.Errorf("failed batches: got %s, %v; want those of inbox for fox", a, err)
	}

	// A batch with a record that cannot be read stays.
	item := tables.Item{"pk": "A#x", "sk": "L#x", tables.AttrType: tables.TypeMovement, "micro_usd": "many"}
	poison := tables.StreamRecord{Shard: "shard-0", Seq: "7", Event: "INSERT", At: time.Now(), Key: item.Key(), New: item}
	b, err := failed.New("tally", 10, time.Now(), []tables.StreamRecord{poison})
	if err == nil {
		err = folder.Put(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		out, err := makes(t, "redrive", env)
		if !errors.Is(err, errStay) {
			t.Errorf("redrive of a batch with an unreadable record: got error %v, want errStay", err)
		}
		want := "1 of 2 failed batches passed"
		if round > 0 {
			want = "0 of 1 failed batches passed"
		}
		says(t, out, nil, want, b.Key()+": 1 of its 1 records failed again")
		if events() == 0 {
			t.Error("the inbox is empty, want the event of the redriven batch")
		}
	}
	if err := folder.Delete(t.Context(), b.Key()); err != nil {
		t.Fatal(err)
	}
	out, err := makes(t, "redrive", env)
	says(t, out, err, "0 of 0 failed batches")
	if a, err := letters(t, dir); err != nil || strings.TrimSpace(a) != "[]" {
		t.Errorf("failed batches: got %s, %v; want none", a, err)
	}
	if _, err := makes(t, "redrive", map[string]string{"DATA": dir, "LIMITS": "off"}); err != nil {
		t.Errorf("LIMITS=off: got error %v, want none", err)
	}
	if _, err := makes(t, "redrive", map[string]string{"DATA": dir, "LIMITS": "{"}); err == nil || !strings.Contains(err.Error(), "LIMITS") {
		t.Errorf("invalid LIMITS: got error %v, want one that names LIMITS", err)
	}
}

// letters returns the failed batches that the service lists.
func letters(t *testing.T, dir string) (string, error) {
	t.Helper()
	s, err := service.Start(t.Context(), service.Config{
		Data: dir, Table: "embedded", Settings: app.DefaultSettings(), Log: quiet(),
	})
	if err != nil {
		return "", err
	}
	defer stop(t, s)
	res, err := http.Get(s.URL + "/_local/dead")
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

func TestFailingBatchIsHalved(t *testing.T) {
	for n := 1; n < 12; n++ {
		for bad := range 1 << n {
			var records []record
			for i := range n {
				records = append(records, record{seq: string(rune('a' + i))})
			}
			passed := ""
			call := func(_ context.Context, _ *failed.Batch, some []record) (int, error) {
				for i, r := range some {
					if bad>>(r.seq[0]-'a')&1 == 1 {
						return i, nil
					}
					passed += r.seq
				}
				return len(some), nil
			}
			left, err := through(t.Context(), nil, records, call)
			want, stay := "", 0
			for i := range n {
				if bad>>i&1 == 1 {
					stay++
				} else {
					want += records[i].seq
				}
			}
			if err != nil || left != stay || passed != want {
				t.Fatalf("%d records, %b bad: got %d left, want %d; passed %s, want %s; error %v", n, bad, left, stay, passed, want, err)
			}
		}
	}
	broken := errors.New("broken")
	records := []record{{seq: "a"}, {seq: "b"}}
	if _, err := through(t.Context(), nil, records, func(context.Context, *failed.Batch, []record) (int, error) { return 0, broken }); err != broken {
		t.Errorf("a call that fails: got error %v, want %v", err, broken)
	}
	for _, c := range []struct {
		failures []string
		done     int
	}{{nil, 2}, {[]string{"b"}, 1}, {[]string{"a"}, 0}, {[]string{"b", "a"}, 0}, {[]string{""}, 0}, {[]string{"other"}, 0}} {
		if n := done(records, c.failures); n != c.done {
			t.Errorf("failures %v: got %d done, want %d", c.failures, n, c.done)
		}
	}
	const event = `{"Records":[{"dynamodb":{"SequenceNumber":"1","text":"<&>"}},{"dynamodb":{"SequenceNumber":"2"}}]}`
	if same, err := recordsOf([]byte(event)); err != nil || string(eventOf(same)) != event {
		t.Errorf("event %s: got %s, error %v; want the same bytes", event, eventOf(same), err)
	}
	for _, event := range []string{"", "[]", "{}", `{"Records":[]}`, `{"Records":[7]}`} {
		if r, err := recordsOf([]byte(event)); err == nil {
			t.Errorf("event %s: got records %v, want an error", event, r)
		}
	}
}

// sparse is a throttled feed with mostly empty pages.
type sparse struct {
	shards []tables.Shard
	pages  map[string][][]tables.StreamRecord // by shard; a parent shard is closed after its pages
	asked  int
}

func (f *sparse) Shards(context.Context) ([]tables.Shard, error) {
	if f.asked++; f.asked%2 == 1 {
		return nil, tables.ErrThrottled
	}
	return f.shards, nil
}

func (f *sparse) Changes(_ context.Context, shard, _ string, _ int, _ time.Duration) ([]tables.StreamRecord, bool, error) {
	if f.asked++; f.asked%2 == 1 {
		return nil, false, tables.ErrThrottled
	}
	if len(f.pages[shard]) == 0 {
		return nil, shard == "closed", nil
	}
	page := f.pages[shard][0]
	f.pages[shard] = f.pages[shard][1:]
	return page, false, nil
}

// An open shard is read until a page is empty, so record 6 is not read.
func TestReplay_ReadsPastEmptyPages(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 30, 0, 0, time.UTC)
	of := func(seq string, before time.Duration) []tables.StreamRecord {
		return []tables.StreamRecord{{Seq: seq, At: at.Add(-before)}}
	}
	f := &sparse{
		shards: []tables.Shard{{ID: "closed"}, {ID: "open", Parent: "closed"}},
		pages: map[string][][]tables.StreamRecord{
			"closed": {nil, of("1", 2*time.Hour), nil, nil, of("2", 50*time.Minute), nil, of("3", 40*time.Minute), nil},
			"open":   {of("4", 30*time.Minute), of("5", 20*time.Minute), nil, of("6", 0)},
		},
	}
	var out bytes.Buffer
	r := recovery{job: job{out: &out}}
	records, err := r.read(t.Context(), f, at.Add(-time.Hour), at)
	seqs := ""
	for _, x := range records {
		seqs += x.Seq
	}
	if seqs != "2345" {
		t.Errorf("got records %q, want 2345", seqs)
	}
	says(t, out.String(), err, "closed was read up to 2026-11-22T00:50:00Z", "open was read up to 2026-11-22T01:10:00Z")
}
