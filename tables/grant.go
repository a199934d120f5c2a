package tables

import "time"

// Grant is an OAuth connection: a person let a client act for an agent. Without the
// grant, its tokens are invalid. Each refresh makes a new generation of tokens. An access
// token contains the grant's id, so that one read gets the items of both.
type Grant struct {
	ID         string `db:"id"`
	Client     string `db:"client"` // hash of the client's id, which may be long
	Name       string `db:"name"`   // the client's own name; "" if unknown
	Scopes     Set    `db:"scopes"`
	Resource   string `db:"resource"` // resource indicator (RFC 8707); "" if none was named
	Epoch      int64  `db:"epoch,keep"`
	Generation int64  `db:"generation,keep"`
	RotatedAt  int64  `db:"rotated_at"` // unix ms of the newest generation
	Newest     Set    `db:"newest"`     // scopes of the newest access token
	CreatedAt  int64  `db:"created_at"` // unix ms
	ExpiresAt  int64  `db:"expires_at"` // unix ms; each use checks it, since TTL removes items late
	Until      int64  `db:"until"`      // unix ms: when the credential that it depends on ends; 0: never
	Founded    bool   `db:"founded"`    // the connection created the agent
	On         Minter `db:"on"`         // the credential that the connection depends on; zero if none
}

const (
	// GrantsMost bounds an agent's live connections.
	GrantsMost = 50
	// GrantIdle is how long a connection lives without a refresh.
	GrantIdle = 30 * 24 * time.Hour
)

// Item types of a grant, of the list of live grants, and of tokens that last at most an
// hour. Such tokens cause no inbox event.
const (
	TypeGrant  = "grant"
	TypeGrants = "grants"
	TypeAccess = "access"
)

// GrantKey is the key of a grant.
func GrantKey(agent, grant string) Key { return Key{AgentPK(agent), "GRANT#" + grant} }

// GrantsKey is the key of the list of an agent's live grants.
func GrantsKey(agent string) Key { return Key{AgentPK(agent), "GRANTS"} }

// Item returns the item of the grant.
func (g *Grant) Item(agent string) Item {
	item := keyed(GrantKey(agent, g.ID), TypeGrant, Marshal(g))
	item[AttrTTL] = g.ExpiresAt/1000 + 1
	return item
}

// LiveGrants reads the list of an agent's live grants: those of its epoch that
// have not expired at now (unix ms).
func LiveGrants(agent string, item Item, epoch, now int64) Live {
	l := readLive(GrantsKey(agent), TypeGrants, item, epoch, now)
	l.ends = true
	return l
}

// Alive reports whether the grant is of the agent's epoch and has not expired
// at now (unix ms).
func (g *Grant) Alive(epoch, now int64) bool {
	return g.ID != "" && g.Epoch == epoch && g.ExpiresAt > now
}

// Idle returns when the grant expires (unix ms) if it is refreshed at a time.
func (g *Grant) Idle(at time.Time) int64 {
	idle := at.Add(GrantIdle).UnixMilli()
	if g.Until != 0 {
		return min(idle, g.Until)
	}
	return idle
}

// RotateRefusals return the errors of [Grant.Rotate] ([Write.Else]).
type RotateRefusals struct {
	Moved func(Item) error // the grant has changed since it was read
	Ended func(Item) error // the agent has another epoch
	Gone  func(Item) error // what the grant depends on is gone
}

// Rotate moves the grant to its next generation, in g and in the table. newest holds the
// scopes of the new access token, which the caller puts. r returns the errors of failed
// conditions. A connection that g depends on is extended with it.
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

// extendGrant extends a connection as a refresh would, on condition that it exists in
// this epoch. Until does not matter: a connection that others depend on depends on no
// credential itself.
func extendGrant(agent, grant string, epoch int64, at time.Time) Write {
	idle := at.Add(GrantIdle)
	return Change(GrantKey(agent, grant),
		SetAttr("expires_at", idle.UnixMilli()), SetAttr(AttrTTL, idle.Unix()+1)).When(Equal("epoch", epoch))
}

// RevokeGrant ends a connection and all of its tokens. The first write requires
// that it exists.
func RevokeGrant(agent, grant string) []Write {
	return []Write{
		Delete(GrantKey(agent, grant), ItemExists()),
		unlist(GrantsKey(agent), TypeGrants, grant),
	}
}

// Access returns the item of a token that expires within an hour. It was issued for a
// grant or for an assertion that a key signed.
func (t *Token) Access(agent string) Item {
	item := t.Item(agent)
	item[AttrType] = TypeAccess
	return item
}

// CodeKey is the key of a spent authorization code.
func CodeKey(code string) Key { return Key{"N#authcode#" + code, "SPENT"} }

// SpentCode records what an authorization code was used for.
type SpentCode struct {
	Agent string `db:"agent"`
	Grant string `db:"grant"`
	At    int64  `db:"at"` // unix ms
}

const spentCodeKeep = GrantIdle

// SpendCode spends an authorization code.
func SpendCode(code string, s *SpentCode) Write {
	item := keyed(CodeKey(code), TypeSpent, Marshal(s))
	item[AttrTTL] = time.UnixMilli(s.At).Add(spentCodeKeep).Unix()
	return Put(item, NoItem())
}

// AssertionKey is the key of a spent assertion, by the hash of its jti.
func AssertionKey(agent, jti string) Key { return Key{"N#jti#" + agent, jti} }

// SpendAssertion spends an assertion that expires at a time.
func SpendAssertion(agent, jti string, expires time.Time) Write {
	return Put(keyed(AssertionKey(agent, jti), TypeSpent, Item{AttrTTL: expires.Unix() + 60}), NoItem())
}
