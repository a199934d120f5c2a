package embedded

import (
	"encoding/binary"
	"errors"
)

type record struct {
	key      string // of the item; "" in former formats
	at       int64  // unix ms
	expired  bool
	old, now *stored // may be absent

	// current means that the table has the new item, and the record does not. After
	// decoding a current record, now is nil until [trees.restore]; so is old if there is a
	// difference.
	current    bool
	difference string
}

// An encoded record is its time in unix ms, flags, the item's key, the old item and the new
// item. Both items are packed, each after its length, and have length 0 if absent. If there
// are both, the old item is its difference from the new one. The new item is added
// when the item changes again; until then only the table has it.
//
// Records of format 1 have no differences. Those of formats 1 and 2 have no keys, always
// have the new item, and are not packed.
const (
	flagExpired = 1 << iota
	flagDifference
	flagPacked
	flagCurrent
)

const recordHead = 9 // bytes before the key

func encodeRecord(_ string, r *record) (string, error) {
	flags, old, now := byte(flagPacked), "", ""
	if r.expired {
		flags |= flagExpired
	}
	switch {
	case r.current:
		flags |= flagCurrent
	case r.now != absent:
		now = r.now.pack(r.key)
	}
	switch {
	case r.old == absent:
	case r.now == absent:
		old = r.old.pack(r.key)
	default:
		flags |= flagDifference
		var err error
		if old, err = difference(r.old.encoded, r.now.encoded); err != nil {
			return "", err
		}
	}
	b := make([]byte, 0, recordHead+3*binary.MaxVarintLen32+len(r.key)+len(old)+len(now))
	b = append(binary.BigEndian.AppendUint64(b, uint64(r.at)), flags)
	return string(appendString(appendString(appendString(b, r.key), old), now)), nil
}

// completed returns an encoded record with its new item, adding now if it is missing.
func completed(encoded, now string) string {
	flags := encoded[recordHead-1]
	if flags&flagCurrent == 0 {
		return encoded
	}
	b := make([]byte, 0, len(encoded)+binary.MaxVarintLen32+len(now))
	b = append(b, encoded[:len(encoded)-1]...) // the last byte is the length 0 of an absent item
	b[recordHead-1] = flags &^ flagCurrent
	return string(appendString(b, now))
}

// restore fills in the items that a record lacks. key is the record's key in the feed.
func (t *trees) restore(key string, r *record) (err error) {
	if !r.current {
		return nil
	}
	if r.now, err = t.item(r.key); err != nil {
		return err
	}
	if r.now.seq != numberIn(key) {
		return errBrokenRecord
	}
	if r.old == nil {
		var old string
		if old, err = restored(r.difference, r.now.encoded); err == nil {
			r.old, err = decodeItem(old)
		}
	}
	return err
}

var errBrokenRecord = errors.New("embedded: a broken change in the file")

func decodeRecord(_, encoded string) (*record, error) {
	if len(encoded) < recordHead {
		return nil, errBrokenRecord
	}
	flags := encoded[8]
	r := &record{at: int64(numberIn(encoded)), expired: flags&flagExpired != 0, old: absent, now: absent}
	d := decoder{rest: encoded[recordHead:]}
	if flags&flagPacked != 0 {
		r.key = d.text()
	}
	old, now := d.text(), d.text()
	if d.broken || d.rest != "" {
		return nil, errBrokenRecord
	}
	decode := func(item string) (*stored, error) {
		switch {
		case item == "":
			return absent, nil
		case flags&flagPacked != 0:
			return decodePacked(r.key, item)
		}
		return decodeItem(item)
	}
	var err error
	if r.current = flags&flagCurrent != 0; r.current {
		if r.now = nil; flags&flagDifference != 0 {
			r.old, r.difference = nil, old
			return r, nil
		}
	} else if r.now, err = decode(now); err != nil {
		return nil, err
	}
	if flags&flagDifference == 0 {
		r.old, err = decode(old)
		return r, err
	}
	if old, err = restored(old, r.now.encoded); err == nil {
		r.old, err = decodeItem(old)
	}
	return r, err
}

type attribute struct{ name, value string }

// attributesOf returns the attributes of an encoded item, sorted by name.
func attributesOf(encoded string) ([]attribute, error) {
	if encoded == "" || encoded[0] != itemVersion {
		return nil, errBrokenItem
	}
	d := decoder{rest: encoded[1:]}
	all := make([]attribute, d.count())
	for i := range all {
		name := d.text()
		from := d.rest
		d.skip(0)
		all[i] = attribute{name, from[:len(from)-len(d.rest)]}
	}
	if d.broken || d.rest != "" {
		return nil, errBrokenItem
	}
	return all, nil
}

// kindNone takes the place of a value that the old item lacks.
const kindNone byte = 0

// difference encodes what must be changed in now to get old: the name of each attribute
// that differs, and its value in old.
func difference(old, now string) (string, error) {
	was, err := attributesOf(old)
	if err != nil {
		return "", err
	}
	is, err := attributesOf(now)
	if err != nil {
		return "", err
	}
	var b []byte
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].name < is[0].name:
			b = append(appendString(b, was[0].name), was[0].value...)
			was = was[1:]
		case len(was) == 0 || was[0].name > is[0].name:
			b = append(appendString(b, is[0].name), kindNone)
			is = is[1:]
		default:
			if was[0].value != is[0].value {
				b = append(appendString(b, was[0].name), was[0].value...)
			}
			was, is = was[1:], is[1:]
		}
	}
	return string(b), nil
}

// restored returns the old item, encoded.
func restored(difference, now string) (string, error) {
	is, err := attributesOf(now)
	if err != nil {
		return "", err
	}
	was := make([]attribute, 0, len(is))
	for d := (decoder{rest: difference}); d.rest != ""; {
		name, none := d.text(), false
		from := d.rest
		if none = d.rest != "" && d.rest[0] == kindNone; none {
			d.rest = d.rest[1:]
		} else {
			d.skip(0)
		}
		if d.broken {
			return "", errBrokenRecord
		}
		for len(is) > 0 && is[0].name < name {
			was, is = append(was, is[0]), is[1:]
		}
		if len(is) > 0 && is[0].name == name {
			is = is[1:]
		}
		if !none {
			was = append(was, attribute{name, from[:len(from)-len(d.rest)]})
		}
	}
	was = append(was, is...)
	b := binary.AppendUvarint(append(make([]byte, 0, len(difference)+len(now)), itemVersion), uint64(len(was)))
	for _, a := range was {
		b = append(appendString(b, a.name), a.value...)
	}
	return string(b), nil
}
