package tables

import "context"

// Scanner reads a whole table. Both backends can, for those who check a table
// from outside; nothing that serves it does, and so it is no part of [Backend].
type Scanner interface {
	// Scan visits every item, in no order, each as strongly consistent reads see
	// it at some moment of the scan: not all at the same. It ends with the first
	// error of visit.
	Scan(ctx context.Context, visit func(Item) error) error
}
