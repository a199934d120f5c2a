package tables_test

import (
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
)

func grantOf(id string, epoch int64) *tables.Grant {
	return &tables.Grant{
		ID: id, Scopes: tables.NewSet("read", "post"), Newest: tables.NewSet("read", "post"), Epoch: epoch, Generation: 1,
		RotatedAt: noon.UnixMilli(), CreatedAt: noon.UnixMilli(), ExpiresAt: noon.Add(tables.GrantIdle).UnixMilli(),
	}
}

func TestGrantRotate(t *testing.T) {
	table := openTable(t)
	read := func(id string) *tables.Grant {
		g := new(tables.Grant)
		if err := tables.Unmarshal(get(t, table, tables.GrantKey(fox, id)), g); err != nil {
			t.Fatal(err)
		}
		return g
	}
	live := func(at time.Time) tables.Live {
		return tables.LiveGrants(fox, get(t, table, tables.GrantsKey(fox)), 1, at.UnixMilli())
	}
	g := grantOf("gr_1", 1)
	commit(t, table, tables.Put(g.Item(fox), tables.NoItem()), live(noon).Add(g.ID, g.ExpiresAt))
	if ttl := get(t, table, tables.GrantKey(fox, "gr_1")).Int("ttl"); ttl != g.ExpiresAt/1000+1 {
		t.Errorf("ttl of the grant: got %d, want %d", ttl, g.ExpiresAt/1000+1)
	}

	later := noon.Add(time.Hour)
	one, two := read("gr_1"), read("gr_1")
	commit(t, table, one.Rotate(fox, tables.NewSet("read"), later, tables.RotateRefusals{})...)
	if r := refused(t, table, two.Rotate(fox, tables.NewSet("post"), later, tables.RotateRefusals{})...); !slices.Equal(r, []int{1}) {
		t.Errorf("second rotation from one read: refused writes: got %v, want [1]", r)
	}
	now := read("gr_1")
	if now.Generation != 2 || now.RotatedAt != later.UnixMilli() || !slices.Equal(now.Newest, tables.NewSet("read")) || len(now.Scopes) != 2 {
		t.Errorf("got grant %+v, want generation 2, rotated at %d, Newest [read] and 2 Scopes", now, later.UnixMilli())
	}
	if one.Generation != 2 || one.ExpiresAt != now.ExpiresAt || now.ExpiresAt != later.Add(tables.GrantIdle).UnixMilli() {
		t.Errorf("got %+v in memory, %+v in the table; want generation 2 and the expiry %d in both", one, now, later.Add(tables.GrantIdle).UnixMilli())
	}
	for _, item := range []tables.Item{get(t, table, tables.GrantKey(fox, "gr_1")), get(t, table, tables.GrantsKey(fox))} {
		if ttl := item.Int("ttl"); ttl != now.ExpiresAt/1000+1 {
			t.Errorf("ttl of %v: got %d, want %d", item.Key(), ttl, now.ExpiresAt/1000+1)
		}
	}
	if ids := live(noon.Add(tables.GrantIdle)).IDs(); !slices.Equal(ids, []string{"gr_1"}) {
		t.Errorf("before the expiry: got live grants %v, want gr_1", ids)
	}
	if ids := live(later.Add(tables.GrantIdle)).IDs(); len(ids) != 0 {
		t.Errorf("at the expiry: got live grants %v, want none", ids)
	}

	// The list lives until its last grant expires, also after Again.
	commit(t, table, live(later).Add("gr_2", noon.Add(time.Minute).UnixMilli()))
	again := live(later).Again(get(t, table, tables.GrantsKey(fox)))
	commit(t, table, again.Add("gr_3", noon.UnixMilli()))
	if ttl := get(t, table, tables.GrantsKey(fox)).Int("ttl"); ttl != now.ExpiresAt/1000+1 {
		t.Errorf("ttl of the list: got %d, want %d", ttl, now.ExpiresAt/1000+1)
	}
	before := read("gr_1")
	commit(t, table, tables.RevokeGrant(fox, "gr_1")...)
	if r := refused(t, table, before.Rotate(fox, before.Scopes, later, tables.RotateRefusals{})...); !slices.Equal(r, []int{1}) {
		t.Errorf("rotation of a revoked grant: refused writes: got %v, want [1]", r)
	}
	if r := refused(t, table, tables.RevokeGrant(fox, "gr_1")...); !slices.Equal(r, []int{0}) {
		t.Errorf("second revocation: refused writes: got %v, want [0]", r)
	}

	old := grantOf("gr_4", 1)
	commit(t, table, tables.Put(old.Item(fox)), tables.LiveGrants(fox, get(t, table, tables.GrantsKey(fox)), 2, noon.UnixMilli()).Add("gr_5", later.UnixMilli()))
	if r := refused(t, table, old.Rotate(fox, old.Scopes, later, tables.RotateRefusals{})...); !slices.Equal(r, []int{0}) {
		t.Errorf("rotation in an old epoch: refused writes: got %v, want [0]", r)
	}
}

