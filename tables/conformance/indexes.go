package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentsocial/tables"
)

func testIndexes(t *testing.T, b tables.Backend) {
	for _, index := range tables.Indexes {
		t.Run(string(index.Name), func(t *testing.T) {
			key := k("item "+string(index.Name), "1")
			in := func(where string, want ...string) {
				t.Helper()
				got := []string{}
				for _, pk := range []string{"P", "Q"} {
					for _, it := range query(t, b, tables.Query{Index: index.Name, PK: pk}).Items {
						got = append(got, it.Str(index.PK)+"/"+it.Str(index.SK)+"="+it.Key().SK)
					}
				}
				same(t, "index entries: "+where, got, append([]string{}, want...))
			}
			mustCommit(t, b, tables.Put(item(key, "v", "x")))
			in("without its key")
			mustCommit(t, b, tables.Change(key, tables.SetAttr(index.PK, "P")))
			in("with half of its key")
			mustCommit(t, b, tables.Change(key, tables.SetAttr(index.SK, "a")))
			in("with its whole key", "P/a=1")
			mustCommit(t, b, tables.Change(key, tables.SetAttr("v", "y")))
			in("after another change", "P/a=1")
			mustCommit(t, b, tables.Change(key, tables.SetAttr(index.SK, "b")))
			in("moved", "P/b=1")
			mustCommit(t, b, tables.Change(key, tables.SetAttr(index.PK, "Q")), tables.Delete(k("beside", "1")))
			in("moved to another partition", "Q/b=1")
			mustCommit(t, b, tables.Change(key, tables.RemoveAttr(index.SK)))
			in("without half of its key")
			mustCommit(t, b, tables.Change(key, tables.SetAttr(index.SK, "c")))
			in("with its whole key again", "Q/c=1")
			mustCommit(t, b, tables.Put(item(key, index.PK, "P", index.SK, "d")))
			in("replaced", "P/d=1")
			mustCancel(t, b, []tables.Reason{{Failed: true, Old: item(key, index.PK, "P", index.SK, "d")}},
				tables.Delete(key, tables.NoItem()))
			in("not deleted", "P/d=1")
			mustCommit(t, b, tables.Put(item(key)))
			in("replaced by an item without index keys")
			mustCommit(t, b, tables.Put(item(key, index.PK, "P", index.SK, "e")), tables.Put(item(k(key.PK, "2"), index.PK, "P", index.SK, "c")))
			in("with a second item", "P/c=2", "P/e=1")
			mustCommit(t, b, tables.Delete(key), tables.Delete(k(key.PK, "2")))
			in("deleted")
		})
	}
}

func testProjections(t *testing.T, b tables.Backend) {
	whole := item(k("a", "1"), "type", "post", "v", int64(1), "ttl", int64(99), "b", []byte{0}, "s", tables.NewSet("x"),
		"rank_pk", "R", "rank_sk", "r", "parent_pk", "P", "parent_sk", "p", "author_pk", "A", "author_sk", "a")
	mustCommit(t, b, tables.Put(whole))
	for _, c := range []struct {
		index tables.Index
		pk    string
		want  tables.Item
	}{
		{tables.ByRank, "R", whole},
		{tables.ByParent, "P", item(k("a", "1"), "parent_pk", "P", "parent_sk", "p")},
		{tables.ByAuthor, "A", item(k("a", "1"), "author_pk", "A", "author_sk", "a")},
	} {
		same(t, string(c.index), query(t, b, tables.Query{Index: c.index, PK: c.pk}).Items, []tables.Item{c.want})
	}
}

