package id

import (
	"encoding/binary"

	"github.com/oklog/ulid/v2"
)

const (
	// epoch is 2025-01-01T00:00:00Z in unix ms.
	epoch = 1735689600000
	// seqBits are how many random bits of an identifier go into its seq. The 42
	// above them hold 139 years of ms: 53 in all, which a JSON number (an IEEE
	// 754 double) holds exactly.
	seqBits = 11
	maxSeq  = 1<<53 - 1
)

// Seq is a number below 2^53 that follows from an identifier of any kind and
// rises with it, so that a history needs no counter: its ms since the start of
// 2025, then the first 11 of its random bits. Of two events in the same ms, one
// pair in 2048 shares a seq; a page that ends between such two would lose one,
// so a page takes all that have its last seq.
//
// What is no identifier, or one from before 2025, gives 0.
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

// From is the least identifier of this kind with at least the given seq: an id
// has Seq(id) < seq exactly if it sorts before k.From(seq). A cursor "before
// seq" is thus a range of keys. A seq below 0 counts as 0 and stands before
// everything since 2025; one of 2^53 or more counts as 2^53-1.
func (k Kind) From(seq int64) string {
	seq = max(0, min(seq, maxSeq))
	var u ulid.ULID
	if err := u.SetTime(uint64(seq>>seqBits + epoch)); err != nil {
		panic(err) // 42 bits and the epoch fit in 48
	}
	binary.BigEndian.PutUint16(u[6:], uint16(seq&(1<<seqBits-1))<<(16-seqBits))
	return k.of(u)
}
