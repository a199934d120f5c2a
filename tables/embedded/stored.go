package embedded

import "agentsocial/tables"

// stored is an item that is in the table or about to be written there. Nobody changes its item.
type stored struct {
	item    tables.Item
	size    int    // of the whole item, as [tables.Item.Size] counts
	encoded string // "" if absent
	packed  string // "" until it is needed
	seq     uint64 // sequence number of the change that wrote it; 0 if none or unknown
}

var absent = &stored{}

// pack returns the item, packed with its key.
func (s *stored) pack(key string) string {
	if s.packed == "" {
		buffer := buffers.Get().(*[]byte)
		defer buffers.Put(buffer)
		*buffer = appendPacked((*buffer)[:0], key, s.encoded)
		s.packed = string(*buffer)
	}
	return s.packed
}

// equal reports whether the items are equal. The encoding is canonical.
func (s *stored) equal(o *stored) bool { return s.encoded == o.encoded }
