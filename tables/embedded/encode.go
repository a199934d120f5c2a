package embedded

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"agentsocial/tables"
)

// An encoded item is a version, then a map: the number of attributes, and each name with
// its value, sorted by name. Numbers and lengths of strings are varints. The encoding is
// canonical, so a digest of the writes identifies a transaction.
const itemVersion = 1

// packedVersion begins an item in the table. Then follow the sequence number of the
// change that wrote the item (0: none or unknown) and the packed item (pack.go).
const packedVersion = 2

func encodeStored(key string, s *stored) (string, error) {
	packed := s.pack(key)
	b := make([]byte, 0, 1+binary.MaxVarintLen64+len(packed))
	return string(append(binary.AppendUvarint(append(b, packedVersion), s.seq), packed...)), nil
}

const (
	kindString byte = iota + 1
	kindInt
	kindFalse
	kindTrue
	kindBytes
	kindSet
	kindMap
	kindList
)

// formerNesting is the number of levels beyond [tables.MaxNesting] that earlier versions
// stored.
const formerNesting = 2

// encodeItem encodes an item whose updates were checked. Its values may be nested as deeply
// as earlier versions allowed.
func encodeItem(item tables.Item) (string, error) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	b, err := appendMap(append((*buffer)[:0], itemVersion), item, -formerNesting)
	if err != nil {
		return "", err
	}
	*buffer = b
	return string(b), nil
}

// appendItem encodes an item, and refuses an invalid one with ErrInvalid.
func appendItem(b []byte, item tables.Item) ([]byte, error) {
	return appendMap(append(b, itemVersion), item, 0)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendMap(b []byte, m tables.Map, depth int) ([]byte, error) {
	var some [32]string
	names := some[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		err := checkName(name)
		if err != nil {
			return nil, err
		}
		if b, err = appendValue(appendString(b, name), m[name], depth); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func checkName(name string) error {
	switch {
	case name == "" || !utf8.ValidString(name):
		return invalid("the attribute name %q is empty or not UTF-8", name)
	case len(name) > tables.MaxNameSize:
		return invalid("an attribute's name has %d bytes, more than %d", len(name), tables.MaxNameSize)
	}
	return nil
}

var errTooDeep = invalid("more than %d maps and lists within each other", tables.MaxNesting)

// appendValue encodes a value that is inside depth maps and lists.
func appendValue(b []byte, v any, depth int) ([]byte, error) {
	switch x := v.(type) {
	case string:
		if !utf8.ValidString(x) {
			return nil, invalid("the string %q is not UTF-8", x)
		}
		return appendString(append(b, kindString), x), nil
	case int64:
		return binary.AppendVarint(append(b, kindInt), x), nil
	case bool:
		if x {
			return append(b, kindTrue), nil
		}
		return append(b, kindFalse), nil
	case []byte:
		return append(binary.AppendUvarint(append(b, kindBytes), uint64(len(x))), x...), nil
	case tables.Set:
		return appendSet(append(b, kindSet), x)
	case tables.Map:
		if depth == tables.MaxNesting {
			return nil, errTooDeep
		}
		return appendMap(append(b, kindMap), x, depth+1)
	case tables.List:
		if depth == tables.MaxNesting {
			return nil, errTooDeep
		}
		b = binary.AppendUvarint(append(b, kindList), uint64(len(x)))
		for _, e := range x {
			var err error
			if b, err = appendValue(b, e, depth+1); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return nil, invalid("a value of type %T", v)
}

func appendSet(b []byte, s tables.Set) ([]byte, error) {
	sorted := tables.NewSet(s...)
	if len(sorted) == 0 || len(sorted) != len(s) {
		return nil, invalid("a set has %d members, %d of them distinct", len(s), len(sorted))
	}
	b = binary.AppendUvarint(b, uint64(len(sorted)))
	for _, m := range sorted {
		if !utf8.ValidString(m) {
			return nil, invalid("the set's member %q is not UTF-8", m)
		}
		b = appendString(b, m)
	}
	return b, nil
}
