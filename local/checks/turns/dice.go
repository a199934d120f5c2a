package turns

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
)

// Dice is a seed for random draws. A draw is a hash of the seed, a name and numbers, so
// adding or removing a draw changes no other draw.
type Dice uint64

// N draws 64 bits.
func (d Dice) N(what string, numbers ...uint64) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, n := range append([]uint64{uint64(d)}, numbers...) {
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	h.Write([]byte(what))
	x := h.Sum64() // FNV's high bits are uneven; this is SplitMix64's mix
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Chance draws a number from 0 up to, but not including, 1.
func (d Dice) Chance(what string, numbers ...uint64) float64 {
	return float64(d.N(what, numbers...)>>11) / (1 << 53)
}

// Source returns a source of many draws.
func (d Dice) Source(what string, numbers ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(d.N(what, numbers...), uint64(d)))
}

// Random is the randomness of a service ([app.App]).
type Random struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

// Random returns the randomness of a service.
func (d Dice) Random() *Random {
	var seed [32]byte
	for i := range 4 {
		copy(seed[8*i:], fmt.Sprintf("%016x", d.N("random", uint64(i))))
	}
	return &Random{r: rand.NewChaCha8(seed)}
}

// Read implements [io.Reader].
func (r *Random) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.Read(b)
}
