package tables

import "time"

// Grant is a connection by OAuth: that a person let a client act for an agent.
// It is the family of all refresh and access tokens that come of that: each
// refresh is a generation, and without the grant none of them is worth anything.
// Access tokens name their grant in their value, so that it is read with them.
type Grant struct {
	ID         string `db:"id"`
	Client     string `db:"client"` // hash of the client's id, which may be long
	Name       string `db:"name"`   // what the client calls itself; "" if unknown
	Scopes     Set    `db:"scopes"`
	Resource   string `db:"resource"` // resource indicator (RFC 8707); "" if none was named
	Epoch      int64  `db:"epoch,keep"`
	Generation int64  `db:"generation,keep"`
	RotatedAt  int64  `db:"rotated_at"` // unix ms of the newest generation
	Newest     Set    `db:"newest"`     // scopes of the newest access token
	CreatedAt  int64  `db:"created_at"` // unix ms
	ExpiresAt  int64  `db:"expires_at"` // unix ms, unless it is refreshed before. Judged by the clock.
	Until      int64  `db:"until"`      // unix ms: the end of what it hangs on, refreshed or not; 0: open
	Founded    bool   `db:"founded"`    // the agent came to be by it
	On         Minter `db:"on"`
}

const (
	// GrantsMost is how many live connections an agent may have.
	GrantsMost = 50
	// GrantIdle is how long a connection lives that nobody refreshes.
	GrantIdle = 30 * 24 * time.Hour
)

// Types of a grant's item, of the list of live ones, and of the tokens that end
// within the hour, of which nobody is told.
const (
	TypeGrant  = "grant"
	TypeGrants = "grants"
	TypeAccess = "access"
)

// GrantKey is where a grant stands.
func GrantKey(agent, grant string) Key { return Key{AgentPK(agent), "GRANT#" + grant} }

// GrantsKey is where an agent's live grants are listed.
func GrantsKey(agent string) Key { return Key{AgentPK(agent), "GRANTS"} }

// Item of the grant.
func (g *Grant) Item(agent string) Item {
	item := keyed(GrantKey(agent, g.ID), TypeGrant, Marshal(g))
	item[AttrTTL] = g.ExpiresAt/1000 + 1
	return item
}

// LiveGrants reads the list of an agent's live grants: those of its epoch that
// have not expired now (unix ms).
func LiveGrants(agent string, item Item, epoch, now int64) Live {
	l := readLive(GrantsKey(agent), TypeGrants, item, epoch, now)
	l.ends = true
	return l
}

// Alive reports whether the grant is one of an agent's epoch that has not
// expired now (unix ms).
func (g *Grant) Alive(epoch, now int64) bool {
	return g.ID != "" && g.Epoch == epoch && g.ExpiresAt > now
}

// Idle is when a grant expires that is refreshed at a time, unix ms.
func (g *Grant) Idle(at time.Time) int64 {
	idle := at.Add(GrantIdle).UnixMilli()
	if g.Until != 0 {
		return min(idle, g.Until)
	}
	return idle
}

// RotateRefusals say what stands against the next generation ([Write.Else]).
type RotateRefusals struct {
	Moved func(Item) error // the grant is another than was read
	Ended func(Item) error // the agent's grants are of another epoch
	Gone  func(Item) error // what the grant hangs on
}

// Rotate makes the next generation, whose access token has the scopes newest,
// in g and in the table, on the condition that it is still the one that g was
// read from. What g hangs on must stand; another connection lives as long as
// what hangs on it.
func (g *Grant) Rotate(agent string, newest Set, at time.Time, r RotateRefusals) []Write {
	still := Equal("generation", g.Generation)
	g.Generation++
	g.RotatedAt, g.ExpiresAt, g.Newest = at.UnixMilli(), g.Idle(at), newest
	change := Change(GrantKey(agent, g.ID),
		SetAttr("generation", g.Generation), SetAttr("rotated_at", g.RotatedAt), SetAttr("newest", g.Newest),
		SetAttr("expires_at", g.ExpiresAt), SetAttr(AttrTTL, g.ExpiresAt/1000+1)).When(still).Else(r.Moved)
	list := Change(GrantsKey(agent),
		SetAttr(liveAttr+g.ID, g.ExpiresAt), SetAttr(AttrTTL, at.Add(GrantIdle).Unix()+1), Add("version", 1)).When(Equal("epoch", g.Epoch)).Else(r.Ended)
	writes := []Write{list, change}
	switch {
	case g.On.Grant != "":
		idle := at.Add(GrantIdle)
		writes[0].Updates = append(list.Updates, SetAttr(liveAttr+g.On.Grant, idle.UnixMilli()))
		writes = append(writes, extendGrant(agent, g.On.Grant, g.Epoch, at).Else(r.Gone))
	case !g.On.Zero():
		writes = append(writes, g.On.Stands(agent, g.Epoch).Else(r.Gone))
	}
	return writes
}

// extendGrant makes a connection live as if it was refreshed at a time, on the
// condition that it is there.
func extendGrant(agent, grant string, epoch int64, at time.Time) Write {
	idle := at.Add(GrantIdle)
	return Change(GrantKey(agent, grant),
		SetAttr("expires_at", idle.UnixMilli()), SetAttr(AttrTTL, idle.Unix()+1)).When(Equal("epoch", epoch))
}

// RevokeGrant ends a connection and with it all of its tokens; the first of the
// writes holds that it is there.
func RevokeGrant(agent, grant string) []Write {
	return []Write{
		Delete(GrantKey(agent, grant), ItemExists()),
		unlist(GrantsKey(agent), TypeGrants, grant),
	}
}

// Access makes a token's item one that ends within the hour: of a grant, or
// made with a key's assertion.
func (t *Token) Access(agent string) Item {
	item := t.Item(agent)
	item[AttrType] = TypeAccess
	return item
}

// CodeKey is where an authorization code is spent.
func CodeKey(code string) Key { return Key{"N#authcode#" + code, "SPENT"} }

// SpentCode is what an authorization code was used for.
type SpentCode struct {
	Agent string `db:"agent"`
	Grant string `db:"grant"`
	At    int64  `db:"at"` // unix ms
}

// spentCodeKeep is how long it is known that a code was used: as long as what it
// gave lives if nobody refreshes it.
const spentCodeKeep = GrantIdle

// SpendCode uses an authorization code up.
func SpendCode(code string, s *SpentCode) Write {
	item := keyed(CodeKey(code), TypeSpent, Marshal(s))
	item[AttrTTL] = time.UnixMilli(s.At).Add(spentCodeKeep).Unix()
	return Put(item, NoItem())
}

// AssertionKey is where an agent's assertion is spent, by the hash of its jti.
func AssertionKey(agent, jti string) Key { return Key{"N#jti#" + agent, jti} }

// SpendAssertion uses an assertion up, which expires at a time.
func SpendAssertion(agent, jti string, expires time.Time) Write {
	return Put(keyed(AssertionKey(agent, jti), TypeSpent, Item{AttrTTL: expires.Unix() + 60}), NoItem())
}
