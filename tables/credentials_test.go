package tables_test

import (
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
			t.Errorf("%s: got %d live tokens %v, want %d: %v", when, l.Len(), got, len(ids), ids)
		}
	}
	expect("at first", read(1, noon))
	hour := noon.Add(time.Hour)
	commit(t, table, read(1, noon).Add("tk_2", hour.UnixMilli()))
	commit(t, table, read(1, noon).Add("tk_1", 0))
	expect("after two additions", read(1, noon), "tk_1", "tk_2")
	expect("just before the expiry", read(1, hour.Add(-time.Millisecond)), "tk_1", "tk_2")
	expect("at the expiry", read(1, hour), "tk_1")

	one := read(1, noon)
	commit(t, table, one.Add("tk_3", 0))
	if r := refused(t, table, one.Add("tk_4", 0)); !slices.Equal(r, []int{0}) {
		t.Fatalf("second addition based on one read: refused writes: got %v, want [0]", r)
	}
	commit(t, table, one.Again(get(t, table, tables.TokensKey(fox))).Add("tk_4", 0))
	expect("after four additions", read(1, noon), "tk_1", "tk_2", "tk_3", "tk_4")
	// Add drops expired tokens.
	commit(t, table, read(1, hour).Add("tk_5", 0))
	if item := get(t, table, tables.TokensKey(fox)); len(item) != 5+4 || item.Str("type") != tables.TypeTokens {
		t.Errorf("got list %v, want type %s and 4 tokens", item, tables.TypeTokens)
	}

	token := &tables.Token{ID: "tk_3", Epoch: 1}
	commit(t, table, tables.Put(token.Item(fox)))
	before := read(1, hour)
	commit(t, table, tables.RevokeToken(fox, "tk_3")...)
	if r := refused(t, table, before.Add("tk_6", 0)); !slices.Equal(r, []int{0}) {
		t.Errorf("addition to a list read before a revocation: refused writes: got %v, want [0]", r)
	}
	expect("after a revocation", read(1, hour), "tk_1", "tk_4", "tk_5")
	if r := refused(t, table, tables.RevokeToken(fox, "tk_3")...); !slices.Equal(r, []int{0}) {
		t.Errorf("second revocation: refused writes: got %v, want [0]", r)
	}

	late := read(1, hour)
	expect("in a new epoch", read(2, hour))
	commit(t, table, read(2, hour).Add("tk_7", 0))
	expect("after the first addition of the new epoch", read(2, hour), "tk_7")
	expect("in the old epoch", read(1, hour))
	for _, l := range []tables.Live{late, read(1, hour)} {
		if r := refused(t, table, l.Add("tk_8", 0)); !slices.Equal(r, []int{0}) {
			t.Errorf("addition in the old epoch: refused writes: got %v, want [0]", r)
		}
	}
	expect("at the end", read(2, hour), "tk_7")
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
	// Uses based on the same read succeed, except the last one.
	commit(t, table, three.Use(noon)...)
	commit(t, table, three.Use(noon)...)
	if r := refused(t, table, three.Use(noon)...); !slices.Equal(r, []int{0}) || live() != 2 {
		t.Errorf("last use based on an old read: got refused writes %v, %d live codes; want [0], 2", r, live())
	}
	last := read("lc_3")
	commit(t, table, last.Use(noon)...)
	if live() != 1 || read("lc_3").Uses != 0 {
		t.Errorf("after the last use: got %d live codes, %d uses left; want 1, 0", live(), read("lc_3").Uses)
	}
	for _, l := range []*tables.LinkCode{last, read("lc_3")} {
		if r := refused(t, table, l.Use(noon)...); !slices.Equal(r, []int{0}) {
			t.Errorf("use of a used-up code: refused writes: got %v, want [0]", r)
		}
	}
	if r := refused(t, table, read("lc_1").Use(noon.Add(time.Hour))...); !slices.Equal(r, []int{0}) {
		t.Errorf("use of an expired code: refused writes: got %v, want [0]", r)
	}
	commit(t, table, read("lc_1").Use(noon.Add(time.Hour-time.Millisecond))...)
}

