package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"agentsocial/tables"
)

// sized is an item of exactly size bytes.
func sized(key tables.Key, size int) tables.Item {
	i := item(key, "pad", "")
	i["pad"] = strings.Repeat("x", size-len("pk")-len("sk")-len("pad")-len(key.PK)-len(key.SK))
	return i
}

func testItemSizes(t *testing.T, b tables.Backend) {
	key := k("size", "1")
	exact, above := sized(key, tables.MaxItemSize), sized(key, tables.MaxItemSize+1)
	t.Run("put", func(t *testing.T) {
		refused(t, b, tables.Put(above))
		stands(t, b, key, nil)
		made(t, b, tables.Put(exact))
		stands(t, b, key, exact)
		made(t, b, tables.Put(exact), tables.Delete(k("size", "beside")))
	})
	t.Run("change", func(t *testing.T) {
		refused(t, b, tables.Change(key, tables.SetAttr("x", "")))
		refused(t, b, tables.Change(key, tables.SetAttr("pad", exact.Str("pad")+"x")))
		stands(t, b, key, exact)
		made(t, b, tables.Change(key, tables.SetAttr("pad", "")))
		made(t, b, tables.Change(key, tables.SetAttr("pad", exact.Str("pad"))))
		stands(t, b, key, exact)
	})
	t.Run("of names and of characters that are several bytes", func(t *testing.T) {
		wide := item(key, "é", strings.Repeat("é", (tables.MaxItemSize-len("pksksize1é"))/2))
		for len(wide.Str("é"))+len("pksksize1é") < tables.MaxItemSize {
			wide["é"] = wide.Str("é") + "x"
		}
		made(t, b, tables.Put(wide))
		wide["é"] = wide.Str("é") + "x"
		refused(t, b, tables.Put(wide))
	})
	t.Run("a failed condition's item", func(t *testing.T) {
		made(t, b, tables.Put(exact))
		cancelled(t, b, []tables.Reason{{Failed: true, Old: exact}}, tables.Delete(key, tables.NoItem()))
	})
}

// testTransactionSizes: ten of the largest items are below 4 MB, eleven above.
func testTransactionSizes(t *testing.T, b tables.Backend) {
	var writes []tables.Write
	for i := range 11 {
		writes = append(writes, tables.Put(sized(k("size", fmt.Sprintf("%02d", i)), tables.MaxItemSize)))
	}
	refused(t, b, writes...)
	if got := ask(t, b, tables.Query{PK: "size", Limit: 1}).Items; len(got) != 0 {
		t.Errorf("a refused transaction left %q", sks(got))
	}
	made(t, b, writes[:10]...)
}

func testKeySizes(t *testing.T, b tables.Backend) {
	pk, sk := strings.Repeat("p", tables.MaxPKSize), strings.Repeat("s", tables.MaxSKSize)
	made(t, b, tables.Put(item(k(pk, sk))))
	stands(t, b, k(pk, sk), item(k(pk, sk)))
	same(t, "queried", sks(ask(t, b, tables.Query{PK: pk, From: sk, To: sk}).Items), []string{sk})

	for _, key := range []tables.Key{k(pk+"p", "a"), k("a", sk+"s"), k(pk[:len(pk)-1]+"é", "a")} {
		refused(t, b, tables.Put(item(key)))
		refused(t, b, tables.Change(key, tables.Add("n", 1)))
		refused(t, b, tables.Delete(key))
		refused(t, b, tables.Check(key, tables.NoItem()))
		if _, err := b.Get(t.Context(), tables.Strong, key); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("get: %v; want ErrInvalid", err)
		}
	}
	for _, q := range []tables.Query{{PK: pk + "p"}, {PK: "a", From: sk + "s"}, {PK: "a", To: sk + "s"}} {
		if _, err := b.Query(t.Context(), q); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("query: %v; want ErrInvalid", err)
		}
	}
}
