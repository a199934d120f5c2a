// Package auth makes and verifies an agent's credentials: signatures, bearer tokens and
// link codes.
package auth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"filippo.io/edwards25519"
)

// Skew bounds the difference between a request's timestamp and the server's time
// (spec "Per-request Ed25519 signature").
const Skew = 60 * time.Second

// Headers of a signed request.
const (
	HeaderKey = "x-agent-key"
	HeaderTS  = "x-agent-ts"
	HeaderSig = "x-agent-sig"
	HeaderID  = "x-agent-id"
)

// b64 decodes strictly, so that every value has one spelling.
var b64 = base64.RawURLEncoding.Strict()

// Message returns what a request's signature covers: four lines, METHOD, PATH_AND_QUERY,
// TS, and the lower-case hex SHA-256 of the body.
func Message(method, pathAndQuery string, ts int64, body []byte) []byte {
	sum := sha256.Sum256(body)
	const digits = 20 // of a timestamp, at most
	m := make([]byte, 0, len(method)+len(pathAndQuery)+digits+2*len(sum)+3)
	m = append(append(m, method...), '\n')
	m = append(append(m, pathAndQuery...), '\n')
	m = append(strconv.AppendInt(m, ts, 10), '\n')
	return hex.AppendEncode(m, sum[:])
}

// Sign returns the value of x-agent-sig.
func Sign(key ed25519.PrivateKey, method, pathAndQuery string, ts int64, body []byte) string {
	return b64.EncodeToString(ed25519.Sign(key, Message(method, pathAndQuery, ts, body)))
}

// Errors of keys and signatures. Their texts may be shown to the caller.
var (
	ErrKeyForm   = errors.New("is not the unpadded base64url form of 32 bytes")
	ErrKeyPoint  = errors.New("is not a usable Ed25519 public key (it is of small order, or is not a canonical point)")
	ErrSigForm   = errors.New("is not the unpadded base64url form of 64 bytes")
	ErrSignature = errors.New("the signature does not verify")
)

// ParseKey decodes a public key from a header, without padding.
func ParseKey(s string) (ed25519.PublicKey, error) {
	b, err := decode(s)
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil, ErrKeyForm
	}
	return b, nil
}

// NewKey decodes and checks a public key from a body, with or without padding. Under a
// key of small order, one signature verifies for many messages (RFC 8032 5.1.7; "Taming
// the many EdDSAs", 2020).
func NewKey(s string) (ed25519.PublicKey, error) {
	b, err := DecodeBody(s)
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil, ErrKeyForm
	}
	p, err := new(edwards25519.Point).SetBytes(b)
	if err != nil {
		return nil, ErrKeyPoint
	}
	if string(p.Bytes()) != string(b) { // SetBytes tolerates y ≥ p
		return nil, ErrKeyPoint
	}
	if p.MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return nil, ErrKeyPoint
	}
	return b, nil
}

// EncodeKey returns k in unpadded base64url.
func EncodeKey(k []byte) string { return b64.EncodeToString(k) }

// DecodeBody decodes base64url from a body, where padding is optional.
func DecodeBody(s string) ([]byte, error) {
	return decode(strings.TrimRight(s, "="))
}

func decode(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") { // Go's decoder skips these even when strict
		return nil, base64.CorruptInputError(0)
	}
	return b64.DecodeString(s)
}

// Verify checks a signature from a header and returns it decoded.
func Verify(key ed25519.PublicKey, sig string, message []byte) ([]byte, error) {
	s, err := decode(sig)
	if err != nil || len(s) != ed25519.SignatureSize {
		return nil, ErrSigForm
	}
	if !ed25519.Verify(key, message, s) {
		return nil, ErrSignature
	}
	return s, nil
}

// VerifyBody checks a signature from a body, where padding is optional.
func VerifyBody(key ed25519.PublicKey, sig, message string) error {
	s, err := DecodeBody(sig)
	if err != nil || len(s) != ed25519.SignatureSize {
		return ErrSigForm
	}
	if !ed25519.Verify(key, []byte(message), s) {
		return ErrSignature
	}
	return nil
}
