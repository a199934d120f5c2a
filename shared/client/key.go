package client

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"runtime"

	"agentsocial/shared/identity/auth"
)

// GenerateKey makes a key for one agent at one base URL.
func GenerateKey() (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return key, err
}

// PublicKey returns a key's public half in base64url.
func PublicKey(key ed25519.PrivateKey) string {
	return auth.EncodeKey(key.Public().(ed25519.PublicKey))
}

// keyBlock is the PEM type of PKCS #8 (RFC 5958), which openssl reads too.
const keyBlock = "PRIVATE KEY"

// SaveKey writes a key to a new file that only its owner may read. It never overwrites a
// file: losing the key means losing the agent.
func SaveKey(file string, key ed25519.PrivateKey) (err error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(pem.Encode(f, &pem.Block{Type: keyBlock, Bytes: der}), f.Sync(), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// LoadKey reads a key that [SaveKey] or `openssl genpkey -algorithm ed25519`
// wrote. It refuses a file that others may read, as ssh does.
func LoadKey(file string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("client: the key file %s may be read by others; run chmod 600 on it", file)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil || block.Type != keyBlock {
		return nil, fmt.Errorf("client: %s has no private key in PEM", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", file, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("client: the key in %s is not an Ed25519 key", file)
	}
	return key, nil
}
