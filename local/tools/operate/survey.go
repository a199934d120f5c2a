package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"agentsocial/tables"
)

// digest identifies a key or an item.
type digest [16]byte

func digestOf(v any) (d digest) {
	h := sha256.New()
	fmt.Fprintf(h, "%#v", v) // sorted by attribute name, with types
	copy(d[:], h.Sum(nil))
	return d
}

// survey holds what one read of a table found: the number of items of each type, and the
// digests of the items by the digests of their keys. A million items take about 100 MB.
type survey struct {
	types map[string]int
	items map[digest]digest
}

func take(ctx context.Context, t tables.Scanner) (*survey, error) {
	s := &survey{map[string]int{}, map[digest]digest{}}
	return s, t.Scan(ctx, func(i tables.Item) error {
		s.types[i.Str(tables.AttrType)]++
		s.items[digestOf(i.Key())] = digestOf(i)
		return nil
	})
}

func count(ctx context.Context, t tables.Scanner) (map[string]int, error) {
	types := map[string]int{}
	return types, t.Scan(ctx, func(i tables.Item) error {
		types[i.Str(tables.AttrType)]++
		return nil
	})
}

// still removes the items that another survey did not find, or found changed.
func (s *survey) still(o *survey) {
	maps.DeleteFunc(s.items, func(k, item digest) bool { return o.items[k] != item })
}

// shown bounds the number of items whose keys a report names.
const shown = 10

// compare checks that a copy has all items of s, and returns what the copy holds. s must
// hold only items that did not change around the time of the copy.
func (s *survey) compare(ctx context.Context, source, copied tables.Scanner) (held *survey, problems []string, err error) {
	if held, err = take(ctx, copied); err != nil {
		return nil, nil, err
	}
	wrong := map[digest]string{}
	for k, item := range s.items {
		switch found, ok := held.items[k]; {
		case !ok:
			wrong[k] = "is not in the copy"
		case found != item:
			wrong[k] = "differs in the copy"
		}
	}
	if len(wrong) == 0 {
		return held, nil, nil
	}
	err = source.Scan(ctx, func(i tables.Item) error { // for the keys behind the digests
		if what := wrong[digestOf(i.Key())]; what != "" && len(problems) < shown {
			problems = append(problems, fmt.Sprintf("%s %s %s", i.Key().PK, i.Key().SK, what))
		}
		return nil
	})
	problems = append(problems, fmt.Sprintf("%d of %d compared items are missing or differ", len(wrong), len(s.items)))
	return held, problems, err
}

func (j job) tellTypes(copied, now map[string]int) {
	j.say("%-24s %10s %10s", "type", "copy", "table now")
	types := maps.Clone(copied)
	maps.Copy(types, now)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		j.say("%-24s %10d %10d", name, copied[name], now[name])
	}
}
