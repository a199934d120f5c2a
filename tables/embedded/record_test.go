package embedded

import (
	"crypto/rand"
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
	s, err := decodeItem(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRecord_RoundTrip(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d", "é"})
	rapid.Check(t, func(t *rapid.T) {
		item := rapid.Custom(func(t *rapid.T) tables.Item {
			return rapid.MapOfN(names, genValue(2), 1, 5).Draw(t, "item")
		})
		old, now := item.Draw(t, "old"), item.Draw(t, "new")
		for name, v := range old {
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
		want := &record{key: rapid.StringN(1, 20, -1).Draw(t, "key"), at: rapid.Int64Min(0).Draw(t, "at"), expired: rapid.Bool().Draw(t, "expired"), old: storedOf(t, old), now: storedOf(t, now)}
		encoded, err := encodeRecord("", want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRecord("", encoded)
		for _, s := range []*stored{want.old, want.now, got.old, got.now} {
			s.packed = ""
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("decodeRecord: got %+v, %v; want %+v", got, err, want)
		}
		if got, err := decodeRecord("", encoded[:rapid.IntRange(0, len(encoded)-1).Draw(t, "cut")]); err == nil {
			t.Fatalf("decodeRecord accepted a truncated record: %+v", got)
		}
	})
}

func TestRecord_Difference(t *testing.T) {
	body := rand.Text() + rand.Text() + rand.Text() + rand.Text()
	encoded, err := encodeRecord("", &record{
		key: itemKey(tables.Key{PK: "P", SK: "S"}),
		old: storedOf(t, tables.Item{"pk": "P", "sk": "S", "body": body, "n": int64(1)}),
		now: storedOf(t, tables.Item{"pk": "P", "sk": "S", "body": body, "n": int64(2)}),
	})
	if err != nil || len(encoded) > len(body)+60 {
		t.Errorf("a counter beside a long text: got %d bytes, %v; want at most %d", len(encoded), err, len(body)+60)
	}
}

// formerRecord encodes a record as format 1 (with both images) or format 2.
func formerRecord(t *testing.T, r *record, format string) []byte {
	b := append(binary.BigEndian.AppendUint64(nil, uint64(r.at)), 0)
	if r.expired {
		b[8] = flagExpired
	}
	old := r.old.encoded
	if format == "2" && r.old != absent && r.now != absent {
		b[8] |= flagDifference
		var err error
		if old, err = difference(old, r.now.encoded); err != nil {
			t.Fatal(err)
		}
	}
	return appendString(appendString(b, old), r.now.encoded)
}

// A file of a former format keeps its items, feed and positions. An item is packed
// when it is next written or the file is compacted.
func TestOpen_FormerFormat(t *testing.T) {
	for _, f := range formerFormats {
		t.Run(f, func(t *testing.T) { testFormerFormat(t, f) })
	}
}

func testFormerFormat(t *testing.T, former string) {
	path := filepath.Join(t.TempDir(), "table")
	table := openAt(t, path)
	put := func(sk string, n int) {
		t.Helper()
		item := tables.Item{"pk": "P", "sk": sk, "n": int64(n)}
		if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(item)}}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 5 {
		put("S", n)
	}
	put("T", 5)
	added := tables.Tx{Token: "token", Writes: []tables.Write{tables.Change(tables.Key{PK: "P", SK: "T"}, tables.Add("n", 2))}}
	if err := table.Commit(t.Context(), added); err != nil {
		t.Fatal(err)
	}
	want, err := table.changesAfter(0, 100)
	if err == nil {
		err = errors.Join(table.SetCheckpoints(t.Context(), map[string]string{"reader": "2"}), table.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	onFile := func(do func(tx *bbolt.Tx) error) {
		t.Helper()
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err = errors.Join(db.Update(do), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	onFile(func(tx *bbolt.Tx) error {
		feed, items := tx.Bucket([]byte(bucketFeed)), tx.Bucket([]byte(bucketItems))
		for n, c := range want {
			r := &record{at: c.At.UnixMilli(), old: storedOf(t, c.Old), now: storedOf(t, c.New)}
			if err := feed.Put([]byte(number(uint64(n+1))), formerRecord(t, r, former)); err != nil {
				return err
			}
			if err := items.Put([]byte(itemKey(c.Key)), []byte(r.now.encoded)); err != nil {
				return err
			}
		}
		tokens := tx.Bucket([]byte(bucketTokens))
		k, v := tokens.Cursor().First()
		token, err := decodeToken(string(k), string(v))
		if err == nil {
			_, err = tx.CreateBucket([]byte(bucketTokenExpiry))
		}
		if err = errors.Join(err, tokens.Delete(k), tokens.Put([]byte(added.Token), []byte(number(token.end)+token.digest+token.digest))); err != nil {
			return err
		}
		return tx.Bucket([]byte(bucketMeta)).Put(keyFormat, []byte(former))
	})
	versions := func() (all string) {
		onFile(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketItems)).ForEach(func(_, v []byte) error {
				all += fmt.Sprint(v[0])
				return nil
			})
		})
		return all
	}
	for range 2 { // the second time in the present format
		table = openAt(t, path)
		got, err := table.changesAfter(0, 100)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got the feed\n%+v, %v; want\n%+v", got, err, want)
		}
		positions, err := table.Checkpoints(t.Context())
		if err != nil || fmt.Sprint(positions) != "map[reader:2]" {
			t.Fatalf("got positions %v, %v; want map[reader:2]", positions, err)
		}
		closed(t, table)
	}
	if got := versions(); got != "11" {
		t.Errorf("encoding versions of S and T after the file was opened: got %s, want 11", got)
	}
	table = openAt(t, path)
	if err := table.Commit(t.Context(), added); err != nil { // a known token, so this adds nothing
		t.Fatal(err)
	}
	put("S", 6)
	closed(t, table)
	if got := versions(); got != "21" {
		t.Errorf("encoding versions of S and T after a write of S: got %s, want 21", got)
	}
	table = openAt(t, path)
	if _, _, err := table.CloseCompacted(); err != nil {
		t.Fatal(err)
	}
	if got := versions(); got != "22" {
		t.Errorf("encoding versions of S and T after compaction: got %s, want 22", got)
	}
	table = openAt(t, path)
	items, err := table.Get(t.Context(), tables.Strong, tables.Key{PK: "P", SK: "S"}, tables.Key{PK: "P", SK: "T"})
	if err != nil || items[0].Int("n") != 6 || items[1].Int("n") != 7 {
		t.Errorf("items after compaction: got %v, %v; want n = 6 and n = 7", items, err)
	}
	closed(t, table)
}

func TestOpen_LaterFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	closed(t, openAt(t, path))
	db, err := bbolt.Open(path, 0o600, nil)
	if err == nil {
		err = errors.Join(db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketMeta)).Put(keyFormat, []byte("4"))
		}), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Path: path}); err == nil || !strings.Contains(err.Error(), `its format is "4"; this program reads ["1" "2"] and "3"`) {
		t.Errorf("Open of format 4: got %v, want an error that names the formats", err)
	}
}
