// Package oauth defines the client registrations and the authorization codes that the
// consent page and the token endpoint share. Both are sealed (shared/identity/seal), so
// the service stores neither.
//
// POST /oauth/authorize seals a [Code]. The token endpoint checks the code, and spends it
// in the transaction that issues the tokens. A spent code that comes again is treated as
// leaked, even if it has expired.
package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"agentsocial/shared/identity/seal"
)

var (
	// ErrClient means that a client id is not a registration with this service.
	ErrClient = errors.New("oauth: not a client id of this service")
	// ErrCode means that this service did not make the code.
	ErrCode = errors.New("oauth: not a code of this service")
)

const (
	sealedClient = "oauth client"
	sealedCode   = "oauth code"
)

// ClientPrefix begins the id of every registered client. A client that is not
// registered has the URL of its metadata document as its id.
const ClientPrefix = "dcr_"

// Registration is a registered client (RFC 7591). It never expires.
type Registration struct {
	// Redirects holds digests ([RedirectDigest]): the id travels in URLs, and ten long
	// URIs would exceed the gateway's limit.
	Redirects [][]byte `json:"r"`
	Name      string   `json:"n,omitempty"` // the client's own name; "" if it gave none
	At        int64    `json:"t"`           // unix ms
}

// SealClient returns the client id of a registration.
func SealClient(box *seal.Box, r *Registration) (id string, err error) {
	id, err = box.Seal(sealedClient, r)
	return ClientPrefix + id, err
}

// OpenClient reads a client id from [SealClient]. Its only error is
// [ErrClient].
func OpenClient(box *seal.Box, id string) (*Registration, error) {
	sealed, ok := strings.CutPrefix(id, ClientPrefix)
	r := new(Registration)
	if !ok {
		return nil, ErrClient
	}
	if _, err := box.Open(sealedClient, sealed, r); err != nil {
		return nil, ErrClient
	}
	return r, nil
}

// CodeLives bounds the time in which a code can be redeemed.
const CodeLives = 60 * time.Second

// Code is an authorization code.
type Code struct {
	ID        string   `json:"i"`           // 22 random characters of base64url; redeeming spends it
	Client    string   `json:"c"`           // client id as sent: dcr_… or a URL
	Name      string   `json:"n,omitempty"` // the client's own name; "" if unknown
	Redirect  string   `json:"u"`           // redirect URI as sent; the token request's, if any, must equal it
	Challenge string   `json:"p"`           // S256 code challenge
	Scopes    []string `json:"s"`           // granted, in the order of auth.Scopes; never empty
	Resource  string   `json:"r,omitempty"` // resource indicator as sent; "" if none
	Bound     *Bound   `json:"b,omitempty"` // nil: redeeming makes a new agent
	At        int64    `json:"t"`           // unix ms
}

// SealCode returns the code's value for the client.
func SealCode(box *seal.Box, c *Code) (value string, err error) { return box.Seal(sealedCode, c) }

// OpenCode reads a code from [SealCode], however old. Its only error is
// [ErrCode].
func OpenCode(box *seal.Box, value string) (*Code, error) {
	c := new(Code)
	if _, err := box.Open(sealedCode, value, c); err != nil || c.ID == "" {
		return nil, ErrCode
	}
	return c, nil
}

// Alive reports whether the code has not expired. It does not know whether the code is
// spent.
func (c *Code) Alive(now time.Time) bool {
	return now.UnixMilli() < c.At+CodeLives.Milliseconds()
}

// Proves reports whether a code verifier is well formed and matches the code's
// challenge (RFC 7636 4.1 and 4.6).
func (c *Code) Proves(verifier string) bool {
	if len(verifier) < 43 || len(verifier) > 128 || strings.Trim(verifier, unreserved) != "" {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(c.Challenge)) == 1
}

const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
