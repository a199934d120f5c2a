package embedded

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"agentsocial/tables"
)

func genValue(depth int) *rapid.Generator[any] {
	gens := []*rapid.Generator[any]{
		rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(),
		rapid.SliceOf(rapid.Byte()).AsAny(),
		rapid.Map(rapid.SliceOfNDistinct(rapid.StringN(0, 8, -1), 1, 4, rapid.ID[string]), func(s []string) any { return tables.NewSet(s...) }),
	}
	if depth > 0 {
		gens = append(gens,
			rapid.Map(rapid.SliceOfN(genValue(depth-1), 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.StringN(1, 8, -1), genValue(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	return rapid.OneOf(gens...)
}

func TestEncode_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item := tables.Item(rapid.MapOfN(rapid.StringN(1, 8, -1), genValue(3), 0, 6).Draw(t, "item"))
		b, err := appendItem(nil, item)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := decodeItem(string(b))
		if err != nil || !reflect.DeepEqual(decoded.item, item) || decoded.encoded != string(b) {
			t.Fatalf("decodeItem: got %+v, %v; want item %v, encoded %x", decoded, err, item, b)
		}
		back := decoded.item
		if again, _ := appendItem(nil, back); !bytes.Equal(again, b) {
			t.Fatalf("second encoding: got %x, want %x", again, b)
		}
		if item.Size() != decoded.size {
			t.Fatalf("decodeItem: got size %d, want %d", decoded.size, item.Size())
		}
		if _, err := decodeItem(string(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")])); err == nil {
			t.Fatal("decodeItem accepted a truncated item")
		}
	})
}

func FuzzDecodeItem(f *testing.F) {
	seed, _ := appendItem(nil, tables.Item{"a": tables.List{tables.Map{"b": []byte("c")}}, "n": int64(-1), "s": tables.NewSet("x")})
	f.Add(seed)
	f.Add(appendPacked([]byte{packedVersion}, "key", string(seed)))
	f.Add([]byte{itemVersion, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		decodeStored("key", string(b)) // must neither panic nor allocate without bounds
		decodeRecord("", string(b))
		cutPart(string(b))
	})
}

func TestKeyOrder(t *testing.T) {
	part := rapid.StringOf(rapid.SampledFrom([]rune{0, 1, 2, 'a', 'é', 0xffff}))
	rapid.Check(t, func(t *rapid.T) {
		a := tables.Key{PK: part.Draw(t, "pk"), SK: part.Draw(t, "sk")}
		b := tables.Key{PK: part.Draw(t, "pk"), SK: part.Draw(t, "sk")}
		order := cmp.Or(cmp.Compare(a.PK, b.PK), cmp.Compare(a.SK, b.SK))
		if got := strings.Compare(itemKey(a), itemKey(b)); got != order {
			t.Fatalf("order of %q and %q: got %d, want %d", a, b, got, order)
		}
		pk, rest, err := cutPart(itemKey(a))
		sk, end, err2 := cutPart(rest)
		if pk != a.PK || sk != a.SK || end != "" || err != nil || err2 != nil {
			t.Fatalf("parts of the key of %q: got %q and %q, errors %v and %v, rest %q", a, pk, sk, err, err2, end)
		}
	})
}

func TestKeyOrder_UTF8(t *testing.T) {
	sorted := []string{"A", "B", "Z", "a", "~", "é", "日", "\uffff", "\U0001F600"}
	if !slices.IsSortedFunc(sorted, func(a, b string) int { return strings.Compare(rowOf("", a), rowOf("", b)) }) {
		t.Fatalf("%q are not in the order of their keys", sorted)
	}
}

func TestBrokenFile(t *testing.T) {
	table, err := Open(Config{Path: filepath.Join(t.TempDir(), "table")})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	k := tables.Key{PK: "P", SK: "S"}
	err = table.engine.(*file).db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(bucketItems)).Put([]byte(itemKey(k)), []byte{itemVersion, 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	_, getErr := table.Get(t.Context(), tables.Strong, k)
	_, queryErr := table.Query(t.Context(), tables.Query{PK: k.PK})
	commitErr := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Delete(k)}})
	for call, err := range map[string]error{"Get": getErr, "Query": queryErr, "Commit": commitErr} {
		if !errors.Is(err, errBrokenItem) {
			t.Errorf("%s: got %v, want %v", call, err, errBrokenItem)
		}
	}
}

// An item with more levels than may be written now can be read and changed.
func TestFormerNesting(t *testing.T) {
	table, err := Open(Config{Path: filepath.Join(t.TempDir(), "table")})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var deep any = tables.List{}
	for range tables.MaxNesting + formerNesting - 1 {
		deep = tables.List{deep}
	}
	item := tables.Item{"pk": "P", "sk": "S", "deep": deep}
	key := item.Key()
	err = table.engine.write(t.Context(), func(now *trees) error {
		encoded, err := encodeItem(item)
		if err != nil {
			return err
		}
		return now.items.put(itemKey(key), &stored{encoded: encoded})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Change(key, tables.SetAttr("n", int64(1)))}}); err != nil {
		t.Fatal(err)
	}
	item["n"] = int64(1)
	got, err := table.Get(t.Context(), tables.Strong, key)
	if err != nil || !reflect.DeepEqual(got[0], item) {
		t.Errorf("Get after the change: got %v, %v; want %v", got, err, item)
	}
	if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(item)}}); !errors.Is(err, tables.ErrInvalid) {
		t.Errorf("putting the item again: got %v, want %v", err, tables.ErrInvalid)
	}
}
