package recovery

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/outside/mail"
)

// A mailed code is 8 digits of Crockford's base32, 40 bits.
const (
	codeDigits   = 8
	codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// NewCode makes a code for a mail.
func NewCode(rand io.Reader) (string, error) {
	b := make([]byte, codeDigits)
	if _, err := io.ReadFull(rand, b); err != nil {
		return "", fmt.Errorf("recovery: no randomness: %w", err)
	}
	for i := range b {
		b[i] = codeAlphabet[b[i]%32]
	}
	return string(b), nil
}

// ReadCode returns the canonical spelling of a code that a person typed. ok is false if s
// is malformed.
func ReadCode(s string) (code string, ok bool) {
	code = strings.NewReplacer("-", "", " ", "", "I", "1", "L", "1", "O", "0").Replace(strings.ToUpper(s))
	return code, len(code) == codeDigits && strings.Trim(code, codeAlphabet) == ""
}

// Hasher makes the stored hashes of addresses and codes. Its pepper keeps others from
// guessing what was hashed.
type Hasher []byte

// NewHasher returns the Hasher with the app's pepper.
func NewHasher(ctx context.Context, a *app.App) (Hasher, error) {
	pepper, err := a.Pepper(ctx)
	if err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	return pepper, nil
}

func (h Hasher) hash(purpose string, parts ...string) string {
	mac := hmac.New(sha256.New, h)
	for _, part := range append([]string{purpose}, parts...) {
		fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return auth.EncodeKey(mac.Sum(nil))
}

// Address hashes a mail address. Person hashes the form that all addresses of a mailbox
// share. Code hashes a mailed code with its use, such as "recovery", and the
// agent or person that it is for.
func (h Hasher) Address(a mail.Address) string    { return h.hash("address", a.Reveal()) }
func (h Hasher) Person(a mail.Address) string     { return h.hash("person", a.Person()) }
func (h Hasher) Code(use, agent, c string) string { return h.hash("code", use, agent, c) }

// Domain hashes the registered part of an address's domain. It returns "" if anybody can
// get an address there.
func (h Hasher) Domain(a mail.Address) string {
	if a.Public() {
		return ""
	}
	return h.hash("domain", a.Registered())
}

// Same compares two hashes in constant time.
func Same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }
