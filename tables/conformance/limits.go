package conformance

import (
	"errors"
	"fmt"
	"math"
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

// Ten of the largest items are below the limit of 4 MB, and eleven are above.
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
			t.Errorf("Get of too long a key: got %v, want ErrInvalid", err)
		}
	}
	for _, q := range []tables.Query{{PK: pk + "p"}, {PK: "a", From: sk + "s"}, {PK: "a", To: sk + "s"}} {
		if _, err := b.Query(t.Context(), q); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("Query with too long a key: got %v, want ErrInvalid", err)
		}
	}
}

func testNameSizes(t *testing.T, b tables.Backend) {
	key, name := k("names", "1"), strings.Repeat("n", tables.MaxNameSize)
	mustCommit(t, b, tables.Put(item(key, name, "v", "m", tables.Map{name: "v"})))
	wantItem(t, b, key, item(key, name, "v", "m", tables.Map{name: "v"}))
	mustCommit(t, b, tables.Change(key, tables.SetAttr(name, "w"), tables.RemoveAttr("m")).When(tables.Equal(name, "v")))
	wantItem(t, b, key, item(key, name, "w"))
	mustCommit(t, b, tables.Put(item(key)))

	for _, long := range []string{name + "n", name[1:] + "é"} {
		mustRefuse(t, b, tables.Put(item(key, long, "v")))
		mustRefuse(t, b, tables.Put(item(key, "m", tables.Map{long: "v"})))
		mustRefuse(t, b, tables.Put(item(key, "l", tables.List{tables.Map{long: "v"}})))
		mustRefuse(t, b, tables.Change(key, tables.SetAttr(long, "v")))
		mustRefuse(t, b, tables.Change(key, tables.RemoveAttr(long)))
		mustRefuse(t, b, tables.Change(key, tables.SetAttr("m", tables.Map{long: "v"})))
		mustRefuse(t, b, tables.Delete(key, tables.Absent(long)))
	}
	wantItem(t, b, key, item(key))
}

func nested(n int, v any, maps bool) any {
	for range n {
		if maps {
			v = tables.Map{"k": v}
		} else {
			v = tables.List{v}
		}
	}
	return v
}

func testNesting(t *testing.T, b tables.Backend) {
	const most = tables.MaxNesting
	for i, v := range []any{
		nested(most, "x", false), nested(most, "x", true), nested(most, tables.NewSet("a"), true),
		nested(most-1, tables.List{}, false), nested(most-2, tables.Map{"a": int64(1), "b": tables.List{}}, true),
	} {
		key := k("nesting", fmt.Sprint(i))
		mustCommit(t, b, tables.Put(item(key, "v", v)))
		wantItem(t, b, key, item(key, "v", v))
		mustCommit(t, b, tables.Change(key, tables.SetAttr("w", v)), tables.Delete(k("nesting", "beside")))
		wantItem(t, b, key, item(key, "v", v, "w", v))
	}
	key := k("nesting", "refused")
	for _, v := range []any{
		nested(most+1, "x", false), nested(most+1, "x", true), nested(most, tables.List{}, true), nested(most, tables.Map{}, false),
	} {
		mustRefuse(t, b, tables.Put(item(key, "v", v)))
		mustRefuse(t, b, tables.Change(key, tables.SetAttr("v", v)))
		mustRefuse(t, b, tables.Change(key, tables.SetAttr("v", v)).When(tables.ItemExists())) // although the condition fails, too
	}
	wantItem(t, b, key, nil)
}