func TestGrantAlive(t *testing.T) {
	g := grantOf("gr_1", 3)
	end := noon.Add(tables.GrantIdle)
	for _, c := range []struct {
		epoch int64
		at    time.Time
		alive bool
	}{{3, noon, true}, {3, end.Add(-time.Millisecond), true}, {3, end, false}, {2, noon, false}, {4, noon, false}} {
		if g.Alive(c.epoch, c.at.UnixMilli()) != c.alive {
			t.Errorf("Alive(%d, %v) = %t, want %t", c.epoch, c.at, !c.alive, c.alive)
		}
	}
	if new(tables.Grant).Alive(0, 0) {
		t.Error("Alive of the zero grant = true, want false")
	}
	g.Until = noon.Add(time.Hour).UnixMilli()
	if g.Idle(noon) != g.Until || g.Idle(noon.Add(-tables.GrantIdle)) != noon.UnixMilli() {
		t.Errorf("Idle at noon and GrantIdle earlier: got %d, %d; want %d, %d", g.Idle(noon), g.Idle(noon.Add(-tables.GrantIdle)), g.Until, noon.UnixMilli())
	}
}

func TestGrantRotate_Minter(t *testing.T) {
	table := openTable(t)
	later := noon.Add(24 * time.Hour)
	live := func() tables.Live {
		return tables.LiveGrants(fox, get(t, table, tables.GrantsKey(fox)), 1, noon.UnixMilli())
	}
	for _, on := range []tables.Minter{{Token: "tk_1", By: 100}, {Key: "pub", By: 100}, {Grant: "gr_0", By: 100}} {
		g := grantOf("gr_1", 1)
		g.On = on
		stoodMatches := func(item tables.Item) bool {
			stored := get(t, table, on.Item(fox))
			return on.Stood(stored, 1) == (item != nil) && on.Stood(item, 1) == (item != nil)
		}
		commit(t, table, tables.Put(g.Item(fox)))
		if l := live(); l.Len() == 0 {
			commit(t, table, l.Add(g.ID, g.ExpiresAt))
		}
		if r := refused(t, table, g.Rotate(fox, g.Scopes, later, tables.RotateRefusals{})...); !slices.Equal(r, []int{2}) || !stoodMatches(nil) {
			t.Errorf("without %+v: got refused writes %v and Stood = %t, want [2] and false", on, r, !stoodMatches(nil))
		}
		g = grantOf("gr_1", 1)
		g.On = on
		var item tables.Item
		switch {
		case on.Token != "":
			item = (&tables.Token{ID: "tk_1", Epoch: 1}).Item(fox)
		case on.Key != "":
			item = (&tables.AgentKey{Pub: "pub", Epoch: 1, AddedAt: 100}).Item(fox)
		default:
			item = grantOf("gr_0", 1).Item(fox)
		}
		commit(t, table, tables.Put(item))
		if !stoodMatches(item) {
			t.Errorf("%+v: got Stood = false for its item or for the one in the table, want true", on)
		}
		commit(t, table, g.Rotate(fox, g.Scopes, later, tables.RotateRefusals{})...)
		if on.Stood(item, 2) {
			t.Errorf("%+v in another epoch: got Stood = true, want false", on)
		}
	}
	parent := get(t, table, tables.GrantKey(fox, "gr_0"))
	if want := later.Add(tables.GrantIdle).UnixMilli(); parent.Int("expires_at") != want || parent.Int("ttl") != want/1000+1 || parent.Int("generation") != 1 {
		t.Errorf("got minting grant %v, want it extended to %d and not rotated", parent, want)
	}
	if ids := live().IDs(); !slices.Equal(ids, []string{"gr_0", "gr_1"}) {
		t.Errorf("got live grants %v, want gr_0 and gr_1", ids)
	}
	if (tables.Minter{Key: "pub", By: 99}).Stood(get(t, table, tables.AgentKeyKey(fox, "pub")), 1) {
		t.Error("key that was added after it minted: got Stood = true, want false")
	}
}

