package tables

// Token is a bearer token. Only its hash is stored.
type Token struct {
	ID        string `db:"id"`
	Label     string `db:"label"`
	Hash      []byte `db:"hash"`
	Scopes    Set    `db:"scopes"`
	Epoch     int64  `db:"epoch,keep"`
	CreatedAt int64  `db:"created_at"` // unix ms
	ExpiresAt int64  `db:"expires_at"` // unix ms; 0: never. Each use checks it, since TTL removes items late.
	TTL       int64  `db:"ttl"`        // unix seconds; 0: never
	Grant     string `db:"grant"`      // id of its OAuth connection ([Grant]); "" if none
	Key       string `db:"key"`        // public key that signed the JWT assertion it was issued for; "" if none
}

// TokensMost bounds an agent's live tokens.
const TokensMost = 50

// Types of a token's item and of the list of live ones.
const (
	TypeToken  = "token"
	TypeTokens = "tokens"
)

// TokenKey is the key of a token.
func TokenKey(agent, token string) Key { return Key{AgentPK(agent), "TOKEN#" + token} }

// TokensKey is the key of the list of an agent's live tokens.
func TokensKey(agent string) Key { return Key{AgentPK(agent), "TOKENS"} }

// Item returns the item of the token.
func (t *Token) Item(agent string) Item {
	return keyed(TokenKey(agent, t.ID), TypeToken, Marshal(t))
}

// LiveTokens reads the list of an agent's live tokens: those of its epoch that
// have not expired at now (unix ms).
func LiveTokens(agent string, item Item, epoch, now int64) Live {
	return readLive(TokensKey(agent), TypeTokens, item, epoch, now)
}

// RevokeToken deletes a token. The first write requires that it exists.
func RevokeToken(agent, token string) []Write {
	return []Write{
		Delete(TokenKey(agent, token), ItemExists()),
		unlist(TokensKey(agent), TypeTokens, token),
	}
}
