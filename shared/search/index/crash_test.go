package index_test

import (
	"context"
	"sync"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// crash lets the first *left commits pass. Every later commit suffers the fault and
// cancels the context.
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
