// Package jury is how juries are drawn and how they decide, as plain functions:
// which volunteers may sit, in what order a secret seed ranks them, and what
// votes come to. It knows no table and no clock.
//
// A draw can be checked. A case commits to a seed when it opens, before anybody
// can know who will be drawn ([Commitment]), and to the jurors of each draw when
// they are seated ([Digest]). Once the case is closed the seed is public: with it
// anybody can see that it is the one that was committed to, that the jurors are
// in the order in which it ranks them ([Rank]), and that they are those who were
// committed to. Who was passed over, and why, is never told.
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

// How large juries are.
const (
	Seats      = 5
	SeatsFew   = 3 // where fewer than Seats volunteers qualify
	VotesLeast = 3 // that decide at the deadline
)

// Window is how many volunteers, neighbours in the pool's random order, one draw
// looks at: what it reads does not grow with the pool.
const Window = 100

// WindowsMost is how many windows are looked at, one after the other, before a
// case is content with fewer jurors than it may have.
const WindowsMost = 2

// SeedSize is how many random bytes a case's seed has.
const SeedSize = 32

// sum is HMAC-SHA256 with the seed as its key, over a purpose and parts that hold
// no line break, each on a line of its own.
func sum(seed []byte, purpose string, parts ...string) []byte {
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte(strings.Join(append([]string{purpose}, parts...), "\n")))
	return mac.Sum(nil)
}

// Commitment binds a case to its seed without telling it. The places at which
// the case's draws look into the pool follow from the seed, and so are bound too.
func Commitment(seed []byte, caseID string) string {
	return hex.EncodeToString(sum(seed, "jury", caseID))
}

// Start is the place in the pool's order at which a case's n'th draw begins to
// look, in the form of [Place].
func Start(seed []byte, caseID string, draw int64) string {
	return Place(binary.BigEndian.Uint64(sum(seed, "window", caseID, strconv.FormatInt(draw, 10))))
}

// Place writes a place in the pool's order: 16 hexadecimal digits.
func Place(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return hex.EncodeToString(b[:])
}

// Rank is where a seed puts a volunteer: the least is drawn first.
func Rank(seed []byte, caseID, agent string) string {
	return hex.EncodeToString(sum(seed, "juror", caseID, agent))
}

// Digest binds a case's n'th draw to its jurors, in their order.
func Digest(seed []byte, caseID string, draw int64, jurors []string) string {
	return hex.EncodeToString(sum(seed, "seats", append([]string{caseID, strconv.FormatInt(draw, 10)}, jurors...)...))
}

// Order puts agents in the order in which a seed ranks them.
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
