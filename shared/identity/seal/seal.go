// Package seal makes tokens that carry their own state: values that only this
// service can read or make, so that it need not remember them.
//
// A token is base64url (RFC 4648 section 5, no padding, canonical) of
// AES-256-GCM (NIST SP 800-38D) over JSON: 12 bytes of random nonce, the
// ciphertext, 16 bytes of tag. Every purpose has a key of its own, derived with
// HKDF-SHA256 (RFC 5869): a token made for one purpose opens for no other.
// A sealed value can be replayed and lives for ever; who needs it to end or to
// be used once puts an expiry or a nonce inside and checks it.
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
	// MaxToken is the length of the longest token made and opened, in bytes.
	MaxToken = 8 << 10
	// MinKey is how many bytes a key has at least.
	MinKey = 32

	subkey = 32 // AES-256, and what Derive answers
)

var (
	// ErrBad is for every token that is not ours, whatever is wrong with it.
	ErrBad = errors.New("seal: not a token of this service")
	// ErrTooLarge is for a value whose token would exceed [MaxToken].
	ErrTooLarge = errors.New("seal: value too large")
)

var encoding = base64.RawURLEncoding.Strict()

// Box seals and opens. It is safe for concurrent use.
type Box struct {
	roots [][]byte // HKDF pseudorandom keys, in the order of the keys
	aeads sync.Map // slot → cipher.AEAD
}

type slot struct {
	key     int
	purpose string
}

// New makes a box of secret random keys of at least [MinKey] bytes. The first
// one seals and all of them open: to rotate, put the new key first and drop the
// old one when its last token has expired. A random nonce is good for 2^32
// tokens per key and purpose.
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

// Seal makes a token of v, which must survive encoding/json, under the first
// key. Purposes are constants of the program ("challenge"), since their ciphers
// are kept. It fails with [ErrTooLarge], or if v has no JSON form.
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

// Open reads a token made by [Box.Seal] for the same purpose into v, a pointer,
// and tells which key opened it: 0 for the current one. What was derived beside
// the token must be derived from the same key, see [Box.Derive]. The index
// holds for this box alone; after a rotation the same key has another.
//
// The only error is [ErrBad]: also for a token whose JSON no longer fits v.
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

// Derive answers 32 secret bytes that follow from a key and a purpose alone.
// They are never those that seal. Key 0 is the one that seals now, others come
// from [Box.Open]; any other index panics.
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
		panic(err) // a key of 32 bytes is one
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES is a block cipher of 16 bytes
	}
	b.aeads.Store(at, aead)
	return aead
}

func (b *Box) expand(key int, use, purpose string) []byte {
	out, err := hkdf.Expand(sha256.New, b.roots[key], "agentsocial/v1/"+use+"/"+purpose, subkey)
	if err != nil {
		panic(err) // 32 bytes are less than HKDF's limit of 255 hashes
	}
	return out
}
