package text

import (
	"encoding/base64"
	"strings"
)

// publishedKeys are parts of private keys that everybody knows.
var publishedKeys = []string{
	"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",                      // RFC 8037 appendix A
	"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", // RFC 8032 section 7.1
	"ABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",                       // /docs/auth, as PKCS #8
	"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",                      // /docs/auth
	"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
}

func published(key string) bool {
	for _, k := range publishedKeys {
		if strings.Contains(key, k) {
			return true
		}
	}
	return false
}

// publishedClaims reports whether the claims of a token are those of an example of jwt.io
// or RFC 7519.
func publishedClaims(part string) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	claims := string(b)
	return err == nil && (strings.HasPrefix(claims, `{"sub":"1234567890","name":"John Doe",`) ||
		strings.HasPrefix(claims, "{\"iss\":\"joe\",\r\n \"exp\":1300819380,"))
}
