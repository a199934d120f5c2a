package schedule

import (
	"context"
	"sync"
	"time"
)

// Lag is the largest delay of a sweep's work.
type Lag struct {
	mu   sync.Mutex
	most time.Duration
}

type lagKey struct{}

// WithLag returns a context in which [Each] records delays.
func WithLag(ctx context.Context) (context.Context, *Lag) {
	l := new(Lag)
	return context.WithValue(ctx, lagKey{}, l), l
}

// Most returns the largest delay so far.
func (l *Lag) Most() time.Duration { l.mu.Lock(); defer l.mu.Unlock(); return l.most }

func late(ctx context.Context, by time.Duration) {
	if l, ok := ctx.Value(lagKey{}).(*Lag); ok {
		l.mu.Lock()
		l.most = max(l.most, by)
		l.mu.Unlock()
	}
}
