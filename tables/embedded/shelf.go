package embedded

import (
	"strings"

	"agentsocial/tables"
)

// shelf is a map of strings ordered by the bytes of its keys. bucket and leaves implement
// it.
type shelf interface {
	get(key string) (value string, found bool)
	// lend is get without a copy. The value is valid only until the transaction ends.
	lend(key string) (value string, found bool)
	put(key, value string) error
	remove(key string) error // does nothing if there is no such key
	// walk visits the entries in [from, to), backwards if desc, until visit returns
	// false. The strings are valid only until visit returns. The shelf must not be
	// changed meanwhile.
	walk(from, to string, desc bool, visit func(key, value string) (more bool))
	// keys visits the keys in [from, to) until visit returns false.
	keys(from, to string, visit func(key string) (more bool))
}

func treesIn(open func(name string) shelf) *trees {
	t := &trees{
		items:       &tree[*stored]{open(bucketItems), encodeStored, decodeStored},
		expiry:      keysOf(open(bucketExpiry)),
		feed:        &tree[*record]{open(bucketFeed), encodeRecord, decodeRecord},
		tokens:      &tree[token]{open(bucketTokens), encodeToken, decodeToken},
		checkpoints: &tree[string]{open(bucketCheckpoints), asItIs, asItIs},
	}
	for _, index := range tables.Indexes {
		t.indexes = append(t.indexes, keysOf(open(string(index.Name))))
	}
	return t
}

// tree is a map of values ordered by the bytes of its keys. Its errors come from the file.
type tree[V any] struct {
	shelf  shelf
	encode func(key string, v V) (string, error)
	decode func(key, encoded string) (V, error)
}

type nothing struct{}

func keysOf(s shelf) *tree[nothing] {
	return &tree[nothing]{s,
		func(string, nothing) (string, error) { return "", nil },
		func(_, _ string) (nothing, error) { return nothing{}, nil },
	}
}

func asItIs(_, s string) (string, error) { return s, nil }

func (t *tree[V]) get(key string) (v V, found bool, err error) {
	encoded, found := t.shelf.get(key)
	if !found {
		return v, false, nil
	}
	v, err = t.decode(key, encoded)
	return v, true, err
}

func (t *tree[V]) put(key string, v V) error {
	encoded, err := t.encode(key, v)
	if err != nil {
		return err
	}
	return t.shelf.put(key, encoded)
}

func (t *tree[V]) remove(key string) error { return t.shelf.remove(key) }

// walk visits the entries in [from, to), backwards if desc, until visit returns false.
// The tree must not be changed meanwhile.
func (t *tree[V]) walk(from, to string, desc bool, visit func(key string, v V) (more bool, err error)) (err error) {
	t.shelf.walk(from, to, desc, func(key, encoded string) (more bool) {
		key = strings.Clone(key)
		var v V
		if v, err = t.decode(key, strings.Clone(encoded)); err == nil {
			more, err = visit(key, v)
		}
		return more && err == nil
	})
	return err
}

// firstKeys returns the first n keys in [from, to), so that the caller can remove them: a
// tree must not be changed while it is walked.
func (t *tree[V]) firstKeys(from, to string, n int) (keys []string) {
	if n > 0 {
		t.shelf.keys(from, to, func(key string) bool {
			keys = append(keys, key)
			return len(keys) < n
		})
	}
	return keys
}
