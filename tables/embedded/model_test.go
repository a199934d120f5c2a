package embedded_test

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// model is a table as a map.
type model map[key]item

func (m model) query(q tables.Query) (found []item, next *tables.Position) {
	pk, sk := "pk", "sk"
	schema, isIndex := q.Index.Schema()
	if isIndex {
		pk, sk = schema.PK, schema.SK
	}
	position := func(i item) tables.Position {
		if isIndex {
			return tables.Position{SK: i.Str(sk), Key: i.Key()}
		}
		return tables.Position{SK: i.Str(sk)}
	}
	order := func(a, b tables.Position) int {
		return cmp.Or(cmp.Compare(a.SK, b.SK), cmp.Compare(a.Key.PK, b.Key.PK), cmp.Compare(a.Key.SK, b.Key.SK))
	}
	for _, i := range m {
		at, ok := i[sk].(string)
		if i[pk] == q.PK && ok && at >= q.From && (q.To == "" || at <= q.To) {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b item) int { return order(position(a), position(b)) })
	if q.Desc {
		slices.Reverse(found)
	}
	if q.After != nil {
		found = slices.DeleteFunc(found, func(i item) bool {
			c := order(position(i), *q.After)
			return c == 0 || (c < 0) != q.Desc
		})
	}
	if q.Limit > 0 && len(found) >= q.Limit {
		found = found[:q.Limit]
		last := position(found[q.Limit-1])
		next = &last
	}
	if isIndex && !schema.All {
		for n, i := range found {
			found[n] = item{"pk": i["pk"], "sk": i["sk"], pk: i[pk], sk: i[sk]}
		}
	}
	return append([]item(nil), found...), next // nil items if none were found
}

func (m model) commit(w tables.Write) bool {
	old := m[w.Key]
	for _, c := range w.If {
		if v, ok := old[c.Attr]; c.Op == tables.CondAbsent && ok || c.Op == tables.CondEqual && v != c.Value {
			return false
		}
	}
	switch w.Op {
	case tables.OpPut:
		m[w.Key] = maps.Clone(w.Item)
	case tables.OpDelete:
		delete(m, w.Key)
	case tables.OpUpdate:
		now := maps.Clone(old)
		if now == nil {
			now = item{"pk": w.Key.PK, "sk": w.Key.SK}
		}
		for _, u := range w.Updates {
			switch u.Op {
			case tables.UpdSet:
				now[u.Attr] = u.Value
			case tables.UpdRemove:
				delete(now, u.Attr)
			case tables.UpdAdd:
				now[u.Attr] = now.Int(u.Attr) + u.Value.(int64)
			default:
				members := map[string]bool{}
				set, _ := now[u.Attr].(tables.Set)
				for _, s := range set {
					members[s] = true
				}
				for _, s := range u.Value.(tables.Set) {
					if members[s] = true; u.Op == tables.UpdRemoveFromSet {
						delete(members, s)
					}
				}
				if now[u.Attr] = tables.NewSet(slices.Collect(maps.Keys(members))...); len(members) == 0 {
					delete(now, u.Attr)
				}
			}
		}
		m[w.Key] = now
	}
	return true
}

var (
	genPK      = rapid.SampledFrom([]string{"P", "P\x00", "P\x00\x01", "Q"})
	genSK      = rapid.SampledFrom([]string{"\x00", "\x00\x01", "a", "a\x00", "a\x00\x00", "a\x01", "aa", "b", "é", "\U0001F600", "\uffff"})
	genIndexPK = rapid.SampledFrom([]string{"a", "a\x00"})
	genSet     = rapid.Map(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z", "é"}), 1, 3, rapid.ID[string]),
		func(s []string) tables.Set { return tables.NewSet(s...) })
	genIndexed = rapid.SampledFrom([]string{"rank_pk", "rank_sk", "parent_pk", "parent_sk", "author_pk", "author_sk"})
)

func genKey(t *rapid.T) key { return at(genPK.Draw(t, "pk"), genSK.Draw(t, "sk")) }

func genWrite(t *rapid.T) tables.Write {
	k := genKey(t)
	var w tables.Write
	switch rapid.IntRange(0, 4).Draw(t, "op") {
	case 0:
		w = tables.Delete(k)
	case 1, 2:
		i := item{"pk": k.PK, "sk": k.SK, "n": rapid.Int64Range(0, 2).Draw(t, "n")}
		for _, attr := range rapid.SliceOfNDistinct(genIndexed, 0, 6, rapid.ID[string]).Draw(t, "indexed") {
			i[attr] = genSK.Draw(t, attr)
			if strings.HasSuffix(attr, "_pk") {
				i[attr] = genIndexPK.Draw(t, attr)
			}
		}
		w = tables.Put(i)
	default:
		all := []tables.Update{
			tables.Add("n", rapid.Int64Range(-2, 2).Draw(t, "add")),
			{Op: tables.UpdAddToSet, Attr: "set", Value: genSet.Draw(t, "members")},
			{Op: tables.UpdRemoveFromSet, Attr: "other", Value: genSet.Draw(t, "members")},
			tables.SetAttr("other", genSet.Draw(t, "other")),
			{Op: tables.UpdRemoveFromSet, Attr: "set", Value: genSet.Draw(t, "members")},
			tables.SetAttr("rank_pk", genIndexPK.Draw(t, "rank_pk")),
			tables.SetAttr("rank_sk", genSK.Draw(t, "rank_sk")),
			tables.RemoveAttr("rank_sk"),
			tables.RemoveAttr("parent_pk"),
		}
		w = tables.Change(k, rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 4, func(u tables.Update) string { return u.Attr }).Draw(t, "updates")...)
	}
	switch rapid.IntRange(0, 3).Draw(t, "condition") {
	case 0:
		w = w.When(tables.Absent("n"))
	case 1:
		w = w.When(tables.Equal("n", rapid.Int64Range(0, 2).Draw(t, "equal")))
	}
	return w
}

