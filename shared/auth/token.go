package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/big"
	"strings"

	"github.com/oklog/ulid/v2"
)

// TokenPrefix begins every bearer token (spec "Bearer token").
const TokenPrefix = "ast_"

// Scopes of bearer tokens, in the order of the spec.
var Scopes = []string{"read", "post", "memory", "jury", "promo", "dm"}

// A token is the prefix and 68 bytes in base62: the agent's and the token's id
// (a ULID each), 32 random bytes, and their CRC-32. So the service finds it
// with one read, and a secret scanner can tell one without asking anybody.
const (
	tokenBytes = 16 + 16 + 32 + 4
	tokenChars = 92 // base62 digits of 68 bytes
)

// ErrToken is a token that is none of this service's, or misspelt.
var ErrToken = errors.New("is not a token of this service, or was damaged in copying")

// MintToken makes a token's value and the hash that is kept of it. agent and
// token are ids with their prefixes.
func MintToken(agent, token string, rand io.Reader) (value string, hash []byte, err error) {
	b := make([]byte, 0, tokenBytes)
	for _, id := range []string{agent, token} {
		u, err := ulid.ParseStrict(strings.ToUpper(id[strings.IndexByte(id, '_')+1:]))
		if err != nil {
			return "", nil, err
		}
		b = append(b, u[:]...)
	}
	b = b[:64]
	if _, err := io.ReadFull(rand, b[32:]); err != nil {
		return "", nil, err
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	digits := new(big.Int).SetBytes(b).Text(62)
	return TokenPrefix + strings.Repeat("0", tokenChars-len(digits)) + digits, hashToken(b), nil
}

// ParsedToken is a token that is well formed; whether it is alive, the table knows.
type ParsedToken struct {
	Agent, ID string
	hash      []byte
}

// ParseToken reads a token's value.
func ParseToken(value string) (ParsedToken, error) {
	digits, ok := strings.CutPrefix(value, TokenPrefix)
	if !ok || len(digits) != tokenChars {
		return ParsedToken{}, ErrToken
	}
	for _, c := range []byte(digits) {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return ParsedToken{}, ErrToken
		}
	}
	n, ok := new(big.Int).SetString(digits, 62)
	if !ok || n.BitLen() > 8*tokenBytes {
		return ParsedToken{}, ErrToken
	}
	b := n.FillBytes(make([]byte, tokenBytes))
	if crc32.ChecksumIEEE(b[:64]) != binary.BigEndian.Uint32(b[64:]) {
		return ParsedToken{}, ErrToken
	}
	var agent, token ulid.ULID
	copy(agent[:], b[:16])
	copy(token[:], b[16:32])
	return ParsedToken{
		Agent: "ag_" + strings.ToLower(agent.String()),
		ID:    "tk_" + strings.ToLower(token.String()),
		hash:  hashToken(b),
	}, nil
}

// Is reports whether the token is the one of which hash was kept.
func (t ParsedToken) Is(hash []byte) bool {
	return subtle.ConstantTimeCompare(t.hash, hash) == 1
}

func hashToken(b []byte) []byte {
	h := sha256.Sum256(b)
	return h[:]
}
