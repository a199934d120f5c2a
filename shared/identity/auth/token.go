package auth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
)

// TokenPrefix begins every bearer token (spec "Bearer token").
const TokenPrefix = "ast_"

// Scopes of bearer tokens, in the order of the spec.
var Scopes = []string{"read", "post", "memory", "jury", "promo", "dm"}

// DefaultScopes are the scopes of a token if none are chosen.
var DefaultScopes = []string{"read", "post", "jury"}

// InOrder returns scopes in the order of the spec, without duplicates and unknown ones.
func InOrder(scopes []string) []string {
	out := make([]string, 0, len(scopes))
	for _, s := range Scopes {
		if slices.Contains(scopes, s) {
			out = append(out, s)
		}
	}
	return out
}

// A token is the prefix and 68 bytes in base62: the ULIDs of the agent and of the token,
// 32 random bytes, and the CRC-32 of all these. One read finds the token, and a secret
// scanner recognises it offline. If the token depends on other credentials ([Hangs]),
// their ids or keys stand before the random bytes, so that the same read gets them
// too.
const (
	idBytes     = 16
	secretBytes = 32
	sumBytes    = 4
	plainBytes  = 2*idBytes + secretBytes + sumBytes
)

// Hangs names what a token depends on. A token of a connection depends on its
// grant and, if a link code made the connection, on what minted the code. A
// token of an assertion depends on the key that signed it.
type Hangs struct {
	Grant string // id
	// At most one of the three is set. Without a grant, only Key may be set.
	Token, Key, Other string // id of a token; public key; id of another grant
}

// Kinds of minters of a link code.
const (
	onNothing = iota
	onToken
	onKey
	onGrant
)

// digitsOf returns how many base62 digits n bytes need.
func digitsOf(n int) int { return int(math.Ceil(float64(8*n) / math.Log2(62))) }

// bytesOf maps a token's number of digits to its number of bytes.
var bytesOf = func() map[int]int {
	m := map[int]int{digitsOf(plainBytes): plainBytes}
	for _, minter := range []int{0, idBytes, ed25519.PublicKeySize} {
		n := plainBytes + idBytes + 1 + minter
		m[digitsOf(n)] = n
	}
	m[digitsOf(plainBytes+ed25519.PublicKeySize)] = plainBytes + ed25519.PublicKeySize
	return m
}()

// ErrToken is the error for a malformed token.
var ErrToken = errors.New("is not a token of this service, or was copied incompletely")

// MintToken makes a token, and its hash for the table. agent and token are ids with their
// prefixes.
func MintToken(agent, token string, rand io.Reader) (value string, hash []byte, err error) {
	return Hangs{}.MintToken(agent, token, rand)
}

// MintToken makes a token that depends on the credentials in on.
func (on Hangs) MintToken(agent, token string, rand io.Reader) (value string, hash []byte, err error) {
	var b []byte
	add := func(id string) {
		u, parseErr := ulid.ParseStrict(strings.ToUpper(id[strings.IndexByte(id, '_')+1:]))
		err = errors.Join(err, parseErr)
		b = append(b, u[:]...)
	}
	add(agent)
	add(token)
	addKey := func() {
		key, keyErr := ParseKey(on.Key)
		err = errors.Join(err, keyErr)
		b = append(b, key...)
	}
	if on.Grant == "" && on.Key != "" {
		addKey()
	}
	if on.Grant != "" {
		add(on.Grant)
		switch {
		case on.Token != "":
			b = append(b, onToken)
			add(on.Token)
		case on.Other != "":
			b = append(b, onGrant)
			add(on.Other)
		case on.Key != "":
			b = append(b, onKey)
			addKey()
		default:
			b = append(b, onNothing)
		}
	}
	if err != nil {
		return "", nil, err
	}
	secret := make([]byte, secretBytes)
	if _, err := io.ReadFull(rand, secret); err != nil {
		return "", nil, err
	}
	b = append(b, secret...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	digits := new(big.Int).SetBytes(b).Text(62)
	return TokenPrefix + strings.Repeat("0", digitsOf(len(b))-len(digits)) + digits, hashToken(b), nil
}

// ParsedToken is a well-formed token. Only the table shows whether it is valid.
type ParsedToken struct {
	Agent, ID string
	On        Hangs
	hash      []byte
}

// ParseToken reads a token.
func ParseToken(value string) (ParsedToken, error) {
	digits, ok := strings.CutPrefix(value, TokenPrefix)
	size := bytesOf[len(digits)]
	if !ok || size == 0 || strings.ContainsAny(digits, "+-") { // SetString would take a sign
		return ParsedToken{}, ErrToken
	}
	n, ok := new(big.Int).SetString(digits, 62)
	if !ok || n.BitLen() > 8*size {
		return ParsedToken{}, ErrToken
	}
	b := n.FillBytes(make([]byte, size))
	if crc32.ChecksumIEEE(b[:size-sumBytes]) != binary.BigEndian.Uint32(b[size-sumBytes:]) {
		return ParsedToken{}, ErrToken
	}
	on, ok := hangs(b[2*idBytes : size-sumBytes-secretBytes])
	if !ok {
		return ParsedToken{}, ErrToken
	}
	return ParsedToken{Agent: idIn("ag_", b), ID: idIn("tk_", b[idBytes:]), On: on, hash: hashToken(b)}, nil
}

func hangs(b []byte) (on Hangs, ok bool) {
	switch len(b) {
	case 0:
		return on, true
	case ed25519.PublicKeySize: // no value that begins with a grant has this length
		return Hangs{Key: EncodeKey(b)}, true
	}
	on.Grant = idIn("gr_", b)
	switch kind, minter := b[idBytes], b[idBytes+1:]; {
	case kind == onNothing && len(minter) == 0:
	case kind == onToken && len(minter) == idBytes:
		on.Token = idIn("tk_", minter)
	case kind == onGrant && len(minter) == idBytes:
		on.Other = idIn("gr_", minter)
	case kind == onKey && len(minter) == ed25519.PublicKeySize:
		on.Key = EncodeKey(minter)
	default:
		return on, false
	}
	return on, true
}

// idIn returns the id at the start of b.
func idIn(prefix string, b []byte) string {
	var u ulid.ULID
	copy(u[:], b)
	return prefix + strings.ToLower(u.String())
}

// Is reports whether hash is the stored hash of this token.
func (t ParsedToken) Is(hash []byte) bool {
	return subtle.ConstantTimeCompare(t.hash, hash) == 1
}

func hashToken(b []byte) []byte {
	h := sha256.Sum256(b)
	return h[:]
}
