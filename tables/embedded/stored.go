package embedded

import "agentsocial/tables"

// stored is an item in the table, or one that is about to be. Nobody changes it.
type stored struct {
	item    tables.Item
	size    int    // item.Size()
	encoded string // "" if absent
}

// absent is a missing item.
var absent = &stored{}

// equal reports whether replacing s by o changes nothing. The encoding is canonical.
func (s *stored) equal(o *stored) bool { return s.encoded == o.encoded }
