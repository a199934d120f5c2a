package embedded

import (
	"maps"
	"slices"

	"agentsocial/tables"
)

// stored is an item in the table. It is immutable: the table in memory, its
// feed and its snapshots share it.
type stored struct {
	item  tables.Item
	size  int      // item.Size()
	fresh bool     // decoded for one call, which may return it without a copy
	deep  []string // attributes with mutable values
}

// absent is a missing item.
var absent = &stored{fresh: true}

// store wraps an item, which the table then owns.
func store(item tables.Item) *stored {
	s := &stored{item: item, size: item.Size()}
	for name, v := range item {
		if !flat(v) {
			s.deep = append(s.deep, name)
		}
	}
	return s
}

// give returns an item that the caller may change; nil if absent.
func (s *stored) give() tables.Item {
	if s.fresh {
		return s.item
	}
	given := maps.Clone(s.item)
	for _, name := range s.deep {
		given[name] = copied(given[name])
	}
	return given
}

// equal reports whether replacing s by o changes nothing.
func (s *stored) equal(o *stored) bool {
	return s == o || s.size == o.size && (s == absent) == (o == absent) && s.item.Equal(o.item)
}

// copied returns a deep copy of a checked value in the table's form: sets in
// order, and nothing nil.
func copied(v any) any {
	switch x := v.(type) {
	case []byte:
		return append([]byte{}, x...)
	case tables.Set:
		if slices.IsSorted(x) {
			return slices.Clone(x)
		}
		return tables.NewSet(x...)
	case tables.Map:
		return copiedMap(x)
	case tables.List:
		l := make(tables.List, len(x))
		for i, e := range x {
			l[i] = copied(e)
		}
		return l
	}
	return v
}

func copiedMap(m tables.Map) tables.Map {
	c := maps.Clone(m)
	if c == nil {
		return tables.Map{}
	}
	for name, v := range c {
		if !flat(v) {
			c[name] = copied(v)
		}
	}
	return c
}

// flat reports whether a value has no mutable parts.
func flat(v any) bool {
	switch v.(type) {
	case string, int64, bool:
		return true
	}
	return false
}
