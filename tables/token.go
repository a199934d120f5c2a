package tables

// Token is a bearer token, of which only the hash is kept.
type Token struct {
	ID        string `db:"id"`
	Label     string `db:"label"`
	Hash      []byte `db:"hash"`
	Scopes    Set    `db:"scopes"`
	Epoch     int64  `db:"epoch,keep"`
	CreatedAt int64  `db:"created_at"` // unix ms
	ExpiresAt int64  `db:"expires_at"` // unix ms; 0: never. Judged by the clock.
	TTL       int64  `db:"ttl"`        // unix seconds; 0: never
	Grant     string `db:"grant"`      // id of the connection that it is of; "" if of none
	Key       string `db:"key"`        // public half of the key whose assertion made it; "" if none did
}

// TokensMost is how many live tokens an agent may have.
const TokensMost = 50

// Types of a token's item and of the list of live ones.
const (
	TypeToken  = "token"
	TypeTokens = "tokens"
)

// TokenKey is where a token stands.
func TokenKey(agent, token string) Key { return Key{AgentPK(agent), "TOKEN#" + token} }

// TokensKey is where an agent's live tokens are listed.
func TokensKey(agent string) Key { return Key{AgentPK(agent), "TOKENS"} }

// Item of the token.
func (t *Token) Item(agent string) Item {
	return keyed(TokenKey(agent, t.ID), TypeToken, Marshal(t))
}

// LiveTokens reads the list of an agent's live tokens: those of its epoch that
// have not expired now (unix ms).
func LiveTokens(agent string, item Item, epoch, now int64) Live {
	return readLive(TokensKey(agent), TypeTokens, item, epoch, now)
}

// RevokeToken makes a token one that never was; the first of the writes holds
// that it is there.
func RevokeToken(agent, token string) []Write {
	return []Write{
		Delete(TokenKey(agent, token), ItemExists()),
		unlist(TokensKey(agent), TypeTokens, token),
	}
}