func genQuery(t *rapid.T) tables.Query {
	q := tables.Query{
		Index: rapid.SampledFrom([]tables.Index{"", "", tables.ByRank, tables.ByParent, tables.ByAuthor}).Draw(t, "index"),
		PK:    genPK.Draw(t, "pk"),
		From:  rapid.OneOf(genSK, rapid.Just("")).Draw(t, "from"),
		To:    rapid.OneOf(genSK, rapid.Just("")).Draw(t, "to"),
		Desc:  rapid.Bool().Draw(t, "desc"),
		Limit: rapid.IntRange(0, 4).Draw(t, "limit"),
	}
	if q.Index != "" {
		q.PK = genIndexPK.Draw(t, "index pk")
	}
	if rapid.Bool().Draw(t, "goes on") {
		q.After = &tables.Position{SK: genSK.Draw(t, "after")}
		if q.Index != "" {
			q.After.Key = genKey(t)
		}
	}
	return q
}

func TestModel(t *testing.T) { onBoth(t, testModel) }

func testModel(t *testing.T, path string) {
	rapid.Check(t, func(t *rapid.T) {
		os.Remove(path) // of the previous check
		table, err := embedded.Open(embedded.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		ctx := t.Context()
		m := model{}
		for range rapid.IntRange(1, 40).Draw(t, "writes") {
			w := genWrite(t)
			err := table.Commit(ctx, tables.Tx{Writes: []tables.Write{w}})
			made := m.commit(w)
			var c *tables.Cancelled
			if made != (err == nil) || err != nil && (!errors.As(err, &c) || !reflect.DeepEqual(c.Reasons[0].Old, m[w.Key])) {
				t.Fatalf("commit of %+v: got %v; want made = %t or, if refused, the old item %v", w, err, made, m[w.Key])
			}
			items, err := table.Get(ctx, tables.Strong, w.Key)
			if err != nil || !reflect.DeepEqual(items[0], m[w.Key]) {
				t.Fatalf("item after %+v: got %v, %v; want %v", w, items, err, m[w.Key])
			}
		}
		for range 10 {
			q := genQuery(t)
			page, err := table.Query(ctx, q)
			found, next := m.query(q)
			if err != nil || !reflect.DeepEqual(page.Items, found) || !reflect.DeepEqual(page.Next, next) {
				t.Fatalf("query %+v:\n got %v, next %v (%v)\nwant %v, next %v", q, page.Items, page.Next, err, found, next)
			}
		}
	})
}

func TestQueryPages(t *testing.T) { onBoth(t, testQueryPages) }

func testQueryPages(t *testing.T, path string) {
	table := open(t, embedded.Config{Path: path})
	big := make([]byte, 300_000)
	for _, sk := range []string{"a", "b", "c", "d", "e", "f"} {
		commit(t, table, tables.Put(item{"pk": "P", "sk": sk, "big": big, "rank_pk": "R", "rank_sk": "same", "parent_pk": "R", "parent_sk": "same"}))
	}
	for _, q := range []tables.Query{
		{PK: "P", Consistency: tables.Strong},
		{PK: "P", Desc: true},
		{Index: tables.ByRank, PK: "R"},
		{Index: tables.ByRank, PK: "R", Desc: true},
	} {
		page, err := table.Query(t.Context(), q)
		if err != nil || len(page.Items) != 4 || page.Next == nil {
			t.Errorf("query %+v: got %d items, next %v, %v; want 4 and a next page", q, len(page.Items), page.Next, err)
		}
		if got := all(t, table, q); len(got) != 6 {
			t.Errorf("query %+v: got %d items in all pages, want 6", q, len(got))
		}
	}
	page, err := table.Query(t.Context(), tables.Query{Index: tables.ByParent, PK: "R"})
	if err != nil || len(page.Items) != 6 || page.Next != nil || len(page.Items[0]) != 4 {
		t.Fatalf("query by parent: got %v, %v; want 6 entries of 4 attributes in one page", page, err)
	}
	// A page that ends at its limit has a Next, even if nothing follows.
	q := tables.Query{PK: "P", From: "e", To: "f", Limit: 2}
	page, err = table.Query(t.Context(), q)
	if err != nil || len(page.Items) != 2 || page.Next == nil {
		t.Fatalf("a page limited to both items: got %v, %v; want 2 items and a Next", page, err)
	}
	q.After = page.Next
	page, err = table.Query(t.Context(), q)
	if err != nil || len(page.Items) != 0 || page.Next != nil {
		t.Fatalf("page after both items: got %v, %v; want no items and no Next", page, err)
	}
}
