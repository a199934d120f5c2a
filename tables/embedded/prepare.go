package embedded

import (
	"encoding/binary"
	"sync"
	"unicode/utf8"

	"agentsocial/tables"
)

const maxTokenLength = 36 // characters

// prepared is a transaction that has passed the checks that do not need the table's
// contents.
type prepared struct {
	writes        []preparedWrite
	token         string
	digest        string // of the writes; "" without a token
	transactional bool   // billed as a transaction
	putSize       int    // bytes of all items to be put
}

type preparedWrite struct {
	*tables.Write
	key string
	put *stored // the item of a put; otherwise absent
}

// buffers are reused for encoding.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func prepare(tx tables.Tx) (*prepared, error) {
	n := len(tx.Writes)
	if n == 0 || n > tables.MaxTxWrites {
		return nil, invalid("a transaction has %d writes, want 1 to %d", n, tables.MaxTxWrites)
	}
	if utf8.RuneCountInString(tx.Token) > maxTokenLength {
		return nil, invalid("a token has more than %d characters", maxTokenLength)
	}
	p := &prepared{
		writes:        make([]preparedWrite, n),
		token:         tx.Token,
		transactional: n > 1 || tx.Token != "" || tx.Writes[0].Op == tables.OpCheck,
	}
	// Encoding the writes also validates them.
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	all := (*buffer)[:0]
	for i := range tx.Writes {
		w := &tx.Writes[i]
		for _, other := range tx.Writes[:i] {
			if other.Key == w.Key {
				return nil, invalid("two writes of %q %q", w.Key.PK, w.Key.SK)
			}
		}
		b, item, err := appendWrite(all, w)
		if err != nil {
			return nil, err
		}
		all = b
		p.writes[i] = preparedWrite{w, itemKey(w.Key), absent}
		if w.Op == tables.OpPut {
			put, err := checkedItem(w.Item, string(b[item:]))
			if err != nil {
				return nil, err
			}
			p.writes[i].put = put
			p.putSize += put.size
		}
	}
	*buffer = all
	if p.putSize > tables.MaxTxSize {
		return nil, invalid("a transaction has %d bytes, more than %d", p.putSize, tables.MaxTxSize)
	}
	if p.token != "" {
		p.digest = hashed(all)
	}
	return p, nil
}

// appendWrite encodes a write, and refuses an invalid one. The encoding of a put ends with
// its item, which begins at item.
func appendWrite(b []byte, w *tables.Write) (_ []byte, item int, err error) {
	if err := checkKey(w.Key); err != nil {
		return nil, 0, err
	}
	if err := w.CheckExpressions(); err != nil {
		return nil, 0, err
	}
	b = appendString(appendString(append(b, byte(w.Op)), w.Key.PK), w.Key.SK)
	b = binary.AppendUvarint(b, uint64(len(w.If)))
	for _, c := range w.If {
		if err := checkCond(c); err != nil {
			return nil, 0, err
		}
		b = appendOperand(appendString(append(b, byte(c.Op)), c.Attr), c.Value)
		b = appendString(b, c.Elem)
	}
	switch w.Op {
	case tables.OpPut:
		if w.Item[tables.AttrPK] != w.Key.PK || w.Item[tables.AttrSK] != w.Key.SK {
			return nil, 0, invalid("the key of the item to put is not the write's key %q %q", w.Key.PK, w.Key.SK)
		}
		item = len(b)
		b, err = appendItem(b, w.Item)
		return b, item, err
	case tables.OpUpdate:
		b, err = appendUpdates(b, w.Updates)
		return b, 0, err
	case tables.OpDelete:
		return b, 0, nil
	case tables.OpCheck:
		if len(w.If) == 0 {
			return nil, 0, invalid("a check without a condition")
		}
		return b, 0, nil
	}
	return nil, 0, invalid("unknown write %d", w.Op)
}

// appendOperand encodes the value of a condition or an update. An operation that ignores
// its value may have any value.
func appendOperand(b []byte, v any) []byte {
	if v != nil {
		if with, err := appendValue(b, v, 0); err == nil {
			return with
		}
	}
	return append(b, 0)
}

// checkedItem checks an item of valid values against the table's limits.
func checkedItem(item tables.Item, encoded string) (*stored, error) {
	if err := checkIndexKeys(item); err != nil {
		return nil, err
	}
	s := &stored{item: item, size: item.Size(), encoded: encoded}
	if s.size > tables.MaxItemSize {
		k := item.Key()
		return nil, invalid("the item %q %q has %d bytes, more than %d", k.PK, k.SK, s.size, tables.MaxItemSize)
	}
	return s, nil
}
