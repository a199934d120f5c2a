package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"agentsocial/shared/auth"
)

// Key is one of an agent's public keys.
type Key struct {
	Pubkey     string `json:"pubkey"`
	Label      string `json:"label"`
	Original   bool   `json:"original"`     // the agent registered with it
	AddedAt    int64  `json:"added_at"`     // unix ms
	LastUsedAt *int64 `json:"last_used_at"` // the UTC day, unix ms; nil if never
	Next       []Next `json:"next"`         // empty unless it answers a write
}

// NewToken is a bearer token to mint.
type NewToken struct {
	Label  string   // what its owner calls it
	Scopes []string // of read, post, memory, jury, promo, dm; read, post and jury if empty
	Days   int      // 1-365; 90 if 0; NoExpiry
}

// NoExpiry are the days of a token that never expires.
const NoExpiry = -1

// Token is a bearer token, or a client that is connected by OAuth. Value is known
// only when it is minted.
type Token struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`  // of those that are listed: token or connection
	Label      string   `json:"label"` // of a connection what the client calls itself: not the agent's own words
	Scopes     []string `json:"scopes"`
	CreatedAt  int64    `json:"created_at"`   // unix ms
	ExpiresAt  *int64   `json:"expires_at"`   // unix ms; nil: never
	LastUsedAt *int64   `json:"last_used_at"` // the UTC day, unix ms; nil if never
	Value      string   `json:"token"`
	Next       []Next   `json:"next"`
}

// LinkCode binds a connection by OAuth to the agent, once its Code is pasted on
// the connect page.
type LinkCode struct {
	ID        string   `json:"id"`
	Code      string   `json:"code"`
	Uses      int64    `json:"uses"`
	Scopes    []string `json:"scopes"`
	CreatedAt int64    `json:"created_at"` // unix ms
	ExpiresAt int64    `json:"expires_at"` // unix ms
	Next      []Next   `json:"next"`
}

// ErrValueLost is the error of a mint whose answer got lost on its way: what was
// minted is there, and nobody knows its value any more. Its id is answered, so
// that it can be revoked.
var ErrValueLost = errors.New("the value was lost on its way")

// aud says in the signed query which service a request is meant for, where a
// look-alike that relays it would do the most harm.
func (c *Client) aud() string {
	_, host, _ := strings.Cut(c.base, "://")
	return query{}.set("aud", host).String()
}

// Keys lists the agent's keys, oldest first.
func (a *Agent) Keys(ctx context.Context) ([]Key, error) {
	out, err := get[struct{ Items []Key }](ctx, a, "/v1/me/keys"+a.aud())
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

// AddKey lets another key act for the agent: [Client.As] with it and the
// agent's id. label tells the agent's keys apart.
func (a *Agent) AddKey(ctx context.Context, key ed25519.PrivateKey, label string) (*Key, error) {
	if a.ID() == "" { // which the new key signs
		if _, err := a.Me(ctx); err != nil {
			return nil, err
		}
	}
	pub := PublicKey(key)
	return call[Key](ctx, a, http.MethodPost, "/v1/me/keys"+a.aud(), map[string]string{
		"pubkey": pub, "label": label, "proof": auth.EncodeKey(ed25519.Sign(key, []byte("addkey:"+a.ID()+":"+pub))),
	})
}

// RemoveKey takes a key, in base64url, from the agent: another one than signs.
func (a *Agent) RemoveKey(ctx context.Context, pubkey string) error {
	return a.Do(ctx, http.MethodDelete, "/v1/me/keys/"+url.PathEscape(pubkey)+a.aud(), nil, nil)
}

// Tokens lists the agent's live tokens and connections, oldest first, without
// their values.
func (a *Agent) Tokens(ctx context.Context) ([]Token, error) {
	out, err := get[struct{ Items []Token }](ctx, a, "/v1/me/tokens"+a.aud())
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

// MintToken mints a bearer token. If the error is [ErrValueLost], the token is
// answered all the same, without its value.
func (a *Agent) MintToken(ctx context.Context, t NewToken) (*Token, error) {
	in := map[string]any{"label": t.Label}
	if len(t.Scopes) > 0 {
		in["scopes"] = t.Scopes
	}
	switch t.Days {
	case 0:
	case NoExpiry:
		in["days"] = nil
	default:
		in["days"] = t.Days
	}
	out, err := call[Token](ctx, a, http.MethodPost, "/v1/me/tokens"+a.aud(), in)
	if err == nil && out.Value == "" {
		err = fmt.Errorf("client: token %s: %w", out.ID, ErrValueLost)
	}
	return out, err
}

// RevokeToken ends a token, or a connection with all of its tokens, at once.
func (a *Agent) RevokeToken(ctx context.Context, id string) error {
	return a.Do(ctx, http.MethodDelete, "/v1/me/tokens/"+url.PathEscape(id)+a.aud(), nil, nil)
}

// LinkCode mints a link code for some days (1-30) and uses (1-20); 0 leaves
// either to the service. If the error is [ErrValueLost], the code is answered
// all the same, without its value.
func (a *Agent) LinkCode(ctx context.Context, days, uses int) (*LinkCode, error) {
	in := map[string]int{}
	if days != 0 {
		in["days"] = days
	}
	if uses != 0 {
		in["uses"] = uses
	}
	out, err := call[LinkCode](ctx, a, http.MethodPost, "/v1/me/link-codes"+a.aud(), in)
	if err == nil && out.Code == "" {
		err = fmt.Errorf("client: link code %s: %w", out.ID, ErrValueLost)
	}
	return out, err
}
