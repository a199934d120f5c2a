package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"agentsocial/tables"
)

// sized makes an item of exactly size bytes.
func sized(key tables.Key, size int) tables.Item {
	i := item(key, "pad", "")
	i["pad"] = strings.Repeat("x", size-len("pk")-len("sk")-len("pad")-len(key.PK)-len(key.SK))
	return i
}

func testItemSizes(t *testing.T, b tables.Backend) {
	key := k("size", "1")
	exact, above := sized(key, tables.MaxItemSize), sized(key, tables.MaxItemSize+1)
	t.Run("put", func(t *testing.T) {
		mustRefuse(t, b, tables.Put(above))
		wantItem(t, b, key, nil)
		mustCommit(t, b, tables.Put(exact))
		wantItem(t, b, key, exact)
		mustCommit(t, b, tables.Put(exact), tables.Delete(k("size", "beside")))
	})
	t.Run("change", func(t *testing.T) {
		mustRefuse(t, b, tables.Change(key, tables.SetAttr("x", "")))
		mustRefuse(t, b, tables.Change(key, tables.SetAttr("pad", exact.Str("pad")+"x")))
		wantItem(t, b, key, exact)
		mustCommit(t, b, tables.Change(key, tables.SetAttr("pad", "")))
		mustCommit(t, b, tables.Change(key, tables.SetAttr("pad", exact.Str("pad"))))
		wantItem(t, b, key, exact)
	})
	t.Run("names and multi-byte characters", func(t *testing.T) {
		wide := item(key, "é", strings.Repeat("é", (tables.MaxItemSize-len("pksksize1é"))/2))
		for len(wide.Str("é"))+len("pksksize1é") < tables.MaxItemSize {
			wide["é"] = wide.Str("é") + "x"
		}
		mustCommit(t, b, tables.Put(wide))
		wide["é"] = wide.Str("é") + "x"
		mustRefuse(t, b, tables.Put(wide))
	})
	t.Run("a failed condition's item", func(t *testing.T) {
		mustCommit(t, b, tables.Put(exact))
		mustCancel(t, b, []tables.Reason{{Failed: true, Old: exact}}, tables.Delete(key, tables.NoItem()))
	})
}

// testTransactionSizes puts ten of the largest items, which are below 4 MB, and
// eleven, which are above.
func testTransactionSizes(t *testing.T, b tables.Backend) {
	var writes []tables.Write
	for i := range 11 {
		writes = append(writes, tables.Put(sized(k("size", fmt.Sprintf("%02d", i)), tables.MaxItemSize)))
	}
	mustRefuse(t, b, writes...)
	if got := query(t, b, tables.Query{PK: "size", Limit: 1}).Items; len(got) != 0 {
		t.Errorf("after a refused transaction: got %q, want no items", sks(got))
	}
	mustCommit(t, b, writes[:10]...)
}

func testKeySizes(t *testing.T, b tables.Backend) {
	pk, sk := strings.Repeat("p", tables.MaxPKSize), strings.Repeat("s", tables.MaxSKSize)
	mustCommit(t, b, tables.Put(item(k(pk, sk))))
	wantItem(t, b, k(pk, sk), item(k(pk, sk)))
	same(t, "queried", sks(query(t, b, tables.Query{PK: pk, From: sk, To: sk}).Items), []string{sk})

	for _, key := range []tables.Key{k(pk+"p", "a"), k("a", sk+"s"), k(pk[:len(pk)-1]+"é", "a")} {
		mustRefuse(t, b, tables.Put(item(key)))
		mustRefuse(t, b, tables.Change(key, tables.Add("n", 1)))
		mustRefuse(t, b, tables.Delete(key))
		mustRefuse(t, b, tables.Check(key, tables.NoItem()))
		if _, err := b.Get(t.Context(), tables.Strong, key); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("Get: got %v, want ErrInvalid", err)
		}
	}
	for _, q := range []tables.Query{{PK: pk + "p"}, {PK: "a", From: sk + "s"}, {PK: "a", To: sk + "s"}} {
		if _, err := b.Query(t.Context(), q); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("Query: got %v, want ErrInvalid", err)
		}
	}
}