// A key that was added again after it minted the code does not count.
func TestLinkCode_MinterStands(t *testing.T) {
	table := openTable(t)
	byToken := &tables.LinkCode{Agent: fox, Token: "tk_1", Epoch: 3, CreatedAt: 100}
	byKey := &tables.LinkCode{Agent: fox, Key: "pub", Epoch: 3, CreatedAt: 100}
	stands := func(l *tables.LinkCode) bool { return refused(t, table, l.MinterStands()) == nil }
	if stands(byToken) || stands(byKey) {
		t.Fatal("MinterStands without a token or a key: got it to hold, want it refused")
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
			t.Errorf("MinterStands, %+v: got %t by token, %t by key; want %t, %t", c, stands(byToken), stands(byKey), c.token, c.key)
		}
	}
}

func TestAgentKeys(t *testing.T) {
	table := openTable(t)
	p := &tables.Profile{ID: fox, Epoch: 2, Keys: 1}
	commit(t, table, tables.Put(p.Item()))
	key := func(pub string, epoch, at int64) *tables.AgentKey {
		return &tables.AgentKey{Pub: pub, Epoch: epoch, AddedAt: at}
	}
	commit(t, table, key("a", 1, 1).Add(fox), p.AddKey(10))
	commit(t, table, key("a", 2, 2).Add(fox), p.AddKey(10)) // replaces the key of an old epoch
	for _, again := range []*tables.AgentKey{key("a", 2, 3), key("a", 1, 3)} {
		if r := refused(t, table, again.Add(fox), p.AddKey(10)); !slices.Equal(r, []int{0}) {
			t.Errorf("second addition of a key: refused writes: got %v, want [0]", r)
		}
	}
	if r := refused(t, table, p.AddKey(3)); !slices.Equal(r, []int{0}) {
		t.Errorf("a key beyond the limit of three: refused writes: got %v, want [0]", r)
	}
	commit(t, table, p.AddKey(4))
	for _, other := range []*tables.AgentKey{key("a", 2, 1), key("a", 1, 2), key("b", 2, 2)} {
		if r := refused(t, table, other.Remove(fox)); !slices.Equal(r, []int{0}) {
			t.Errorf("removal of %+v: refused writes: got %v, want [0]", other, r)
		}
	}
	commit(t, table, key("a", 2, 2).Remove(fox), p.RemoveKey())
	commit(t, table, p.RemoveKey())
	commit(t, table, p.RemoveKey())
	if r := refused(t, table, p.RemoveKey()); !slices.Equal(r, []int{0}) {
		t.Errorf("removal of the last key: refused writes: got %v, want [0]", r)
	}
	p.Epoch = 1
	for name, w := range map[string]tables.Write{"AddKey": p.AddKey(10), "RemoveKey": p.RemoveKey()} {
		if r := refused(t, table, w); !slices.Equal(r, []int{0}) {
			t.Errorf("%s in an old epoch: refused writes: got %v, want [0]", name, r)
		}
	}
	if n := get(t, table, tables.ProfileKey(fox)).Int("keys"); n != 1 {
		t.Errorf("keys in the profile: got %d, want 1", n)
	}
}

func TestOwner(t *testing.T) {
	for key, want := range map[tables.Key]string{
		tables.ProfileKey(fox): fox, tables.TokenKey(fox, "tk_1"): fox, tables.AgentKeyKey(fox, "x"): fox,
		tables.LinkCodeKey("h"): "", tables.HandleKey("fox"): "", tables.KeyClaimKey("A#x"): "",
	} {
		if got := tables.Owner(key); got != want {
			t.Errorf("Owner(%v) = %q, want %q", key, got, want)
		}
	}
	if got := tables.Owner(tables.Key{}); got != "" {
		t.Errorf("Owner of the zero key = %q, want none", got)
	}
}
