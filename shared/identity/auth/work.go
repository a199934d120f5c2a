package auth

import (
	"crypto/sha256"
	"math/bits"
)

// ZeroBits is with how many zero bits the SHA-256 of a text begins: what a proof
// of work has found.
func ZeroBits(s string) int {
	n := 0
	for _, b := range sha256.Sum256([]byte(s)) {
		n += bits.LeadingZeros8(b)
		if b != 0 {
			break
		}
	}
	return n
}
