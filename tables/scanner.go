package tables

import "context"

// Scanner reads a whole table. Both backends implement it for tools that check
// a table. The service does not need it, so it is not part of [Backend].
type Scanner interface {
	// Scan visits every item in no particular order, each as a strongly
	// consistent read sees it at some moment of the scan. It stops at visit's
	// first error.
	Scan(ctx context.Context, visit func(Item) error) error
}
