// Package oauth is what the halves of the authorization code flow hand each
// other: a client's registration, which nobody keeps but the client, and the
// authorization code that the consent page makes and the token endpoint
// redeems. Both are sealed values of this service (shared/identity/seal), so that
// neither is stored.
//
// A code's way: POST /oauth/authorize seals a [Code], with the agent that the
// connection is for in [Bound], if a link code or a mailed recovery code named
// one. The token endpoint opens it with [OpenCode], holds the client, the
// redirect URI and [Code.Proves] against its request, asks [Code.Alive], and in
// one transaction spends Code.ID (a conditional put), makes what it issues, and
// makes the writes of [Bound.Spend]. A code is sealed again by nobody: one that
// is spent and shown again, however late, is a code that leaked.
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
	// ErrClient is a client id that is no registration of this service's.
	ErrClient = errors.New("oauth: not a client id of this service")
	// ErrCode is a code that this service did not make.
	ErrCode = errors.New("oauth: not a code of this service")
)

// What the values are sealed for.
const (
	sealedClient = "oauth client"
	sealedCode   = "oauth code"
)

// ClientPrefix begins the id of every client that registered. Any other client
// is known by the URL of its metadata document.
const ClientPrefix = "dcr_"

// Registration is a client that registered (RFC 7591). It lives for ever: there
// is nothing to end.
type Registration struct {
	// Redirects are digests of the redirect URIs ([RedirectDigest]), not the URIs:
	// the id travels in URLs, which ten long URIs would make too long for the
	// gateway.
	Redirects [][]byte `json:"r"`
	Name      string   `json:"n,omitempty"` // what the client calls itself; "" if it did not say
	At        int64    `json:"t"`           // unix ms
}

// SealClient makes a registration's client id.
func SealClient(box *seal.Box, r *Registration) (id string, err error) {
	id, err = box.Seal(sealedClient, r)
	return ClientPrefix + id, err
}

// OpenClient reads a client id that [SealClient] made. The only error is [ErrClient].
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

// CodeLives is how long a code can be redeemed.
const CodeLives = 60 * time.Second

// Code is an authorization code.
type Code struct {
	ID        string   `json:"i"`           // 22 characters of base64url, random: what redeeming spends
	Client    string   `json:"c"`           // client id as it was sent: dcr_… or a URL
	Name      string   `json:"n,omitempty"` // what the client calls itself; "" if unknown
	Redirect  string   `json:"u"`           // redirect URI as it was sent; the token request's must equal it
	Challenge string   `json:"p"`           // S256 code challenge
	Scopes    []string `json:"s"`           // granted, in the order of auth.Scopes; never empty
	Resource  string   `json:"r,omitempty"` // resource indicator as it was sent; "" if none was
	Bound     *Bound   `json:"b,omitempty"` // nil: redeeming makes a new agent
	At        int64    `json:"t"`           // unix ms
}

// SealCode makes the value that the client gets.
func SealCode(box *seal.Box, c *Code) (value string, err error) { return box.Seal(sealedCode, c) }

// OpenCode reads a code that [SealCode] made, however old. The only error is [ErrCode].
func OpenCode(box *seal.Box, value string) (*Code, error) {
	c := new(Code)
	if _, err := box.Open(sealedCode, value, c); err != nil || c.ID == "" {
		return nil, ErrCode
	}
	return c, nil
}

// Alive reports whether the code can still be redeemed, spent or not.
func (c *Code) Alive(now time.Time) bool {
	return now.UnixMilli() < c.At+CodeLives.Milliseconds()
}

// Proves reports whether a code verifier has the form of one and belongs to the
// code's challenge (RFC 7636 4.1 and 4.6).
func (c *Code) Proves(verifier string) bool {
	if len(verifier) < 43 || len(verifier) > 128 || strings.Trim(verifier, unreserved) != "" {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(c.Challenge)) == 1
}

const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