// testTies pages through an index in which several items share a sort key. The order of
// these items is undefined.
func testTies(t *testing.T, b tables.Backend) {
	want := []string{}
	for i := range 12 {
		key := k(fmt.Sprintf("pk%d", i%3), fmt.Sprintf("%02d", i))
		want = append(want, key.SK)
		mustCommit(t, b, tables.Put(item(key, "rank_pk", "ties", "rank_sk", string("abc"[i/4]))))
	}
	for _, desc := range []bool{false, true} {
		for limit := range 14 {
			q := tables.Query{Index: tables.ByRank, PK: "ties", Limit: limit, Desc: desc}
			got := []string{}
			ranks := ""
			for range 14 {
				p := query(t, b, q)
				for _, it := range p.Items {
					ranks += it.Str("rank_sk")
				}
				got = append(got, sks(p.Items)...)
				if p.Next == nil {
					break
				}
				last := p.Items[len(p.Items)-1]
				same(t, fmt.Sprintf("Next with limit %d, descending %t", limit, desc), *p.Next, tables.Position{SK: last.Str("rank_sk"), Key: last.Key()})
				q.After = p.Next
			}
			slices.Sort(got)
			same(t, fmt.Sprintf("limit %d, descending %t", limit, desc), got, want)
			order := "aaaabbbbcccc"
			if desc {
				order = "ccccbbbbaaaa"
			}
			same(t, fmt.Sprintf("ranks with limit %d, descending %t", limit, desc), ranks, order)
		}
	}
	t.Run("from the position of a deleted item", func(t *testing.T) {
		p := query(t, b, tables.Query{Index: tables.ByRank, PK: "ties", Limit: 6})
		rest := sks(query(t, b, tables.Query{Index: tables.ByRank, PK: "ties", After: p.Next}).Items)
		mustCommit(t, b, tables.Delete(p.Next.Key))
		same(t, "items after the deleted one", sks(query(t, b, tables.Query{Index: tables.ByRank, PK: "ties", After: p.Next}).Items), rest)
	})
	t.Run("bounds and positions", func(t *testing.T) {
		at := func(sk string) *tables.Position { return &tables.Position{SK: sk, Key: k("pk1", "05")} }
		for _, c := range []struct {
			q    tables.Query
			want string
		}{
			{tables.Query{From: "b", To: "b"}, "bbb"},
			{tables.Query{From: "b", After: at("a")}, "bbbcccc"},
			{tables.Query{To: "b", After: at("c")}, ""},
			{tables.Query{To: "b", Desc: true, After: at("c")}, "bbbaaaa"},
			{tables.Query{From: "b", Desc: true, After: at("a")}, ""},
			{tables.Query{After: at("aa")}, "bbbcccc"},
		} {
			c.q.Index, c.q.PK = tables.ByRank, "ties"
			ranks := ""
			for _, it := range query(t, b, c.q).Items {
				ranks += it.Str("rank_sk")
			}
			if c.want != ranks {
				after := ""
				if c.q.After != nil {
					after = c.q.After.SK
				}
				t.Errorf("ranks in [%q, %q] after %q, descending %t: got %s, want %s", c.q.From, c.q.To, after, c.q.Desc, ranks, c.want)
			}
		}
	})
}

func testRefusedIndexKeys(t *testing.T, b tables.Backend) {
	key := k("refused", "1")
	mustCommit(t, b, tables.Put(item(key)))
	for _, index := range tables.Indexes {
		for attr, most := range map[string]int{index.PK: tables.MaxPKSize, index.SK: tables.MaxSKSize} {
			for name, v := range map[string]any{
				"empty": "", "number": int64(1), "binary": []byte("a"), "set": tables.NewSet("a"), "too long": strings.Repeat("x", most+1),
			} {
				t.Run(attr+" "+name, func(t *testing.T) {
					mustRefuse(t, b, tables.Put(item(key, attr, v)))
					mustRefuse(t, b, tables.Change(key, tables.SetAttr(attr, v)))
				})
			}
		}
		t.Run(index.SK+" added to", func(t *testing.T) {
			mustRefuse(t, b, tables.Change(key, tables.Add(index.SK, 1)))
			mustRefuse(t, b, tables.Change(key, tables.AddToSet(index.SK, "a")))
		})
	}
	wantItem(t, b, key, item(key))
}
