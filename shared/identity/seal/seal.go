// Package seal makes tokens that carry their own state. Only this service can make or
// read them.
//
// A token is unpadded base64url (RFC 4648 section 5) of AES-256-GCM (NIST SP 800-38D)
// over JSON: 12 bytes of random nonce, the ciphertext, 16 bytes of tag. Every purpose has
// its own key, derived with HKDF-SHA256 (RFC 5869).
//
// A token can be replayed and never expires. To prevent this, seal a nonce or an expiry
// with the value and check it.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

const (
	// MaxToken bounds the length of a token in bytes.
	MaxToken = 8 << 10
	// MinKey is the least length of a key in bytes.
	MinKey = 32

	subkey = 32 // bytes of a key of AES-256, and of the result of Derive
)

var (
	// ErrBad is the error of every invalid token, whatever is wrong with it.
	ErrBad = errors.New("seal: not a token of this service")
	// ErrTooLarge is the error of a value whose token would exceed [MaxToken].
	ErrTooLarge = errors.New("seal: value too large")
)

var encoding = base64.RawURLEncoding.Strict()

// Box seals values and opens tokens. It is safe for concurrent use.
type Box struct {
	roots [][]byte // HKDF pseudorandom keys, in the order of the keys
	aeads sync.Map // slot → cipher.AEAD
}

type slot struct {
	key     int
	purpose string
}

// New makes a box from secret random keys of at least [MinKey] bytes. The first seals and
// all of them open. To rotate, put the new key first, and drop the old one when no token
// made with it is needed any more. Random nonces allow 2^32 tokens per key and purpose.
func New(keys ...[]byte) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("seal: no key")
	}
	b := &Box{}
	for i, key := range keys {
		if len(key) < MinKey {
			return nil, fmt.Errorf("seal: key %d has %d bytes, needs %d or more", i, len(key), MinKey)
		}
		root, err := hkdf.Extract(sha256.New, key, nil)
		if err != nil {
			return nil, fmt.Errorf("seal: key %d: %w", i, err)
		}
		b.roots = append(b.roots, root)
	}
	return b, nil
}

// Seal makes a token of v, encoded as JSON, with the first key. Purposes must be
// constants, because their ciphers are cached. It fails with [ErrTooLarge], or if v has
// no JSON form.
func (b *Box) Seal(purpose string, v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	aead := b.aead(0, purpose)
	if encoding.EncodedLen(len(plain)+aead.Overhead()) > MaxToken {
		return "", ErrTooLarge
	}
	return encoding.EncodeToString(aead.Seal(nil, nil, plain, nil)), nil
}

// Open reads a token from [Box.Seal] for the same purpose into v, a pointer. It returns
// the index of the key that opened it, for [Box.Derive]; 0 is the current key. A rotation
// changes the index. The only error is [ErrBad].
func (b *Box) Open(purpose, token string, v any) (key int, err error) {
	// The decoder skips CR and LF, which would give one token many spellings.
	if len(token) > MaxToken || strings.ContainsAny(token, "\r\n") {
		return 0, ErrBad
	}
	sealed, err := encoding.DecodeString(token)
	if err != nil {
		return 0, ErrBad
	}
	for i := range b.roots {
		plain, err := b.aead(i, purpose).Open(nil, nil, sealed, nil)
		if err != nil {
			continue
		}
		if json.Unmarshal(plain, v) != nil {
			return 0, ErrBad
		}
		return i, nil
	}
	return 0, ErrBad
}

// Oldest returns the index of the last key, for [Box.Derive]. The bytes derived at Oldest
// stay the same until a rotation drops that key.
func (b *Box) Oldest() int { return len(b.roots) - 1 }

// Derive returns 32 secret bytes that depend only on a key and a purpose, and differ from
// all sealing keys. key is 0 or an index from [Box.Open] or [Box.Oldest]; any other
// panics.
func (b *Box) Derive(key int, purpose string) []byte {
	return b.expand(key, "derive", purpose)
}

func (b *Box) aead(key int, purpose string) cipher.AEAD {
	at := slot{key, purpose}
	if aead, ok := b.aeads.Load(at); ok {
		return aead.(cipher.AEAD)
	}
	block, err := aes.NewCipher(b.expand(key, "seal", purpose))
	if err != nil {
		panic(err) // cannot fail with a key of 32 bytes
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // cannot fail: AES has blocks of 16 bytes
	}
	b.aeads.Store(at, aead)
	return aead
}

func (b *Box) expand(key int, use, purpose string) []byte {
	out, err := hkdf.Expand(sha256.New, b.roots[key], "agentsocial/v1/"+use+"/"+purpose, subkey)
	if err != nil {
		panic(err) // cannot fail: HKDF's limit is 255 hashes
	}
	return out
}
