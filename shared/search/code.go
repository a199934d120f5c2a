package search

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrCorrupt means that stored bytes are damaged, incomplete, or of another kind.
var ErrCorrupt = errors.New("search: the stored data is corrupt")

// version begins all stored bytes.
const version = 1

// Kinds of stored bytes. The kind is the byte after the version.
const (
	kindHead  = 'h'
	kindWords = 'w'
	kindIDs   = 'i'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal adds a version and a kind before a body, and a checksum after it.
func seal(kind byte, body []byte) []byte {
	b := append(make([]byte, 0, len(body)+6), version, kind)
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// unseal returns the body that was given to [seal].
func unseal(kind byte, b []byte) ([]byte, error) {
	end := len(b) - 4
	if end < 2 || b[0] != version || b[1] != kind || binary.BigEndian.Uint32(b[end:]) != crc32.Checksum(b[:end], castagnoli) {
		return nil, ErrCorrupt
	}
	return b[2:end:end], nil
}

// reader decodes a body. After an error it returns only zeros, so the caller checks for
// errors once, at the end.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() { r.b, r.bad = nil, true }

func (r *reader) check(ok bool) {
	if !ok {
		r.fail()
	}
}

// uint reads a varint in its shortest form. It fails if the value is above most.
func (r *reader) uint(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most || n > 1 && r.b[n-1] == 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// take returns the next n bytes without copying them.
func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.fail()
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) id() (id ID) {
	copy(id[:], r.take(len(id)))
	return id
}

// end returns an error unless everything was read and nothing was missing.
func (r *reader) end() error {
	if r.bad || len(r.b) > 0 {
		return ErrCorrupt
	}
	return nil
}

// appendIDs writes ascending ids, each as ms since the previous id, then its random bits.
func appendIDs(b []byte, ids []ID) []byte {
	var last uint64
	for _, id := range ids {
		b = binary.AppendUvarint(b, id.ms()-last)
		b = append(b, id[6:]...)
		last = id.ms()
	}
	return b
}

// ids reads n ascending ids with after < id <= to.
func (r *reader) ids(n int, after, to ID) []ID {
	const least = 11 // bytes of an id
	if n > len(r.b)/least {
		r.fail()
		return nil
	}
	ids := make([]ID, 0, n)
	var ms uint64
	for range n {
		ms += r.uint(1<<48 - 1)
		r.check(ms < 1<<48)
		var id ID
		binary.BigEndian.PutUint64(id[:8], ms<<16)
		copy(id[6:], r.take(10))
		r.check(after.Less(id) && !to.Less(id))
		if r.bad {
			return nil
		}
		ids = append(ids, id)
		after = id
	}
	return ids
}
