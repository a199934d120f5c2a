package tables

import (
	"context"
	"sync"
)

// Usage sums what one request cost at the table. A unit is DynamoDB's on-demand
// request unit; a read can cost half a unit.
type Usage struct {
	mu     sync.Mutex
	reads  float64
	writes float64
	trips  int // serial round trips: the longest chain of consecutive calls
	done   int // depth of the deepest call that has returned
}

type usageKey struct{}

// WithUsage returns a context that sums the cost of every backend call.
func WithUsage(ctx context.Context) (context.Context, *Usage) {
	u := new(Usage)
	return context.WithValue(ctx, usageKey{}, u), u
}

// UsageOf returns the usage in ctx; nil if none.
func UsageOf(ctx context.Context) *Usage {
	u, _ := ctx.Value(usageKey{}).(*Usage)
	return u
}

// Spend adds units to the usage in ctx, if there is one. Backends call it.
func Spend(ctx context.Context, read, write float64) {
	if u := UsageOf(ctx); u != nil {
		u.mu.Lock()
		u.reads += read
		u.writes += write
		u.mu.Unlock()
	}
}

// Trip begins a round trip and returns a function that ends it. Concurrent
// calls count once: a call's depth is one more than the depth of the deepest
// call that had returned when it began. Backends call it.
func Trip(ctx context.Context) (end func()) {
	u := UsageOf(ctx)
	if u == nil {
		return func() {}
	}
	u.mu.Lock()
	depth := u.done + 1
	u.trips = max(u.trips, depth)
	u.mu.Unlock()
	return func() {
		u.mu.Lock()
		u.done = max(u.done, depth)
		u.mu.Unlock()
	}
}

// Trips returns the serial round trips so far.
func (u *Usage) Trips() int { u.mu.Lock(); defer u.mu.Unlock(); return u.trips }

// ReadUnits and WriteUnits return the units so far.
func (u *Usage) ReadUnits() float64  { u.mu.Lock(); defer u.mu.Unlock(); return u.reads }
func (u *Usage) WriteUnits() float64 { u.mu.Lock(); defer u.mu.Unlock(); return u.writes }
