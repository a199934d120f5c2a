package simulate

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
)

// dice draws from a hash of the seed and of what is drawn, so that one draw more or
// less changes no other.
type dice uint64

// n returns 64 bits.
func (d dice) n(what string, numbers ...uint64) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, n := range append([]uint64{uint64(d)}, numbers...) {
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	h.Write([]byte(what))
	x := h.Sum64() // FNV's high bits are uneven: mix as SplitMix64 does
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// chance draws a number from 0 to 1.
func (d dice) chance(what string, numbers ...uint64) float64 {
	return float64(d.n(what, numbers...)>>11) / (1 << 53)
}

// source returns a source of many draws.
func (d dice) source(what string, numbers ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(d.n(what, numbers...), uint64(d)))
}
