package embedded

import (
	"encoding/binary"
	"errors"
	"strings"

	"agentsocial/tables"
)

var errBrokenItem = errors.New("embedded: a broken item in the file")

// decodeStored decodes an item from the table. Items that were written in formats 1 and 2
// are not packed.
func decodeStored(key, value string) (*stored, error) {
	if value == "" || value[0] != packedVersion {
		return decodeItem(value)
	}
	d := decoder{rest: value[1:]}
	seq := d.uvarint()
	s, err := decodePacked(key, d.rest)
	if err == nil {
		s.seq = seq
	}
	return s, err
}

// readStored decodes an item for a caller that only reads. It keeps no part of value.
func readStored(key, value string, only *tables.Projection) (*stored, error) {
	if value == "" || value[0] != packedVersion {
		return decodeOnly(strings.Clone(value), only)
	}
	d := decoder{rest: value[1:]}
	d.uvarint() // the sequence number
	encoded, err := unpacked(key, d.rest)
	if err != nil {
		return nil, err
	}
	return decodeOnly(encoded, only)
}

func decodePacked(key, packed string) (*stored, error) {
	encoded, err := unpacked(key, packed)
	if err != nil {
		return nil, err
	}
	s, err := decodeItem(encoded)
	if err == nil {
		s.packed = packed
	}
	return s, err
}

// decodeItem decodes an item. Its strings are parts of encoded.
func decodeItem(encoded string) (*stored, error) { return decodeOnly(encoded, nil) }

// decodeOnly decodes the attributes of an item that are in a projection (nil: all). The
// size is that of the whole item.
func decodeOnly(encoded string, only *tables.Projection) (*stored, error) {
	if encoded == "" || encoded[0] != itemVersion {
		return nil, errBrokenItem
	}
	d := decoder{rest: encoded[1:]}
	var item tables.Item
	if only == nil {
		item = d.mapping(0)
	} else {
		item = d.some(only.Names())
	}
	if d.broken || d.rest != "" {
		return nil, errBrokenItem
	}
	return &stored{item: item, size: d.size, encoded: encoded}, nil
}

const maxDepth = tables.MaxNesting + formerNesting

// decoder reads an encoded item. After an error it returns zero values.
type decoder struct {
	rest   string
	size   int // of the names and values read so far, as [tables.Item.Size] counts
	broken bool
}

func (d *decoder) fail() { d.rest, d.broken = "", true }

func (d *decoder) uvarint() uint64 {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		c := d.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.fail()
	return 0
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	n := int64(u >> 1)
	if u&1 != 0 {
		n = ^n
	}
	return n
}

// count reads a number of elements. Each takes at least one byte, so there cannot be more
// than the remaining bytes.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count()
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) mapping(depth int) tables.Map {
	n := d.count()
	m := make(tables.Map, n)
	for range n {
		name := d.text()
		d.size += len(name)
		m[name] = d.value(depth)
		if d.broken {
			return nil
		}
	}
	return m
}

// some reads the attributes of an item that are in names. Both are sorted.
func (d *decoder) some(names []string) tables.Item {
	item := make(tables.Item, 8) // Go's maps are small up to 8 entries
	for range d.count() {
		name := d.text()
		d.size += len(name)
		for len(names) > 0 && names[0] < name {
			names = names[1:]
		}
		if len(names) > 0 && names[0] == name {
			item[name] = d.value(0)
		} else {
			d.skip(0)
		}
		if d.broken {
			return nil
		}
	}
	return item
}

func (d *decoder) value(depth int) any {
	if d.rest == "" || depth > maxDepth {
		d.fail()
		return nil
	}
	kind := d.rest[0]
	d.rest = d.rest[1:]
	switch kind {
	case kindString:
		s := d.text()
		d.size += len(s)
		return s
	case kindInt:
		n := d.varint()
		d.size += tables.NumberSize(n)
		return n
	case kindFalse, kindTrue:
		d.size++
		return kind == kindTrue
	case kindBytes:
		s := d.text()
		d.size += len(s)
		return []byte(s)
	case kindSet:
		s := make(tables.Set, d.count())
		for i := range s {
			s[i] = d.text()
			d.size += len(s[i])
		}
		return s
	case kindMap:
		m := d.mapping(depth + 1)
		d.size += 3 + len(m)
		return m
	case kindList:
		l := make(tables.List, d.count())
		d.size += 3 + len(l)
		for i := range l {
			l[i] = d.value(depth + 1)
		}
		return l
	}
	d.fail()
	return nil
}

// skip reads past a value, and adds to d.size what [decoder.value] adds.
func (d *decoder) skip(depth int) {
	if d.rest == "" || depth > maxDepth {
		d.fail()
		return
	}
	kind := d.rest[0]
	d.rest = d.rest[1:]
	switch kind {
	case kindString, kindBytes:
		d.size += len(d.text())
	case kindInt:
		d.size += tables.NumberSize(d.varint())
	case kindFalse, kindTrue:
		d.size++
	case kindSet:
		for range d.count() {
			d.size += len(d.text())
		}
	case kindMap:
		n := d.count()
		d.size += 3 + n
		for range n {
			d.size += len(d.text())
			d.skip(depth + 1)
		}
	case kindList:
		n := d.count()
		d.size += 3 + n
		for range n {
			d.skip(depth + 1)
		}
	default:
		d.fail()
	}
}
