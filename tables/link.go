package tables

import "time"

// LinkCode binds a connection by OAuth to an agent: whoever pastes it on the
// connect page shows that it may. What is made with it has at most its scopes,
// carries its epoch, and dies with the credential that minted it.
type LinkCode struct {
	Hash      string `db:"hash"` // of the code, see auth.LinkCodeHash
	ID        string `db:"id"`
	Agent     string `db:"agent"`
	Uses      int64  `db:"uses,keep"` // left
	Scopes    Set    `db:"scopes"`
	Token     string `db:"token"` // id of the token that minted it; "" if a key did
	Key       string `db:"key"`   // that key's public half; "" if a token did
	Grant     string `db:"grant"` // id of the grant whose token minted it; "" if it was no such token
	Epoch     int64  `db:"epoch,keep"`
	CreatedAt int64  `db:"created_at"` // unix ms
	ExpiresAt int64  `db:"expires_at"` // unix ms; judged by the clock
}

// LinkCodesMost is how many live link codes an agent may have.
const LinkCodesMost = 10

// Types of a link code's item and of the list of live ones.
const (
	TypeLinkCode  = "link_code"
	TypeLinkCodes = "link_codes"
)

// LinkCodeKey is where a link code stands, by its hash.
func LinkCodeKey(hash string) Key { return Key{"N#link#" + hash, "CODE"} }

// LinkCodesKey is where an agent's live link codes are listed.
func LinkCodesKey(agent string) Key { return Key{AgentPK(agent), "LINKS"} }

// linkCodeKeep is how long a code's item outlives the code, so that it can
// still be said what became of it.
const linkCodeKeep = 24 * time.Hour

// Item of the link code.
func (l *LinkCode) Item() Item {
	item := keyed(LinkCodeKey(l.Hash), TypeLinkCode, Marshal(l))
	item[AttrTTL] = time.UnixMilli(l.ExpiresAt).Add(linkCodeKeep).Unix()
	return item
}

// LiveLinkCodes reads the list of an agent's live link codes: those of its
// epoch that have neither expired now (unix ms) nor been used up.
func LiveLinkCodes(agent string, item Item, epoch, now int64) Live {
	return readLive(LinkCodesKey(agent), TypeLinkCodes, item, epoch, now)
}

// Use takes one of the uses that were read; the last takes the code off the
// list of live ones as well. Of two that read the same, both pass unless one of
// them takes the last. Whoever uses a code must hold in the same transaction
// that the credential that minted it is alive ([LinkCode.MinterStands]) and the
// agent's epoch the code's, and give what it makes no scope but the code's.
func (l *LinkCode) Use(now time.Time) []Write {
	use := Change(LinkCodeKey(l.Hash), Add("uses", -1)).When(AtLeast("expires_at", now.UnixMilli()+1))
	if l.Uses > 1 {
		return []Write{use.When(AtLeast("uses", 2))}
	}
	return []Write{use.When(Equal("uses", int64(1))), unlist(LinkCodesKey(l.Agent), TypeLinkCodes, l.ID)}
}

// Minter is what the code was minted with.
func (l *LinkCode) Minter() Minter {
	return Minter{Token: l.Token, Key: l.Key, Grant: l.Grant, By: l.CreatedAt}
}

// MinterStands holds that the credential that minted the code is still there.
// Whether a token has expired need not be asked: its codes expire no later.
func (l *LinkCode) MinterStands() Write { return l.Minter().Stands(l.Agent, l.Epoch) }

// Lend holds the same where a connection is made with the code. What a
// connection minted it with lives as long as the new one.
func (l *LinkCode) Lend(now time.Time) Write {
	if l.Grant == "" {
		return l.MinterStands()
	}
	return extendGrant(l.Agent, l.Grant, l.Epoch, now).When(AtLeast("expires_at", now.UnixMilli()+1))
}

// Minter is the credential with which a link code was minted, and on which hangs
// what is made with the code: one of the three, or nothing.
type Minter struct {
	Token string `db:"token"` // its id
	Key   string `db:"key"`   // public half
	Grant string `db:"grant"` // the id of the grant, for a token of a connection
	By    int64  `db:"by"`    // unix ms: a key that was removed and added again later is another one
}

// Zero reports whether there is nothing to hang on.
func (m Minter) Zero() bool { return m == Minter{} }

// Item is where the credential stands.
func (m Minter) Item(agent string) Key {
	switch {
	case m.Token != "":
		return TokenKey(agent, m.Token)
	case m.Grant != "":
		return GrantKey(agent, m.Grant)
	}
	return AgentKeyKey(agent, m.Key)
}

// Stands holds that the credential is still there.
func (m Minter) Stands(agent string, epoch int64) Write {
	stands := Check(m.Item(agent), Equal("epoch", epoch))
	if m.Key != "" {
		return stands.When(Before("added_at", m.By+1))
	}
	return stands
}

// Stood reports the same of its item as it was read.
func (m Minter) Stood(item Item, epoch int64) bool {
	return item != nil && item.Int("epoch") == epoch && (m.Key == "" || item.Int("added_at") <= m.By)
}
