package embedded

import (
	"crypto/sha256"
	"encoding/binary"
	"unicode/utf8"

	"agentsocial/tables"
)

const maxTokenLength = 36 // characters

// prepared is a transaction that has passed every test for which the table's
// contents do not matter.
type prepared struct {
	writes        []preparedWrite
	token         string
	digest        [sha256.Size]byte // of the writes, if there is a token
	transactional bool              // billed as a transaction
	putSize       int               // bytes of all items to be put
}

type preparedWrite struct {
	tables.Write
	key     []byte
	encoded []byte // OpPut: the item
	size    int    // OpPut: the item's
}

func prepare(tx tables.Tx) (*prepared, error) {
	n := len(tx.Writes)
	if n == 0 || n > tables.MaxTxWrites {
		return nil, invalid("a transaction of %d writes", n)
	}
	if utf8.RuneCountInString(tx.Token) > maxTokenLength {
		return nil, invalid("a token of more than %d characters", maxTokenLength)
	}
	p := &prepared{
		writes:        make([]preparedWrite, n),
		token:         tx.Token,
		transactional: n > 1 || tx.Token != "" || tx.Writes[0].Op == tables.OpCheck,
	}
	seen := make(map[tables.Key]bool, n)
	for i, w := range tx.Writes {
		if seen[w.Key] {
			return nil, invalid("two writes of %q %q", w.Key.PK, w.Key.SK)
		}
		seen[w.Key] = true
		var err error
		if p.writes[i], err = prepareWrite(w); err != nil {
			return nil, err
		}
		p.putSize += p.writes[i].size
	}
	if p.putSize > tables.MaxTxSize {
		return nil, invalid("a transaction of %d bytes", p.putSize)
	}
	if p.token != "" {
		p.digest = p.sum()
	}
	return p, nil
}

func prepareWrite(w tables.Write) (preparedWrite, error) {
	p := preparedWrite{Write: w}
	if err := checkKey(w.Key); err != nil {
		return p, err
	}
	for _, c := range w.If {
		if err := checkCond(c); err != nil {
			return p, err
		}
	}
	p.key = itemKey(w.Key)
	switch w.Op {
	case tables.OpPut:
		if w.Item[tables.AttrPK] != w.Key.PK || w.Item[tables.AttrSK] != w.Key.SK {
			return p, invalid("the item to be put has another key than %q %q", w.Key.PK, w.Key.SK)
		}
		var err error
		p.encoded, p.size, err = checkedItem(w.Item)
		return p, err
	case tables.OpUpdate:
		return p, checkUpdates(w.Updates)
	case tables.OpDelete:
		return p, nil
	case tables.OpCheck:
		if len(w.If) == 0 {
			return p, invalid("a check without a condition")
		}
		return p, nil
	}
	return p, invalid("write %d is none", w.Op)
}

// checkedItem encodes an item that may stand in the table.
func checkedItem(item tables.Item) (encoded []byte, size int, err error) {
	if err := checkIndexKeys(item); err != nil {
		return nil, 0, err
	}
	if encoded, err = encodeItem(item); err != nil {
		return nil, 0, err
	}
	if size = item.Size(); size > tables.MaxItemSize {
		k := item.Key()
		return nil, 0, invalid("the item %q %q has %d bytes", k.PK, k.SK, size)
	}
	return encoded, size, nil
}

// sum tells one set of writes from another. Everything in it has been
// checked, so that encoding cannot fail.
func (p *prepared) sum() [sha256.Size]byte {
	var b []byte
	for _, w := range p.writes {
		b = append(b, byte(w.Op))
		b = appendString(b, w.Key.PK)
		b = appendString(b, w.Key.SK)
		b = appendString(b, string(w.encoded))
		b = binary.AppendUvarint(b, uint64(len(w.Updates)))
		for _, u := range w.Updates {
			b = appendOperand(appendString(append(b, byte(u.Op)), u.Attr), u.Value)
		}
		b = binary.AppendUvarint(b, uint64(len(w.If)))
		for _, c := range w.If {
			b = appendOperand(appendString(append(b, byte(c.Op)), c.Attr), c.Value)
			b = appendString(b, c.Elem)
		}
	}
	return sha256.Sum256(b)
}

func appendOperand(b []byte, v any) []byte {
	if v == nil {
		return append(b, 0)
	}
	with, err := appendValue(b, v, 0)
	if err != nil { // of an operation that ignores its value
		return append(b, 0)
	}
	return with
}
