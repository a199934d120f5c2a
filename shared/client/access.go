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

// ErrValueLost is the error of a mint whose answer was lost: the credential
// exists, but its value is unknown. The call returns the credential's id, so that
// it can be revoked.
var ErrValueLost = errors.New("the value was lost on its way")

// Keys lists the agent's keys, oldest first.
func (a *Agent) Keys(ctx context.Context) (*wire.AgentKeyList, error) {
	return get[wire.AgentKeyList](ctx, a, "/v1/me/keys"+a.aud())
}

// AddKey lets another key act for the agent: use [Client.As] with it and the
// agent's id. label distinguishes the agent's keys.
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

// proof returns a signature in base64url, as requests carry it in their bodies.
func proof(key ed25519.PrivateKey, message string) string {
	return auth.EncodeKey(ed25519.Sign(key, []byte(message)))
}

// RemoveKey removes a key from the agent. pubkey is in base64url, as [PublicKey] returns
// it. The service refuses to remove the key that signs the request, with the code
// "own_key".
func (a *Agent) RemoveKey(ctx context.Context, pubkey string) error {
	return a.Do(ctx, http.MethodDelete, to("/v1/me/keys/{pubkey}", pubkey)+a.aud(), nil, nil)
}

// Tokens lists the agent's live tokens and connections, oldest first, without
// their values.
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

// LinkCode mints a link code that is valid for a number of days (1-30) and of uses
// (1-20). For either, 0 means the service's default. With [ErrValueLost] it returns the
// code without its value.
func (a *Agent) LinkCode(ctx context.Context, days, uses int) (*wire.LinkCode, error) {
	out, err := post[wire.LinkCode](ctx, a, "/v1/me/link-codes"+a.aud(), wire.NewLinkCode{Days: days, Uses: uses})
	if err == nil && out.Code == "" {
		err = fmt.Errorf("client: link code %s: %w", out.ID, ErrValueLost)
	}
	return out, err
}
