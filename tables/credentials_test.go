package tables_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
)

const fox = "ag_fox"

func TestLiveTokens(t *testing.T) {
	table := openTable(t)
	read := func(epoch int64, at time.Time) tables.Live {
		return tables.LiveTokens(fox, get(t, table, tables.TokensKey(fox)), epoch, at.UnixMilli())
	}
	expect := func(when string, l tables.Live, ids ...string) {
		t.Helper()
		if got := l.IDs(); !slices.Equal(got, ids) || l.Len() != len(ids) {
			t.Errorf("%s: %v are alive, not %v", when, got, ids)
		}
	}
	expect("at first", read(1, noon))
	hour := noon.Add(time.Hour)
	commit(t, table, read(1, noon).Add("tk_2", hour.UnixMilli()))
	commit(t, table, read(1, noon).Add("tk_1", 0))
	expect("two", read(1, noon), "tk_1", "tk_2")
	// It ends at its very millisecond; what has no end goes on.
	expect("just before", read(1, hour.Add(-time.Millisecond)), "tk_1", "tk_2")
	expect("then", read(1, hour), "tk_1")

	// Of two that add to one reading, one passes; the other goes on from what it met.
	one := read(1, noon)
	commit(t, table, one.Add("tk_3", 0))
	err := refused(t, table, one.Add("tk_4", 0))
	if !slices.Equal(err, []int{0}) {
		t.Fatalf("the second of one reading is refused by %v", err)
	}
	commit(t, table, one.Again(get(t, table, tables.TokensKey(fox))).Add("tk_4", 0))
	expect("four", read(1, noon), "tk_1", "tk_2", "tk_3", "tk_4")
	// What has expired is not written again.
	commit(t, table, read(1, hour).Add("tk_5", 0))
	if item := get(t, table, tables.TokensKey(fox)); len(item) != 5+4 || item.Str("type") != tables.TypeTokens {
		t.Errorf("the list is %v", item)
	}

	// Nor does who adds bring back what is revoked meanwhile.
	token := &tables.Token{ID: "tk_3", Epoch: 1}
	commit(t, table, tables.Put(token.Item(fox)))
	before := read(1, hour)
	commit(t, table, tables.RevokeToken(fox, "tk_3")...)
	if r := refused(t, table, before.Add("tk_6", 0)); !slices.Equal(r, []int{0}) {
		t.Errorf("what was read before a revocation is refused by %v", r)
	}
	expect("one revoked", read(1, hour), "tk_1", "tk_4", "tk_5")
	if r := refused(t, table, tables.RevokeToken(fox, "tk_3")...); !slices.Equal(r, []int{0}) {
		t.Errorf("revoking again is refused by %v", r)
	}

	// Another epoch knows nothing of this one, and is not overwritten by it.
	late := read(1, hour)
	expect("a new epoch", read(2, hour))
	commit(t, table, read(2, hour).Add("tk_7", 0))
	expect("a new epoch's first", read(2, hour), "tk_7")
	expect("the old epoch", read(1, hour))
	for _, l := range []tables.Live{late, read(1, hour)} {
		if r := refused(t, table, l.Add("tk_8", 0)); !slices.Equal(r, []int{0}) {
			t.Errorf("an old epoch's token is refused by %v", r)
		}
	}
	expect("still", read(2, hour), "tk_7")
}

