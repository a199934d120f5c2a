package retry

import "sync"

// bucket bounds how often a process repeats refused calls. A repetition takes five tokens,
// and a call that succeeds or fails for good puts back one. So a table that refuses
// everything gets at most twenty repetitions from each process, besides those of patient
// callers. The SDK's standard retryer counts similarly.
type bucket struct {
	mu     sync.Mutex
	tokens int
}

const (
	full  = 100
	price = 5
)

// take takes the price of a repetition, and reports whether there were enough tokens.
func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < price {
		return false
	}
	b.tokens -= price
	return true
}

func (b *bucket) put() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+1, full)
}
