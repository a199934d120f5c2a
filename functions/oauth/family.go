package oauth

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/shared/identity/seal"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// A refresh token holds a sealed seed, from which the next tokens are derived. The
// table stores only hashes. A refresh token that is sent twice within
// Settings.RefreshAgain gives the same access token and an equivalent refresh token.

const refreshPrefix = "asr_"

// sealedRefresh is the purpose that refresh tokens are sealed for.
const sealedRefresh = "oauth refresh"

// refreshToken is the sealed content of a refresh token.
type refreshToken struct {
	Agent      string `json:"a"`
	Grant      string `json:"g"`
	Generation int64  `json:"n"` // the grant's generation when the token was issued
	Seed       []byte `json:"s"`
}

var errRefresh = errors.New("oauth: not a refresh token of this service")

func openRefresh(box *seal.Box, value string) (*refreshToken, error) {
	sealed, ok := strings.CutPrefix(value, refreshPrefix)
	r := new(refreshToken)
	if !ok {
		return nil, errRefresh
	}
	if _, err := box.Open(sealedRefresh, sealed, r); err != nil {
		return nil, errRefresh
	}
	return r, nil
}

// generation is an access token and a refresh token that are issued together.
type generation struct {
	access  string // the token's value
	token   *tables.Token
	refresh string
}

// generationOf makes the tokens of a grant's newest generation. The same seed gives
// the same tokens, except that the refresh token is sealed differently each time.
func generationOf(box *seal.Box, agent string, g *tables.Grant, seed []byte) (*generation, error) {
	made := time.UnixMilli(g.RotatedAt)
	t := &tables.Token{
		ID:    id.Token.Derive(made, fmt.Sprintf("%s#%d", g.ID, g.Generation)),
		Label: g.Name, Scopes: g.Newest, Epoch: g.Epoch, CreatedAt: g.RotatedAt, ExpiresAt: made.Add(accessLives).UnixMilli(), Grant: g.ID,
	}
	if g.Until != 0 {
		t.ExpiresAt = min(t.ExpiresAt, g.Until)
	}
	t.TTL = t.ExpiresAt/1000 + 1
	on := auth.Hangs{Grant: g.ID, Token: g.On.Token, Key: g.On.Key, Other: g.On.Grant}
	access, hash, err := on.MintToken(agent, t.ID, bytes.NewReader(after(seed, "access")))
	if err != nil {
		return nil, err
	}
	t.Hash = hash
	sealed, err := box.Seal(sealedRefresh, &refreshToken{agent, g.ID, g.Generation, after(seed, "refresh")})
	if err != nil {
		return nil, err
	}
	return &generation{access, t, refreshPrefix + sealed}, nil
}

// after derives 32 bytes from a seed, different ones for each use.
func after(seed []byte, use string) []byte {
	h := hmac.New(sha256.New, seed)
	h.Write([]byte(use))
	return h.Sum(nil)
}

// end ends a connection, which invalidates all of its tokens. It also succeeds if the
// connection has already ended.
func (g oauth) end(ctx context.Context, agent, grant string) error {
	err := g.Transact(ctx, tables.RevokeGrant(agent, grant)...)
	var gone *tables.Cancelled
	if errors.As(err, &gone) {
		return nil
	}
	return err
}