func TestLinkCode_Lend(t *testing.T) {
	table := openTable(t)
	commit(t, table, tables.Put(grantOf("gr_0", 1).Item(fox)))
	l := &tables.LinkCode{Agent: fox, Grant: "gr_0", Epoch: 1}
	later, end := noon.Add(24*time.Hour), noon.Add(tables.GrantIdle)
	if refused(t, table, l.Lend(end)) == nil {
		t.Error("Lend succeeded with an expired grant")
	}
	other := &tables.LinkCode{Agent: fox, Grant: "gr_0", Epoch: 2}
	if refused(t, table, other.Lend(later)) == nil {
		t.Error("Lend succeeded with a grant of another epoch")
	}
	commit(t, table, l.Lend(later))
	if parent := get(t, table, tables.GrantKey(fox, "gr_0")); parent.Int("expires_at") != later.Add(tables.GrantIdle).UnixMilli() || parent.Int("ttl") != parent.Int("expires_at")/1000+1 {
		t.Errorf("grant after Lend: got %v, want it extended", parent)
	}
	commit(t, table, l.Lend(end)) // the grant now expires later
}

func TestSpentOnce(t *testing.T) {
	table := openTable(t)
	for _, w := range []tables.Write{
		tables.SpendCode("c", &tables.SpentCode{Agent: fox, Grant: "gr_1", At: noon.UnixMilli()}), tables.SpendAssertion(fox, "j", noon),
	} {
		commit(t, table, w)
		if r := refused(t, table, w); !slices.Equal(r, []int{0}) {
			t.Errorf("spending %v again: refused writes: got %v, want [0]", w.Key, r)
		}
		if ttl := get(t, table, w.Key).Int("ttl"); ttl < noon.Unix() {
			t.Errorf("ttl of %v: got %d, want at least %d", w.Key, ttl, noon.Unix())
		}
	}
	commit(t, table, tables.SpendAssertion("ag_owl", "j", noon)) // another agent may have an assertion with the same jti
}

func TestSignup_Ends(t *testing.T) {
	table := openTable(t)
	p := tables.NewSignup(fox, noon)
	commit(t, table, tables.Put(p.Item(), tables.NoItem()))
	end := noon.Add(tables.SignupFor)
	if ttl := get(t, table, tables.ProfileKey(fox)).Int("ttl"); p.Forgotten(end.Add(-time.Millisecond)) || !p.Forgotten(end) || ttl != end.Unix()+1 {
		t.Errorf("signup: got %+v with ttl %d, want it forgotten from %v on, and ttl %d", p, ttl, end, end.Unix()+1)
	}
	commit(t, table, p.Activate("fox", "🦊", ""))
	if ttl := get(t, table, tables.ProfileKey(fox))["ttl"]; p.Forgotten(end) || p.TTL != 0 || ttl != nil {
		t.Errorf("after the signup: got %+v with ttl %v, want it permanent", p, ttl)
	}
}

func TestGrantRotate_ExtendsItsConnection(t *testing.T) {
	table := openTable(t)
	on, later := grantOf("gr_0", 1), noon.Add(time.Hour)
	g := grantOf("gr_1", 1)
	g.On.Grant = on.ID
	list := func() tables.Live {
		return tables.LiveGrants(fox, get(t, table, tables.GrantsKey(fox)), 1, noon.UnixMilli())
	}
	commit(t, table, tables.Put(on.Item(fox)), list().Add(on.ID, on.ExpiresAt))
	commit(t, table, tables.Put(g.Item(fox)), list().Add(g.ID, g.ExpiresAt))
	commit(t, table, g.Rotate(fox, g.Scopes, later, tables.RotateRefusals{})...)
	at := later.Add(tables.GrantIdle - time.Millisecond).UnixMilli()
	if ids := tables.LiveGrants(fox, get(t, table, tables.GrantsKey(fox)), 1, at).IDs(); !slices.Equal(ids, []string{"gr_0", "gr_1"}) {
		t.Errorf("just before both expire: got live grants %v, want gr_0 and gr_1", ids)
	}
	if got := get(t, table, tables.GrantKey(fox, "gr_0")).Int("expires_at"); got != at+1 {
		t.Errorf("expiry of gr_0: got %d, want %d", got, at+1)
	}
}
