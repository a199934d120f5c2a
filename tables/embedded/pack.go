package embedded

import (
	"encoding/binary"
	"strings"
)

// Items are stored packed: as literal bytes, and as copies of parts of the dictionary
// (dictionary.go), of the item's key and of the item so far.
//
// A packed item is its number of bytes before packing, then steps:
//
//   - A first byte n below 0x80 is followed by n+1 literal bytes.
//   - 1LLLDDDD DDDDDDDD is a copy. L is its length minus [shortest]. D is how many bytes back
//     its source begins, in the dictionary, the key and the item joined in this order.
//   - If all bits of L are set, a varint with the rest of the length follows. If D is 0, a
//     varint with the distance follows.
//
// The encoder makes no copy that crosses from one of the three to the next.
const (
	shortest    = 4 // bytes of a copy
	longLength  = 7
	farDistance = 1 << 12
	mostLiteral = 0x80
	mostPacked  = 1 << 20 // bytes of an encoded item; more than any item has
)

// positions holds, by the hash of four bytes, their last position plus one; 0 means none.
// Positions beyond 64 KB are left out.
type positions [1 << hashBits]uint16

const hashBits = 11

func (p *positions) set(h uint32, at int) {
	if at < 1<<16-1 {
		p[h] = uint16(at + 1)
	}
}

func hashOf(s string, i int) uint32 {
	n := uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
	return n * 2654435761 >> (32 - hashBits)
}

// known has the positions of the dictionary.
var known = func() (p positions) {
	for i := 0; i+shortest <= len(dictionary); i++ {
		p.set(hashOf(dictionary, i), i)
	}
	return p
}()

// appendPacked appends the packed form of s, the item of a key.
func appendPacked(b []byte, key, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	seen := known
	for i := 0; i+shortest <= len(key); i++ {
		seen.set(hashOf(key, i), len(dictionary)+i)
	}
	begin := len(dictionary) + len(key) // the position of the item
	literal := 0                        // the first byte of s that is in no step yet
	for i := 0; i+shortest <= len(s); {
		h := hashOf(s, i)
		at := int(seen[h]) - 1
		seen.set(h, begin+i)
		n := 0
		if at >= 0 {
			n = common(s[i:], from(key, s, at))
		}
		if n < shortest {
			i += 1 + (i-literal)>>6 // faster while nothing repeats
			continue
		}
		b = appendLiteral(b, s[literal:i])
		b = appendCopy(b, n, begin+i-at)
		for j := i + 1; j < i+n && j+shortest <= len(s); j += 2 { // every other position finds nearly as many copies
			seen.set(hashOf(s, j), begin+j)
		}
		i += n
		literal = i
	}
	return appendLiteral(b, s[literal:])
}

// from returns what can be copied from a position on.
func from(key, s string, at int) string {
	if at < len(dictionary) {
		return dictionary[at:]
	}
	if at -= len(dictionary); at < len(key) {
		return key[at:]
	}
	return s[at-len(key):]
}

// common returns the length of the common beginning.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func appendLiteral(b []byte, s string) []byte {
	for s != "" {
		n := min(len(s), mostLiteral)
		b = append(append(b, byte(n-1)), s[:n]...)
		s = s[n:]
	}
	return b
}

func appendCopy(b []byte, n, back int) []byte {
	n -= shortest
	length, distance := min(n, longLength), back
	if back >= farDistance {
		distance = 0
	}
	b = append(b, 0x80|byte(length<<4)|byte(distance>>8), byte(distance))
	if length == longLength {
		b = binary.AppendUvarint(b, uint64(n-longLength))
	}
	if distance == 0 {
		b = binary.AppendUvarint(b, uint64(back))
	}
	return b
}

// unpacked returns what appendPacked packed for a key.
func unpacked(key, packed string) (string, error) {
	d := decoder{rest: packed}
	size := d.uvarint()
	if d.broken || size > mostPacked {
		return "", errBrokenItem
	}
	var out strings.Builder
	out.Grow(int(size))
	for d.rest != "" {
		first, left := int(d.rest[0]), int(size)-out.Len()
		if n := first + 1; n <= mostLiteral {
			if n >= len(d.rest) || n > left {
				return "", errBrokenItem
			}
			out.WriteString(d.rest[1 : 1+n])
			d.rest = d.rest[1+n:]
			continue
		}
		if len(d.rest) < 2 {
			return "", errBrokenItem
		}
		n, back := first>>4&longLength, first&0xf<<8|int(d.rest[1])
		d.rest = d.rest[2:]
		if n == longLength {
			n += int(min(d.uvarint(), mostPacked))
		}
		if back == 0 {
			back = int(min(d.uvarint(), 2*mostPacked))
		}
		n += shortest
		at := len(dictionary) + len(key) + out.Len() - back
		if d.broken || back == 0 || at < 0 || n > left {
			return "", errBrokenItem
		}
		for {
			part := from(key, out.String(), at)
			if n <= len(part) {
				out.WriteString(part[:n])
				break
			}
			out.WriteString(part)
			n -= len(part)
			at += len(part)
		}
	}
	if out.Len() != int(size) {
		return "", errBrokenItem
	}
	return out.String(), nil
}
