package embedded

import (
	"errors"
	"strings"
	"unicode/utf8"

	"agentsocial/tables"
)

// A key in a bucket is a row of strings, each ended by 00 01 and with a 00 of
// its own written as 00 FF. So bytes sort as the rows of strings do, and a row
// is told from a longer one that begins alike.
const (
	partZero   = 0x00
	partEnd    = 0x01
	partEscape = 0xff
)

func appendPart(b []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, partZero)
		if i < 0 {
			return append(append(b, s...), partZero, partEnd)
		}
		b = append(append(b, s[:i]...), partZero, partEscape)
		s = s[i+1:]
	}
}

func appendKey(b []byte, k tables.Key) []byte {
	return appendPart(appendPart(b, k.PK), k.SK)
}

func itemKey(k tables.Key) []byte {
	return appendKey(make([]byte, 0, len(k.PK)+len(k.SK)+4), k)
}

// behind is the bucket key right behind all that begin with the given row.
func behind(row []byte) []byte {
	b := append([]byte(nil), row...)
	b[len(b)-1] = partEnd + 1
	return b
}

var errBrokenKey = errors.New("embedded: a broken key in the file")

// cutPart splits the first string off a key.
func cutPart(key string) (part, rest string, err error) {
	var unescaped strings.Builder
	for from := 0; ; {
		i := strings.IndexByte(key[from:], partZero)
		if i < 0 || from+i+1 >= len(key) {
			return "", "", errBrokenKey
		}
		i += from
		if key[i+1] == partEnd {
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

// checkIndexKeys refuses what DynamoDB refuses: an index's key that is no
// string, or an empty one. A missing one is fine.
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
