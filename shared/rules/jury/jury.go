// Package jury decides how juries are drawn and what their votes come to. Its functions
// are pure: they use no table and no clock.
//
// A draw can be verified. A case commits to a secret seed when it opens ([Commitment]),
// and to the jurors of each draw when they are seated ([Digest]). When the case closes,
// the seed becomes public. Then anybody can check both, and that the jurors are in the
// seed's order ([Rank]). Who was passed over, and why, stays secret.
package jury

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Sizes of juries.
const (
	Seats      = 5
	SeatsFew   = 3 // if fewer than Seats volunteers qualify
	VotesLeast = 3 // the fewest votes that decide a case
)

// Window is the number of volunteers that one draw reads, however large the pool. They are
// neighbours in the pool's random order.
const Window = 100

// WindowsMost bounds the windows that a case reads at a time. After them it is content
// with fewer jurors than it has seats.
const WindowsMost = 2

// SeedSize is the number of bytes of a case's seed.
const SeedSize = 32

// sum is HMAC-SHA256, keyed with the seed, over the purpose and the parts, one
// per line. Parts have no line breaks.
func sum(seed []byte, purpose string, parts ...string) []byte {
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte(strings.Join(append([]string{purpose}, parts...), "\n")))
	return mac.Sum(nil)
}

// Commitment commits a case to its seed without revealing it. The places where
// its draws start in the pool derive from the seed, so they are fixed too.
func Commitment(seed []byte, caseID string) string {
	return hex.EncodeToString(sum(seed, "jury", caseID))
}

// Start returns where in the pool's order a case's n'th draw starts, as a
// [Place].
func Start(seed []byte, caseID string, draw int64) string {
	return Place(binary.BigEndian.Uint64(sum(seed, "window", caseID, strconv.FormatInt(draw, 10))))
}

// Place writes a position in the pool's order as 16 hexadecimal digits.
func Place(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return hex.EncodeToString(b[:])
}

// Rank returns a volunteer's rank under a seed. The volunteer with the lowest rank is drawn
// first.
func Rank(seed []byte, caseID, agent string) string {
	return hex.EncodeToString(sum(seed, "juror", caseID, agent))
}

// Digest commits to the jurors of a case's n'th draw, in order.
func Digest(seed []byte, caseID string, draw int64, jurors []string) string {
	return hex.EncodeToString(sum(seed, "seats", append([]string{caseID, strconv.FormatInt(draw, 10)}, jurors...)...))
}

// Order sorts agents by their rank under a seed.
func Order(seed []byte, caseID string, agents []string) {
	type ranked struct {
		agent string
		rank  []byte
	}
	list := make([]ranked, len(agents))
	for i, a := range agents {
		list[i] = ranked{a, sum(seed, "juror", caseID, a)}
	}
	slices.SortFunc(list, func(a, b ranked) int { return bytes.Compare(a.rank, b.rank) })
	for i := range list {
		agents[i] = list[i].agent
	}
}
