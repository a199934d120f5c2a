package auth

import (
	"crypto/sha256"
	"math/bits"
)

// ZeroBits returns the number of leading zero bits of the SHA-256 of s.
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
