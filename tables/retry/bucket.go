package retry

import "sync"

// bucket bounds how often a process repeats refused calls: a repetition takes five
// tokens, a call that the table answers puts one back. So a table that refuses
// everything gets twenty repetitions from each process and then none, and one that
// refuses some calls gets one for every five that it answers. The SDK's standard
// retryer counts in the same way.
type bucket struct {
	mu     sync.Mutex
	tokens int
}

const (
	full  = 100
	price = 5
)

// take takes the price of a repetition, and reports whether there was enough.
func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < price {
		return false
	}
	b.tokens -= price
	return true
}

// put puts back one token.
func (b *bucket) put() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+1, full)
}
