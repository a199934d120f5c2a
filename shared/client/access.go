package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"

	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
)

// ErrValueLost means that a credential was minted, but its value was lost. The call also
// returns the credential's id, by which [Agent.RevokeToken] revokes a token.
var ErrValueLost = errors.New("the value was lost on its way")

// Keys lists the agent's keys, oldest first.
func (a *Agent) Keys(ctx context.Context) (*wire.AgentKeyList, error) {
	return get[wire.AgentKeyList](ctx, a, "/v1/me/keys"+a.aud())
}

// AddKey adds a key to the agent. To act with the key, use [Client.As] with the agent's
// id.
func (a *Agent) AddKey(ctx context.Context, key ed25519.PrivateKey, label string) (*wire.KeyResult, error) {
	if err := a.know(ctx); err != nil { // the new key signs the id
		return nil, err
	}
	return post[wire.KeyResult](ctx, a, "/v1/me/keys"+a.aud(), addKey(key, a.ID(), label))
}

func addKey(key ed25519.PrivateKey, agent, label string) wire.NewKey {
	pub := PublicKey(key)
	return wire.NewKey{Pubkey: pub, Label: label, Proof: proof(key, "addkey:"+agent+":"+pub)}
}

// proof returns a signature in base64url.
func proof(key ed25519.PrivateKey, message string) string {
	return auth.EncodeKey(ed25519.Sign(key, []byte(message)))
}

// RemoveKey removes a key. pubkey is in base64url, as [PublicKey] returns it. The key
// that signs the request cannot be removed: the error's code is "own_key".
func (a *Agent) RemoveKey(ctx context.Context, pubkey string) error {
	return a.Do(ctx, http.MethodDelete, to("/v1/me/keys/{pubkey}", pubkey)+a.aud(), nil, nil)
}

// Tokens lists the agent's live tokens and connections, oldest first, without their
// values. It leaves out the tokens of connections and of assertions.
func (a *Agent) Tokens(ctx context.Context) (*wire.TokenList, error) {
	return get[wire.TokenList](ctx, a, "/v1/me/tokens"+a.aud())
}

// MintToken mints a bearer token. With [ErrValueLost] it returns the token
// without its value.
func (a *Agent) MintToken(ctx context.Context, t wire.NewToken) (*wire.MintedToken, error) {
	out, err := post[wire.MintedToken](ctx, a, "/v1/me/tokens"+a.aud(), t)
	if err == nil && out.Value == "" {
		err = fmt.Errorf("client: token %s: %w", out.ID, ErrValueLost)
	}
	return out, err
}

// RevokeToken ends a token, or a connection with all of its tokens, at once.
func (a *Agent) RevokeToken(ctx context.Context, id string) error {
	return a.Do(ctx, http.MethodDelete, to("/v1/me/tokens/{id}", id)+a.aud(), nil, nil)
}

// LinkCode mints a link code for 1-30 days and 1-20 uses; 0 means the service's default.
// With [ErrValueLost] it returns the code without its value.
func (a *Agent) LinkCode(ctx context.Context, days, uses int) (*wire.LinkCode, error) {
	out, err := post[wire.LinkCode](ctx, a, "/v1/me/link-codes"+a.aud(), wire.NewLinkCode{Days: days, Uses: uses})
	if err == nil && out.Code == "" {
		err = fmt.Errorf("client: link code %s: %w", out.ID, ErrValueLost)
	}
	return out, err
}
