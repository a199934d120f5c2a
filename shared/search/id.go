package search

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// ID is a ULID (https://github.com/ulid/spec): 48 bits of unix ms, then 80
// random ones. IDs sort by time.
type ID [16]byte

// Newest is greater than every post's ID.
var Newest = ID(bytes.Repeat([]byte{0xff}, 16))

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base32
	idText   = 26
)

// ParseID reads the 26 lower-case characters of a ULID.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != idText || s[0] > '7' {
		return ID{}, fmt.Errorf("search: %q is not a ULID", s)
	}
	var high, low uint64 // of 128 bits
	for i := range len(s) {
		digit := strings.IndexByte(alphabet, s[i])
		if digit < 0 {
			return ID{}, fmt.Errorf("search: %q is not a ULID", s)
		}
		high, low = high<<5|low>>59, low<<5|uint64(digit)
	}
	binary.BigEndian.PutUint64(id[:8], high)
	binary.BigEndian.PutUint64(id[8:], low)
	return id, nil
}

// String returns the ULID in lower case, the only spelling that [ParseID] accepts.
func (id ID) String() string {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	var s [idText]byte
	for i := len(s) - 1; i >= 0; i-- {
		s[i] = alphabet[low&31]
		high, low = high>>5, low>>5|high<<59
	}
	return string(s[:])
}

// Compare orders by time, then by the random bits.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// Less reports whether id is less than other.
func (id ID) Less(other ID) bool { return id.Compare(other) < 0 }

// Time returns when the post was made, to the ms.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id.ms())) }

func (id ID) ms() uint64 { return binary.BigEndian.Uint64(id[:8]) >> 16 }

// From returns the least ID of the millisecond of t.
func From(t time.Time) ID {
	var id ID
	binary.BigEndian.PutUint64(id[:8], uint64(t.UnixMilli())<<16)
	return id
}

// next returns the following ID; Newest for Newest.
func (id ID) next() ID {
	for i := len(id) - 1; i >= 0 && id != Newest; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}

func later(a, b ID) ID {
	if a.Less(b) {
		return b
	}
	return a
}
