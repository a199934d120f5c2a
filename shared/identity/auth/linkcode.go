package auth

import (
	"crypto/sha256"
	"io"
	"strings"
)

// LinkCodePrefix begins every link code.
const LinkCodePrefix = "lc_"

// A link code is the prefix and 20 digits of Crockford's base32: 100 random
// bits, short enough for a person to copy.
const (
	linkCodeDigits = 20
	base32Digits   = "0123456789abcdefghjkmnpqrstvwxyz"
)

// MintLinkCode makes a link code, and its hash for the table.
func MintLinkCode(rand io.Reader) (code, hash string, err error) {
	b := make([]byte, linkCodeDigits)
	if _, err := io.ReadFull(rand, b); err != nil {
		return "", "", err
	}
	for i := range b {
		b[i] = base32Digits[b[i]%32]
	}
	code = LinkCodePrefix + string(b)
	return code, hashLinkCode(code), nil
}

// LinkCodeHash returns the stored hash of a pasted link code. It ignores case and
// surrounding space. ok is false if code is malformed.
func LinkCodeHash(code string) (hash string, ok bool) {
	code = strings.ToLower(strings.TrimSpace(code))
	digits, ok := strings.CutPrefix(code, LinkCodePrefix)
	if !ok || len(digits) != linkCodeDigits || strings.Trim(digits, base32Digits) != "" {
		return "", false
	}
	return hashLinkCode(code), true
}

func hashLinkCode(code string) string {
	sum := sha256.Sum256([]byte(code))
	return b64.EncodeToString(sum[:])
}
