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
	TTL       int64  `db:"ttl"`        // unix seconds
}

// Item of the token.
func (t *Token) Item(agent string) Item {
	return keyed(TokenKey(agent, t.ID), TypeToken, Marshal(t))
}

// TokensKey is where the expiries of an agent's live tokens stand, so that how
// many there are is known by the clock and not by when TTL gets to them.
func TokensKey(agent string) Key { return Key{AgentPK(agent), "TOKENS"} }

const tokenAttr = "t:"

// TokenWrites add a token.
func TokenWrites(agent string, t *Token) []Write {
	return []Write{
		Put(t.Item(agent), NoItem()),
		Change(TokensKey(agent), SetAttr(AttrType, "tokens"), SetAttr(tokenAttr+t.ID, t.ExpiresAt)),
	}
}

// LiveTokens counts the tokens of a TOKENS item that have not expired.
func LiveTokens(tokens Item, now int64) int64 {
	var n int64
	for attr, v := range tokens {
		expires, _ := v.(int64)
		if len(attr) > len(tokenAttr) && attr[:len(tokenAttr)] == tokenAttr && (expires == 0 || expires > now) {
			n++
		}
	}
	return n
}
