package tables

import (
	"bytes"
	"maps"
	"math"
	"slices"
)

// These functions compute what DynamoDB bills for on-demand requests, by the rules of
// "Capacity unit consumption" and "Item sizes and formats" in its developer guide. The
// figures that DynamoDB Local reports differ from the bill.

const (
	readUnitSize  = 4 << 10
	writeUnitSize = 1 << 10
)

// Size returns the size in bytes of names and values, as DynamoDB counts it for limits
// and billing. Numbers are approximate, as in its documentation.
func (i Item) Size() int {
	n := 0
	for name, v := range i {
		n += len(name) + valueSize(v)
	}
	return n
}

func valueSize(v any) int {
	switch x := v.(type) {
	case string:
		return len(x)
	case int64:
		return NumberSize(x)
	case bool:
		return 1
	case []byte:
		return len(x)
	case Set:
		n := 0
		for _, m := range x {
			n += len(m)
		}
		return n
	case Map:
		n := 3
		for name, e := range x {
			n += 1 + len(name) + valueSize(e)
		}
		return n
	case List:
		n := 3
		for _, e := range x {
			n += 1 + valueSize(e)
		}
		return n
	}
	return 0
}

// NumberSize returns the size of a number: one byte for each two significant digits
// (trailing zeros do not count), one for the exponent and one for a minus sign.
func NumberSize(n int64) int {
	if n == 0 {
		return 1
	}
	size := 1
	if n < 0 {
		size++
	}
	for n%10 == 0 {
		n /= 10
	}
	digits := 0
	for ; n != 0; n /= 10 {
		digits++
	}
	return size + (digits+1)/2
}

// GetUnits returns the price in read units of reading items of these sizes by
// key. Each is rounded up separately; an absent item (size 0) costs as much as
// the smallest item.
func GetUnits(c Consistency, sizes ...int) float64 {
	units := 0.0
	for _, s := range sizes {
		units += readUnits(s)
	}
	return consistent(c, units)
}

// QueryUnits returns the price in read units of one page: the sizes of its
// items, in the table or the index, are summed before rounding.
func QueryUnits(c Consistency, sizes ...int) float64 {
	total := 0
	for _, s := range sizes {
		total += s
	}
	return consistent(c, readUnits(total))
}

func consistent(c Consistency, units float64) float64 {
	if c == Eventual {
		return units / 2
	}
	return units
}

func readUnits(size int) float64 { return units(size, readUnitSize) }

func units(size, unit int) float64 { return max(1, math.Ceil(float64(size)/float64(unit))) }

// WriteUnits returns the price in write units of replacing the item old by the item now.
// Either may be nil. A transaction doubles the table's part of the price, but not the
// indexes'.
func WriteUnits(old, now Item, transactional bool) float64 {
	oldSize, nowSize := old.Size(), now.Size()
	total := TableUnits(oldSize, nowSize, transactional)
	for _, index := range Indexes {
		writes, n := index.writes(old, now, oldSize, nowSize)
		for _, w := range writes[:n] {
			total += w.Units
		}
	}
	return total
}

// TableUnits returns the price of a write without its indexes, from the item's sizes
// before and after (0 if absent). A condition check costs as much as a put of the
// unchanged item. A cancelled write costs as much as a successful one.
func TableUnits(old, now int, transactional bool) float64 {
	u := units(max(old, now), writeUnitSize)
	if transactional {
		return 2 * u
	}
	return u
}

// ReplayUnits returns the price in read units of repeating a committed
// transaction with its Token: each of its items is read transactionally.
func ReplayUnits(sizes ...int) float64 { return 2 * GetUnits(Strong, sizes...) }

// IndexWrite is the write of one entry of an index: its size in bytes, and its price in
// write units.
type IndexWrite struct {
	Index  Index
	PK, SK string // the key in the index
	Size   int
	Units  float64
}

// IndexWrites returns what replacing old by now writes to the indexes. Either may be nil.
func IndexWrites(old, now Item) (all []IndexWrite) {
	oldSize, nowSize := old.Size(), now.Size()
	for _, index := range Indexes {
		writes, n := index.writes(old, now, oldSize, nowSize)
		all = append(all, writes[:n]...)
	}
	return all
}

// entry returns the item's entry in the index, with the price of writing it. ok is false
// if the item is not in the index.
func (s IndexSchema) entry(item Item, size int) (w IndexWrite, ok bool) {
	pk, hasPK := item[s.PK].(string)
	sk, hasSK := item[s.SK].(string)
	if !hasPK || !hasSK {
		return w, false
	}
	if !s.All {
		key := item.Key()
		size = len(AttrPK) + len(key.PK) + len(AttrSK) + len(key.SK) + len(s.PK) + len(pk) + len(s.SK) + len(sk)
	}
	return IndexWrite{s.Name, pk, sk, size, units(size, writeUnitSize)}, true
}

// writes returns the index's writes for a changed item: the first n elements of all. A
// changed key is a delete and a put.
func (s IndexSchema) writes(old, now Item, oldSize, nowSize int) (all [2]IndexWrite, n int) {
	before, was := s.entry(old, oldSize)
	after, is := s.entry(now, nowSize)
	if was && is && before.PK == after.PK && before.SK == after.SK {
		if !s.All || old.Equal(now) {
			return all, 0
		}
		after.Units = max(before.Units, after.Units)
		was = false
	}
	if was {
		all[n] = before
		n++
	}
	if is {
		all[n] = after
		n++
	}
	return all, n
}

func same(a, b any) bool {
	switch x := a.(type) {
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	case Set:
		y, ok := b.(Set)
		return ok && slices.Equal(x, y)
	case Map:
		y, ok := b.(Map)
		return ok && maps.EqualFunc(x, y, same)
	case List:
		y, ok := b.(List)
		return ok && slices.EqualFunc(x, y, same)
	}
	return a == b
}
