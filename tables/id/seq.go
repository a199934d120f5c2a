package id

import (
	"encoding/binary"

	"github.com/oklog/ulid/v2"
)

const (
	// epoch is 2025-01-01T00:00:00Z in unix ms.
	epoch = 1735689600000
	// seqBits is the number of random bits in a seq. The 42 bits above them hold 139 years
	// of ms. All 53 bits fit exactly in a JSON number (an IEEE 754 double).
	seqBits = 11
	maxSeq  = 1<<53 - 1
)

// Seq returns a number below 2^53 that sorts identifiers of all kinds by time. It consists
// of the identifier's ms since the start of 2025 and the first 11 of its random bits. Two
// events in the same ms share a seq with a probability of 1 in 2048. So a page never ends
// between events that share one.
//
// Seq returns 0 for a text that is no identifier, and for identifiers from before 2025.
func Seq(s string) int64 {
	k, ok := Of(s)
	if !ok {
		return 0
	}
	u, _ := k.parse(s)
	ms := int64(u.Time()) - epoch
	if ms < 0 {
		return 0
	}
	return min(ms<<seqBits|int64(binary.BigEndian.Uint16(u.Entropy())>>(16-seqBits)), maxSeq)
}

// From returns the least identifier of this kind with at least the given seq, so that a
// cursor "before seq" is a range of keys. A seq below 0 counts as 0, and one of 2^53 or
// more counts as 2^53-1.
func (k Kind) From(seq int64) string {
	seq = max(0, min(seq, maxSeq))
	var u ulid.ULID
	if err := u.SetTime(uint64(seq>>seqBits + epoch)); err != nil {
		panic(err) // 42 bits and the epoch fit in 48
	}
	binary.BigEndian.PutUint16(u[6:], uint16(seq&(1<<seqBits-1))<<(16-seqBits))
	return k.of(u)
}
