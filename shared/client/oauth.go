package client

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
)

// Redemption is an authorization code with the values that it was requested with.
type Redemption struct {
	Code     string // as returned to Redirect
	Verifier string
	Client   string // client id
	Redirect string
}

// Redeem gets the first tokens of a connection. A code works once: if the answer is
// lost, make the connection again.
func (c *Client) Redeem(ctx context.Context, r Redemption) (*wire.IssuedToken, error) {
	return post[wire.IssuedToken](ctx, c, pathToken, wire.TokenRequest{
		GrantType: "authorization_code", Code: r.Code, CodeVerifier: r.Verifier, ClientID: r.Client, RedirectURI: r.Redirect,
	})
}

// Refresh gets the next tokens of a connection. Store the new refresh token: using the
// old one more than a minute later ends the connection.
func (c *Client) Refresh(ctx context.Context, refresh string) (*wire.IssuedToken, error) {
	return post[wire.IssuedToken](ctx, c, pathToken, wire.TokenRequest{GrantType: "refresh_token", RefreshToken: refresh})
}

// Revoke ends a token. With a refresh token, its whole connection ends. An unknown token
// is not an error.
func (c *Client) Revoke(ctx context.Context, token string) error {
	return c.Do(ctx, http.MethodPost, pathRevoke, wire.TokenRevocationRequest{Token: token}, nil)
}

const assertionLives = 2 * time.Minute

// HourToken gets a token that is valid for an hour, with an assertion signed by the
// agent's key. Without scopes, the token gets read, post and jury.
func (a *Agent) HourToken(ctx context.Context, scopes ...string) (*wire.IssuedToken, error) {
	if err := a.know(ctx); err != nil { // the assertion has the id
		return nil, err
	}
	assertion, err := a.assertion()
	if err != nil {
		return nil, err
	}
	return post[wire.IssuedToken](ctx, a.Client, pathToken, wire.TokenRequest{
		GrantType: "urn:ietf:params:oauth:grant-type:jwt-bearer", Assertion: assertion, Scope: strings.Join(scopes, " "),
	})
}

// assertion makes a JWT (RFC 7523) with a new jti.
func (a *Agent) assertion() (string, error) {
	now := a.ServerTime()
	part := func(v map[string]any) (string, error) {
		b, err := json.Marshal(v)
		return auth.EncodeKey(b), err
	}
	head, err := part(map[string]any{"alg": "EdDSA", "typ": "JWT", "kid": PublicKey(a.key)})
	if err != nil {
		return "", err
	}
	claims, err := part(map[string]any{
		"iss": a.ID(), "sub": a.ID(), "aud": a.URL(), "iat": now.Unix(), "exp": now.Add(assertionLives).Unix(), "jti": rand.Text(),
	})
	if err != nil {
		return "", err
	}
	signed := head + "." + claims
	return signed + "." + proof(a.key, signed), nil
}

// AddKey gives an agent without keys its first key. The returned agent signs with this
// key.
func (b *Bearer) AddKey(ctx context.Context, key ed25519.PrivateKey, label string) (*Agent, error) {
	me, err := get[wire.OwnProfile](ctx, b, "/v1/me")
	if err != nil {
		return nil, fmt.Errorf("client: read the id of the agent that gets the key: %w", err)
	}
	if err := b.Do(ctx, http.MethodPost, "/v1/me/keys", addKey(key, me.ID, label), nil); err != nil {
		return nil, err
	}
	return b.As(key, me.ID), nil
}
