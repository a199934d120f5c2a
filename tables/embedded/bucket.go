package embedded

import (
	"bytes"
	"unsafe"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
)

type session struct {
	tx    *bbolt.Tx
	dirty bool // whether something was written
}

func treesOf(s *session) *trees {
	t := treesIn(func(name string) shelf { return &bucket{session: s, name: name} })
	feed := &bucket{session: s, name: bucketFeed}
	t.nextSeq = func() (uint64, error) { return feed.bucket().NextSequence() }
	t.lastSeq = func() uint64 { return feed.bucket().Sequence() }
	return t
}

// bucket is a shelf in a file.
type bucket struct {
	*session
	name   string
	opened *bbolt.Bucket // nil before the first use
}

func (b *bucket) bucket() *bbolt.Bucket {
	if b.opened == nil {
		b.opened = b.tx.Bucket([]byte(b.name))
		b.opened.FillPercent = fillOf(b.name)
	}
	return b.opened
}

// fillOf returns how full bbolt leaves the pages of a bucket when it splits them. The
// feed's keys only rise, so its pages can be nearly full. The keys of tokens are
// random within a time slot (token.go).
func fillOf(name string) float64 {
	switch name {
	case bucketFeed:
		return 0.95
	case bucketTokens:
		return 0.5
	case string(tables.ByAuthor):
		return 0.6
	}
	return 0.75
}

func (b *bucket) get(key string) (value string, found bool) {
	v := b.bucket().Get([]byte(key))
	return string(v), v != nil
}

func (b *bucket) lend(key string) (value string, found bool) {
	v := b.bucket().Get([]byte(key))
	return lent(v), v != nil
}

// lent returns bytes as a string, without a copy.
func lent(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (b *bucket) put(key, value string) error {
	b.dirty = true
	return b.bucket().Put([]byte(key), []byte(value))
}

func (b *bucket) remove(key string) error {
	b.dirty = true
	return b.bucket().Delete([]byte(key))
}

func (b *bucket) walk(from, to string, desc bool, visit func(key, value string) bool) {
	b.each(from, to, desc, func(k, v []byte) bool { return visit(lent(k), lent(v)) })
}

func (b *bucket) keys(from, to string, visit func(key string) bool) {
	b.each(from, to, false, func(k, _ []byte) bool { return visit(string(k)) })
}

// each visits entries. Their bytes belong to the file, and are valid only during the visit.
func (b *bucket) each(from, to string, desc bool, visit func(k, v []byte) bool) {
	c := b.bucket().Cursor()
	first, last := []byte(from), []byte(to)
	var k, v []byte
	step := c.Next
	if !desc {
		k, v = c.Seek(first)
	} else {
		step = c.Prev
		if k, _ = c.Seek(last); k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
	}
	for ; k != nil && bytes.Compare(k, first) >= 0 && bytes.Compare(k, last) < 0; k, v = step() {
		if !visit(k, v) {
			return
		}
	}
}
