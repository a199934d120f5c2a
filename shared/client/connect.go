package client

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
)

// Server reads the service's authorization server metadata.
func (c *Client) Server(ctx context.Context) (*wire.AuthorizationServerMetadata, error) {
	return get[wire.AuthorizationServerMetadata](ctx, c, "/.well-known/oauth-authorization-server")
}

// Resource reads the protected resource metadata (RFC 9728) of the whole service or, if
// mcp is set, of its MCP endpoint.
func (c *Client) Resource(ctx context.Context, mcp bool) (*wire.ProtectedResourceMetadata, error) {
	path := "/.well-known/oauth-protected-resource"
	if mcp {
		path += "/mcp"
	}
	return get[wire.ProtectedResourceMetadata](ctx, c, path)
}

// RegisterClient registers a program by its redirect URIs. The client id never expires,
// and there is no secret.
func (c *Client) RegisterClient(ctx context.Context, name string, redirects ...string) (id string, err error) {
	out, err := post[wire.RegisteredClient](ctx, c, "/oauth/register", wire.ClientRegistration{ClientName: &name, RedirectURIs: redirects})
	if err != nil {
		return "", err
	}
	return out.ClientID, nil
}

// Consent asks a person to let a program act for an agent.
type Consent struct {
	URL      string // for the person's browser
	client   string
	redirect string
	state    string
	verifier string
	issuer   string
}

// Ask begins a connection: send a person to the URL of the returned Consent. Without
// scopes, the page asks for the default ones.
func (c *Client) Ask(clientID, redirect string, scopes ...string) *Consent {
	a := &Consent{client: clientID, redirect: redirect, state: rand.Text(), verifier: rand.Text() + rand.Text(), issuer: c.URL()}
	sum := sha256.Sum256([]byte(a.verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {redirect}, "state": {a.state},
		"code_challenge": {auth.EncodeKey(sum[:])}, "code_challenge_method": {"S256"}, "resource": {c.URL()},
	}
	if len(scopes) > 0 {
		q.Set("scope", strings.Join(scopes, " "))
	}
	a.URL = c.URL() + "/oauth/authorize?" + q.Encode()
	return a
}

// ErrStranger means that a query does not answer the [Consent], or is from another service
// (RFC 9207).
var ErrStranger = errors.New("client: the browser returned with the answer to another request")

// Came reads the query that the person's browser brought to the redirect URI, and returns
// what to redeem.
func (a *Consent) Came(query url.Values) (Redemption, error) {
	switch {
	case query.Get("state") != a.state, query.Get("iss") != a.issuer:
		return Redemption{}, ErrStranger
	case query.Get("error") != "":
		return Redemption{}, fmt.Errorf("client: not connected: %s: %s", query.Get("error"), query.Get("error_description"))
	}
	return Redemption{Code: query.Get("code"), Verifier: a.verifier, Client: a.client, Redirect: a.redirect}, nil
}
