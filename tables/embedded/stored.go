package embedded

import (
	"maps"
	"slices"

	"agentsocial/tables"
)

// stored is an item as it stands in the table. Nobody changes it: the table in
// memory, its feed and its snapshots share it.
type stored struct {
	item  tables.Item
	size  int      // item.Size()
	fresh bool     // it was made from bytes for one call, which may give it away
	deep  []string // the attributes whose values refer to what could be changed
}

// absent stands for an item that is not there.
var absent = &stored{fresh: true}

// store makes an item, which the caller gives up, one of the table's.
func store(item tables.Item) *stored {
	s := &stored{item: item, size: item.Size()}
	for name, v := range item {
		if !flat(v) {
			s.deep = append(s.deep, name)
		}
	}
	return s
}

// give returns the item for a caller to do with as it likes; nil if absent.
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

// equal reports whether a write that found s and left o changed nothing.
func (s *stored) equal(o *stored) bool {
	return s == o || s.size == o.size && (s == absent) == (o == absent) && s.item.Equal(o.item)
}

// copied is a value that shares nothing with v that could be changed, as the
// table holds it: sets in order, and nothing nil. v has been checked.
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

// flat reports whether a value refers to nothing that could be changed.
func flat(v any) bool {
	switch v.(type) {
	case string, int64, bool:
		return true
	}
	return false
}
