package tables

import "time"

// LinkCode lets the person who pastes it on the connect page connect a client
// to an agent. The connection has at most the code's scopes, has the code's epoch,
// and ends with the credential that minted the code.
type LinkCode struct {
	Hash      string `db:"hash"` // of the code, see auth.LinkCodeHash
	ID        string `db:"id"`
	Agent     string `db:"agent"`
	Uses      int64  `db:"uses,keep"` // uses left
	Scopes    Set    `db:"scopes"`
	Token     string `db:"token"` // id of the token that minted it; "" if a key or a token of Grant did
	Key       string `db:"key"`   // public half of the key that minted it; "" if a token did
	Grant     string `db:"grant"` // id of the grant whose token minted it; "" if none did
	Epoch     int64  `db:"epoch,keep"`
	CreatedAt int64  `db:"created_at"` // unix ms
	ExpiresAt int64  `db:"expires_at"` // unix ms; each use checks it, since TTL removes items late
}

// LinkCodesMost bounds an agent's live link codes.
const LinkCodesMost = 10

// Types of a link code's item and of the list of live ones.
const (
	TypeLinkCode  = "link_code"
	TypeLinkCodes = "link_codes"
)

// LinkCodeKey is the key of a link code, by its hash.
func LinkCodeKey(hash string) Key { return Key{"N#link#" + hash, "CODE"} }

// LinkCodesKey is the key of the list of an agent's live link codes.
func LinkCodesKey(agent string) Key { return Key{AgentPK(agent), "LINKS"} }

// linkCodeKeep is how long an expired code's item is kept, to explain what
// became of the code.
const linkCodeKeep = 24 * time.Hour

// Item returns the item of the link code.
func (l *LinkCode) Item() Item {
	item := listGiven(keyed(LinkCodeKey(l.Hash), TypeLinkCode, Marshal(l)))
	item[AttrTTL] = time.UnixMilli(l.ExpiresAt).Add(linkCodeKeep).Unix()
	return item
}

// LiveLinkCodes reads the list of an agent's live link codes: those of its
// epoch that have neither expired at now (unix ms) nor been used up.
func LiveLinkCodes(agent string, item Item, epoch, now int64) Live {
	return readLive(LinkCodesKey(agent), TypeLinkCodes, item, epoch, now)
}

// Use takes one of the remaining uses. The last use also removes the code from the list of
// live codes. In the same transaction the caller must require that the code's minter
// exists ([LinkCode.Lend]), and that the agent has the code's epoch. The caller must not
// grant a scope beyond the code's.
func (l *LinkCode) Use(now time.Time) []Write {
	use := Change(LinkCodeKey(l.Hash), Add("uses", -1)).When(AtLeast("expires_at", now.UnixMilli()+1))
	if l.Uses > 1 {
		return []Write{use.When(AtLeast("uses", 2))}
	}
	return []Write{use.When(Equal("uses", int64(1))), unlist(LinkCodesKey(l.Agent), TypeLinkCodes, l.ID)}
}

// Minter returns the credential that minted the code.
func (l *LinkCode) Minter() Minter {
	return Minter{Token: l.Token, Key: l.Key, Grant: l.Grant, By: l.CreatedAt}
}

// MinterStands requires that the credential that minted the code exists. A
// token's expiry need not be checked: its codes expire no later.
func (l *LinkCode) MinterStands() Write { return l.Minter().Stands(l.Agent, l.Epoch) }

// Lend is MinterStands for a new connection that is made with the code. If a token of
// another connection minted the code, Lend extends that connection to live as long as the
// new one.
func (l *LinkCode) Lend(now time.Time) Write {
	if l.Grant == "" {
		return l.MinterStands()
	}
	return extendGrant(l.Agent, l.Grant, l.Epoch, now).When(AtLeast("expires_at", now.UnixMilli()+1))
}

// Minter identifies the credential that minted a link code. Everything made with the code
// depends on this credential. At most one of Token, Key and Grant is set.
type Minter struct {
	Token string `db:"token"` // its id
	Key   string `db:"key"`   // public half
	Grant string `db:"grant"` // the id of the grant, for a token of a connection
	By    int64  `db:"by"`    // unix ms when it minted the code; a key that was added later does not count
}

// Zero reports whether there is no credential.
func (m Minter) Zero() bool { return m == Minter{} }

// Item returns the key of the credential's item.
func (m Minter) Item(agent string) Key {
	switch {
	case m.Token != "":
		return TokenKey(agent, m.Token)
	case m.Grant != "":
		return GrantKey(agent, m.Grant)
	}
	return AgentKeyKey(agent, m.Key)
}

// Stands requires that the credential still exists.
func (m Minter) Stands(agent string, epoch int64) Write {
	stands := Check(m.Item(agent), Equal("epoch", epoch))
	if m.Key != "" {
		return stands.When(Before("added_at", m.By+1))
	}
	return stands
}

// Stood reports whether the credential exists, from its item as read.
func (m Minter) Stood(item Item, epoch int64) bool {
	return item != nil && item.Int("epoch") == epoch && (m.Key == "" || item.Int("added_at") <= m.By)
}
