package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"agentsocial/tables"
)

func storedOf(t interface{ Fatal(...any) }, item tables.Item) *stored {
	if item == nil {
		return absent
	}
	encoded, err := encodeItem(item)
	if err != nil {
		t.Fatal(err)
	}
	s, err := decodeStored(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Records have the images that they were made of, also where only one image exists.
func TestRecord_RoundTrip(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d", "é"})
	rapid.Check(t, func(t *rapid.T) {
		item := rapid.Custom(func(t *rapid.T) tables.Item {
			return rapid.MapOfN(names, genValue(2), 1, 5).Draw(t, "item")
		})
		old, now := item.Draw(t, "old"), item.Draw(t, "new")
		for name, v := range old { // most attributes stay as they were
			if rapid.Bool().Draw(t, "stays") {
				now[name] = v
			}
		}
		switch rapid.IntRange(0, 4).Draw(t, "event") {
		case 0:
			old = nil
		case 1:
			now = nil
		}
		want := &record{at: rapid.Int64Min(0).Draw(t, "at"), expired: rapid.Bool().Draw(t, "expired"), old: storedOf(t, old), now: storedOf(t, now)}
		encoded, err := encodeRecord(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRecord(encoded)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
		if got, err := decodeRecord(encoded[:rapid.IntRange(0, len(encoded)-1).Draw(t, "cut")]); err == nil {
			t.Fatalf("decodeRecord accepted a truncated record: %+v", got)
		}
	})
}

// A change of a counter beside a long text takes little of the feed.
func TestRecord_Difference(t *testing.T) {
	body := strings.Repeat("x", 1000)
	encoded, err := encodeRecord(&record{
		old: storedOf(t, tables.Item{"pk": "P", "sk": "S", "body": body, "n": int64(1)}),
		now: storedOf(t, tables.Item{"pk": "P", "sk": "S", "body": body, "n": int64(2)}),
	})
	if err != nil || len(encoded) > len(body)+60 {
		t.Errorf("got %d bytes, %v; want about the %d of one image", len(encoded), err, len(body))
	}
}

// formerRecord encodes a record as files of format 1 have it, with both images.
func formerRecord(r *record) []byte {
	b := append(binary.BigEndian.AppendUint64(nil, uint64(r.at)), 0)
	if r.expired {
		b[8] = 1
	}
	return appendString(appendString(b, r.old.encoded), r.now.encoded)
}

// A file of format 1 opens, with its items, its feed and its readers' positions. What is
// written then follows.
func TestOpen_FormerFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		item := tables.Item{"pk": "P", "sk": "S", "n": int64(n)}
		if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(item)}}); err != nil {
			t.Fatal(err)
		}
	}
	want, err := table.changesAfter(0, 100)
	if err == nil {
		err = errors.Join(table.SetCheckpoints(t.Context(), map[string]string{"reader": "2"}), table.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		feed := tx.Bucket([]byte(bucketFeed))
		for n := range 5 {
			r := &record{at: want[n].At.UnixMilli(), old: storedOf(t, want[n].Old), now: storedOf(t, want[n].New)}
			if err := feed.Put([]byte(number(uint64(n+1))), formerRecord(r)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte(bucketMeta)).Put(keyFormat, []byte("1"))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time the file has the present format
		if table, err = Open(Config{Path: path}); err != nil {
			t.Fatal(err)
		}
		got, err := table.changesAfter(0, 100)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got the feed\n%+v, %v; want\n%+v", got, err, want)
		}
		positions, err := table.Checkpoints(t.Context())
		if err != nil || fmt.Sprint(positions) != "map[reader:2]" {
			t.Fatalf("got positions %v, %v", positions, err)
		}
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
