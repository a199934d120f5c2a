package schedule

import (
	"context"
	"sync"
	"time"
)

// Lag is how late a sweep did what it did, at most.
type Lag struct {
	mu   sync.Mutex
	most time.Duration
}

type lagKey struct{}

// WithLag returns a context in which [Each] notes how late it is.
func WithLag(ctx context.Context) (context.Context, *Lag) {
	l := new(Lag)
	return context.WithValue(ctx, lagKey{}, l), l
}

// Most is the latest so far.
func (l *Lag) Most() time.Duration { l.mu.Lock(); defer l.mu.Unlock(); return l.most }

// late notes what was done so long after it was due.
func late(ctx context.Context, by time.Duration) {
	if l, ok := ctx.Value(lagKey{}).(*Lag); ok {
		l.mu.Lock()
		l.most = max(l.most, by)
		l.mu.Unlock()
	}
}
