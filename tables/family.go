package tables

import (
	"slices"
	"strings"
)

// Families are kinds of partitions, by what their keys begin with (README:
// Items), in order, with a space between them: "A C L". Where it is said what is
// read, the names of indexes stand among them.
//
// They are how rights over one table are told apart: infra grants them by the
// leading keys of what a function touches, and the local service holds its
// functions to the same.
type Families string

// And are those of both.
func (f Families) And(g Families) Families {
	all := append(f.List(), g.List()...)
	slices.Sort(all)
	return Families(strings.Join(slices.Compact(all), " "))
}

// List is one after the other.
func (f Families) List() []string { return strings.Fields(string(f)) }

// Has reports whether a partition of the table is of one of them.
func (f Families) Has(pk string) bool {
	family, _, _ := strings.Cut(pk, "#")
	return slices.Contains(f.List(), family)
}

// HasIndex reports whether an index is among them.
func (f Families) HasIndex(i Index) bool { return slices.Contains(f.List(), string(i)) }