func TestLinkCodeUses(t *testing.T) {
	table := openTable(t)
	mint := func(id string, uses int64) *tables.LinkCode {
		l := &tables.LinkCode{
			Hash: "hash of " + id, ID: id, Agent: fox, Uses: uses, Scopes: tables.NewSet("read"), Token: "tk_1", Epoch: 1,
			CreatedAt: noon.UnixMilli(), ExpiresAt: noon.Add(time.Hour).UnixMilli(),
		}
		live := tables.LiveLinkCodes(fox, get(t, table, tables.LinkCodesKey(fox)), 1, noon.UnixMilli())
		commit(t, table, live.Add(id, l.ExpiresAt), tables.Put(l.Item(), tables.NoItem()))
		return l
	}
	read := func(id string) *tables.LinkCode {
		l := new(tables.LinkCode)
		if err := tables.Unmarshal(get(t, table, tables.LinkCodeKey("hash of "+id)), l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	live := func() int {
		return tables.LiveLinkCodes(fox, get(t, table, tables.LinkCodesKey(fox)), 1, noon.UnixMilli()).Len()
	}
	three := mint("lc_3", 3)
	mint("lc_1", 1)
	// Two of one reading may pass, but none takes the last without knowing it.
	commit(t, table, three.Use(noon)...)
	commit(t, table, three.Use(noon)...)
	if r := refused(t, table, three.Use(noon)...); !slices.Equal(r, []int{0}) || live() != 2 {
		t.Errorf("the last use, unknown, is refused by %v; %d are alive", r, live())
	}
	last := read("lc_3")
	commit(t, table, last.Use(noon)...)
	if live() != 1 || read("lc_3").Uses != 0 {
		t.Errorf("used up: %d are alive, %d uses are left", live(), read("lc_3").Uses)
	}
	for _, l := range []*tables.LinkCode{last, read("lc_3")} {
		if r := refused(t, table, l.Use(noon)...); !slices.Equal(r, []int{0}) {
			t.Errorf("a code used up is refused by %v", r)
		}
	}
	// It ends by the clock.
	if r := refused(t, table, read("lc_1").Use(noon.Add(time.Hour))...); !slices.Equal(r, []int{0}) {
		t.Errorf("an expired code is refused by %v", r)
	}
	commit(t, table, read("lc_1").Use(noon.Add(time.Hour-time.Millisecond))...)
}

// A code dies with the very credential that minted it.
func TestLinkCodeMinter(t *testing.T) {
	table := openTable(t)
	byToken := &tables.LinkCode{Agent: fox, Token: "tk_1", Epoch: 3, CreatedAt: 100}
	byKey := &tables.LinkCode{Agent: fox, Key: "pub", Epoch: 3, CreatedAt: 100}
	stands := func(l *tables.LinkCode) bool { return refused(t, table, l.MinterStands()) == nil }
	if stands(byToken) || stands(byKey) {
		t.Fatal("nobody minted it")
	}
	for _, c := range []struct {
		epoch, added int64
		token, key   bool
	}{
		{3, 50, true, true}, {3, 100, true, true}, {3, 101, true, false}, {4, 50, false, false}, {2, 50, false, false},
	} {
		token, key := &tables.Token{ID: "tk_1", Epoch: c.epoch}, &tables.AgentKey{Pub: "pub", Epoch: c.epoch, AddedAt: c.added}
		commit(t, table, tables.Put(token.Item(fox)), tables.Put(key.Item(fox)))
		if stands(byToken) != c.token || stands(byKey) != c.key {
			t.Errorf("%+v: %v by token, %v by key", c, stands(byToken), stands(byKey))
		}
	}
}

func TestKeysOfAnAgent(t *testing.T) {
	table := openTable(t)
	p := &tables.Profile{ID: fox, Epoch: 2, Keys: 1}
	commit(t, table, tables.Put(p.Item()))
	key := func(pub string, epoch, at int64) *tables.AgentKey {
		return &tables.AgentKey{Pub: pub, Epoch: epoch, AddedAt: at}
	}
	commit(t, table, key("a", 1, 1).Add(fox), p.AddKey(10))
	commit(t, table, key("a", 2, 2).Add(fox), p.AddKey(10)) // the first is dead
	for _, again := range []*tables.AgentKey{key("a", 2, 3), key("a", 1, 3)} {
		if r := refused(t, table, again.Add(fox), p.AddKey(10)); !slices.Equal(r, []int{0}) {
			t.Errorf("a key that is there is refused by %v", r)
		}
	}
	if r := refused(t, table, p.AddKey(3)); !slices.Equal(r, []int{0}) {
		t.Errorf("one more than three is refused by %v", r)
	}
	commit(t, table, p.AddKey(4))
	// Only the one that was read is removed, and never the last.
	for _, other := range []*tables.AgentKey{key("a", 2, 1), key("a", 1, 2), key("b", 2, 2)} {
		if r := refused(t, table, other.Remove(fox)); !slices.Equal(r, []int{0}) {
			t.Errorf("%+v is removed: refused by %v", other, r)
		}
	}
	commit(t, table, key("a", 2, 2).Remove(fox), p.RemoveKey())
	commit(t, table, p.RemoveKey())
	commit(t, table, p.RemoveKey())
	if r := refused(t, table, p.RemoveKey()); !slices.Equal(r, []int{0}) {
		t.Errorf("removing the last is refused by %v", r)
	}
	// Nothing of it holds for an epoch gone by.
	p.Epoch = 1
	for i, w := range []tables.Write{p.AddKey(10), p.RemoveKey()} {
		if r := refused(t, table, w); !slices.Equal(r, []int{0}) {
			t.Errorf("write %d of an old epoch is refused by %v", i, r)
		}
	}
	if n := get(t, table, tables.ProfileKey(fox)).Int("keys"); n != 1 {
		t.Errorf("%d keys are counted", n)
	}
}

func TestOwner(t *testing.T) {
	for key, want := range map[tables.Key]string{
		tables.ProfileKey(fox): fox, tables.TokenKey(fox, "tk_1"): fox, tables.AgentKeyKey(fox, "x"): fox,
		tables.LinkCodeKey("h"): "", tables.HandleKey("fox"): "", tables.OriginalKey("A#x"): "",
	} {
		if got := tables.Owner(key); got != want {
			t.Errorf("%v belongs to %q, not %q", key, got, want)
		}
	}
	if fmt.Sprint(tables.Owner(tables.Key{})) != "" {
		t.Error("nothing belongs to somebody")
	}
}
