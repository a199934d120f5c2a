package embedded

import (
	"errors"
	"strings"
	"unicode/utf8"

	"agentsocial/tables"
)

// The key of an item or of an index entry is a sequence of strings, each ended by 00 01,
// with 00 inside written as 00 FF. So keys sort as the sequences do, and keys with the same
// first strings are next to each other.
const (
	endOfPart   = "\x00\x01"
	behindPart  = "\x00\x02" // in place of an end, sorts after all keys with the same prefix
	escapedZero = "\x00\xff"
)

// rowOf encodes the strings at the beginning of a key, and appends the rest of the key.
func rowOf(rest string, parts ...string) string {
	var b strings.Builder
	n := len(rest)
	for _, p := range parts {
		n += len(p) + 2
	}
	b.Grow(n)
	for _, p := range parts {
		b.WriteString(strings.ReplaceAll(p, "\x00", escapedZero))
		b.WriteString(endOfPart)
	}
	b.WriteString(rest)
	return b.String()
}

func itemKey(k tables.Key) string { return rowOf("", k.PK, k.SK) }

// behind returns the least key after all keys that begin with row.
func behind(row string) string { return row[:len(row)-len(endOfPart)] + behindPart }

var errBrokenKey = errors.New("embedded: a broken key in the file")

// cutPart splits the first string off a key.
func cutPart(key string) (part, rest string, err error) {
	var unescaped strings.Builder
	for from := 0; ; {
		i := strings.IndexByte(key[from:], 0)
		if i < 0 || from+i+1 >= len(key) {
			return "", "", errBrokenKey
		}
		i += from
		if key[i:i+2] == endOfPart {
			if unescaped.Len() == 0 {
				return key[from:i], key[i+2:], nil
			}
			unescaped.WriteString(key[from:i])
			return unescaped.String(), key[i+2:], nil
		}
		unescaped.WriteString(key[from : i+1])
		from = i + 2
	}
}

func checkKey(k tables.Key) error {
	if err := checkKeyPart("partition key", k.PK, tables.MaxPKSize); err != nil {
		return err
	}
	return checkKeyPart("sort key", k.SK, tables.MaxSKSize)
}

func checkKeyPart(what, s string, limit int) error {
	switch {
	case s == "":
		return invalid("the %s is empty", what)
	case len(s) > limit:
		return invalid("the %s has %d bytes, more than %d", what, len(s), limit)
	case !utf8.ValidString(s):
		return invalid("the %s %q is not UTF-8", what, s)
	}
	return nil
}

// checkIndexKeys refuses, as DynamoDB does, an index key that is not a string, is empty or
// is too long. It may be absent.
func checkIndexKeys(item tables.Item) error {
	for _, s := range tables.Indexes {
		if err := checkIndexKey(item, s.PK, tables.MaxPKSize); err != nil {
			return err
		}
		if err := checkIndexKey(item, s.SK, tables.MaxSKSize); err != nil {
			return err
		}
	}
	return nil
}

func checkIndexKey(item tables.Item, attr string, limit int) error {
	v, ok := item[attr]
	if !ok {
		return nil
	}
	s, ok := v.(string)
	if !ok {
		return invalid("%s is a %T, but an index's key is a string", attr, v)
	}
	return checkKeyPart(attr, s, limit)
}
