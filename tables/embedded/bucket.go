package embedded

import (
	"bytes"

	"go.etcd.io/bbolt"

	"agentsocial/tables"
)

// session is a transaction of the file.
type session struct {
	tx    *bbolt.Tx
	dirty bool // something was written
}

func treesOf(s *session) *trees {
	feed := &bucket[*record]{session: s, name: bucketFeed, encode: encodeRecord, decode: decodeRecord}
	t := &trees{
		items:       &bucket[*stored]{session: s, name: bucketItems, encode: encodeStored, decode: decodeStored},
		expiry:      keysOf(s, bucketExpiry),
		feed:        feed,
		tokens:      &bucket[token]{session: s, name: bucketTokens, encode: encodeToken, decode: decodeToken},
		tokenExpiry: keysOf(s, bucketTokenExpiry),
		checkpoints: &bucket[string]{
			session: s, name: bucketCheckpoints,
			encode: func(seq string) ([]byte, error) { return []byte(seq), nil },
			decode: func(b []byte) (string, error) { return string(b), nil },
		},
		nextSeq: func() (uint64, error) {
			feed.bucket().FillPercent = 0.95 // the feed only grows at its end
			return feed.bucket().NextSequence()
		},
		lastSeq: func() uint64 { return feed.bucket().Sequence() },
	}
	for _, index := range tables.Indexes {
		t.indexes = append(t.indexes, keysOf(s, string(index.Name)))
	}
	return t
}

// bucket is a tree in a file.
type bucket[V any] struct {
	*session
	name   string
	encode func(V) ([]byte, error)
	decode func([]byte) (V, error) // must copy the bytes
	opened *bbolt.Bucket           // nil before the first use
}

func keysOf(s *session, name string) *bucket[nothing] {
	return &bucket[nothing]{
		session: s, name: name,
		encode: func(nothing) ([]byte, error) { return nil, nil },
		decode: func([]byte) (nothing, error) { return nothing{}, nil },
	}
}

func (b *bucket[V]) bucket() *bbolt.Bucket {
	if b.opened == nil {
		b.opened = b.tx.Bucket([]byte(b.name))
	}
	return b.opened
}

func (b *bucket[V]) get(key string) (v V, found bool, err error) {
	encoded := b.bucket().Get([]byte(key))
	if encoded == nil {
		return v, false, nil
	}
	v, err = b.decode(encoded)
	return v, true, err
}

func (b *bucket[V]) put(key string, v V) error {
	encoded, err := b.encode(v)
	if err != nil {
		return err
	}
	b.dirty = true
	return b.bucket().Put([]byte(key), encoded)
}

func (b *bucket[V]) remove(key string) error {
	b.dirty = true
	return b.bucket().Delete([]byte(key))
}

func (b *bucket[V]) walk(from, to string, desc bool, visit func(string, V) (bool, error)) error {
	c := b.bucket().Cursor()
	first, last := []byte(from), []byte(to)
	var k, encoded []byte
	step := c.Next
	if !desc {
		k, encoded = c.Seek(first)
	} else {
		step = c.Prev
		if k, _ = c.Seek(last); k == nil {
			k, encoded = c.Last()
		} else {
			k, encoded = c.Prev()
		}
	}
	for ; k != nil && bytes.Compare(k, first) >= 0 && bytes.Compare(k, last) < 0; k, encoded = step() {
		v, err := b.decode(encoded)
		if err != nil {
			return err
		}
		if more, err := visit(string(k), v); !more || err != nil {
			return err
		}
	}
	return nil
}