func testLongExpressions(t *testing.T, b tables.Backend) {
	key := k("expressions", "1")
	conds := map[string]func(attr string) tables.Cond{
		"absent":                    tables.Absent,
		"absent or equal":           func(a string) tables.Cond { return tables.AbsentOrEqual(a, "x") },
		"absent or before":          func(a string) tables.Cond { return tables.AbsentOrBefore(a, 1) },
		"not equal":                 func(a string) tables.Cond { return tables.NotEqual(a, int64(1)) },
		"contains or size is below": func(a string) tables.Cond { return tables.ContainsOrSizeBelow(a, "m", 1) },
	}
	many := func(n int, cond func(string) tables.Cond) (all []tables.Cond) {
		for i := range n {
			all = append(all, cond(fmt.Sprint("none", i)))
		}
		return all
	}
	sets := func(n int, update func(string) tables.Update) (all []tables.Update) {
		for i := range n {
			all = append(all, update(fmt.Sprint("u", i)))
		}
		return all
	}
	set := func(a string) tables.Update { return tables.SetAttr(a, "v") }
	add := func(a string) tables.Update { return tables.Add(a, 1) }
	for name, cond := range conds {
		t.Run(name, func(t *testing.T) {
			most := many(tables.MaxConds, cond)
			mustCommit(t, b, tables.Put(item(key), most...))
			mustCommit(t, b, tables.Change(key, sets(tables.MaxUpdates, set)...).When(most...), tables.Delete(k("expressions", "2"), most...))
			mustCommit(t, b, tables.Delete(key, most...))
			above := many(tables.MaxConds+1, cond)
			mustRefuse(t, b, tables.Put(item(key), above...))
			mustRefuse(t, b, tables.Change(key, set("x")).When(above...))
			mustRefuse(t, b, tables.Change(key, set("x"), add("n")).When(most...))
			mustRefuse(t, b, tables.Delete(key, above...))
			mustRefuse(t, b, tables.Check(key, above...))
			wantItem(t, b, key, nil)
		})
	}
	for name, update := range map[string]func(string) tables.Update{
		"set": set, "remove": tables.RemoveAttr,
		"add to set":      func(a string) tables.Update { return tables.AddToSet(a, "m") },
		"remove from set": func(a string) tables.Update { return tables.RemoveFromSet(a, "m") },
	} {
		t.Run(name, func(t *testing.T) {
			mustCommit(t, b, tables.Put(item(key)))
			mustCommit(t, b, tables.Change(key, sets(tables.MaxUpdates, update)...))
			mustRefuse(t, b, tables.Change(key, sets(tables.MaxUpdates+1, update)...))
		})
	}
	t.Run("add", func(t *testing.T) {
		mustCommit(t, b, tables.Put(item(key)))
		mustCommit(t, b, tables.Change(key, append(sets(tables.MaxConds, add), sets(tables.MaxUpdates, set)[tables.MaxConds:]...)...))
		if got := len(read(t, b, key)); got != 2+tables.MaxUpdates {
			t.Errorf("attributes after the updates: got %d, want %d", got, 2+tables.MaxUpdates)
		}
		mustRefuse(t, b, tables.Change(key, sets(tables.MaxConds+1, add)...))
	})
}

func testLargeSums(t *testing.T, b tables.Backend) {
	const most, least = int64(math.MaxInt64), int64(math.MinInt64)
	key := k("sums", "1")
	for _, c := range []struct{ n, add, sum int64 }{
		{most, 0, most}, {most, -1, most - 1}, {most - 1, 1, most}, {0, most, most}, {-1, most, most - 1}, {most, least, -1}, {most, -most, 0},
		{least, 0, least}, {least, 1, least + 1}, {least + 1, -1, least}, {0, least, least}, {1, least, least + 1}, {least, most, -1},
	} {
		mustCommit(t, b, tables.Put(item(key, "n", c.n)))
		mustCommit(t, b, tables.Change(key, tables.Add("n", c.add)))
		wantItem(t, b, key, item(key, "n", c.sum))
	}
	for _, c := range []struct{ n, add int64 }{{most, 1}, {1, most}, {most, most}, {least, -1}, {-1, least}, {least, least}} {
		whole := item(key, "n", c.n, "s", "text")
		mustCommit(t, b, tables.Put(whole))
		mustRefuse(t, b, tables.Change(key, tables.Add("n", c.add)))
		mustRefuse(t, b, tables.Change(key, tables.Add("n", c.add)).When(tables.Equal("s", "text"), tables.Equal("n", c.n)))
		mustRefuse(t, b, tables.Change(key, tables.Add("n", c.add), tables.Add("m", 1), tables.SetAttr("x", "y")))
		// An overflow takes precedence over the failed condition of another write, but
		// not over that of its own write.
		mustRefuse(t, b, tables.Delete(k("sums", "2"), tables.ItemExists()), tables.Change(key, tables.Add("n", c.add)))
		refusal := []tables.Reason{{Failed: true, Old: whole}}
		mustCancel(t, b, refusal, tables.Change(key, tables.Add("n", c.add)).When(tables.Absent("s")))
		mustCancel(t, b, append(refusal, tables.Reason{}), tables.Change(key, tables.Add("n", c.add)).When(tables.Absent("s")), tables.Delete(k("sums", "2")))
		wantItem(t, b, key, whole)
	}
}
