package index_test

import (
	"context"
	"sync"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// crash lets the given number of commits pass. From then on every commit suffers the
// fault, and its caller's context ends.
func crash(left *int, gone context.CancelFunc, fault embedded.Fault) embedded.Faults {
	var mu sync.Mutex
	return func(kind string, _ []tables.Key) embedded.Fault {
		mu.Lock()
		defer mu.Unlock()
		if kind != embedded.KindCommit {
			return embedded.None
		}
		if *left--; *left >= 0 {
			return embedded.None
		}
		gone()
		return fault
	}
}
