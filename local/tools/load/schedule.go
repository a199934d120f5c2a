package main

import (
	"context"
	"sync"
	"time"
)

// schedule starts requests at fixed times, whether earlier ones are answered or not. So a
// server that stalls delays no later request, and a request's time is measured from when it
// was due, even if this machine sent it late. This avoids coordinated omission.
type schedule struct {
	rate     int // a second
	n        int // in all
	underway int // at the same time, at most
}

// lateMost bounds how late a request may start. Later requests are not sent, but counted as
// left out, since sending them would exceed the rate.
const lateMost = time.Second

// due returns how long after the beginning request i is due.
func (s schedule) due(i int) time.Duration {
	return time.Duration(i) * time.Second / time.Duration(s.rate)
}

// run calls send for each request in a goroutine of its own, with the time at which it is
// due, and waits until all are done. It returns how many were left out because they were
// too late or too many were under way. It ends with ctx.
func (s schedule) run(ctx context.Context, send func(i int, due time.Time)) (left int) {
	slots := make(chan struct{}, s.underway)
	var sent sync.WaitGroup
	defer sent.Wait()
	begun := time.Now()
	for i := range s.n {
		due := begun.Add(s.due(i))
		if sleepUntil(ctx, due) != nil {
			return left
		}
		if time.Since(due) > lateMost {
			left++
			continue
		}
		select {
		case slots <- struct{}{}:
			sent.Go(func() {
				defer func() { <-slots }()
				send(i, due)
			})
		default:
			left++
		}
	}
	return left
}

// limiter lets at most len(begun) requests begin in any second.
type limiter struct {
	mu    sync.Mutex
	begun []time.Time // when the last requests began, in a ring
	next  int
}

func newLimiter(rate int) *limiter { return &limiter{begun: make([]time.Time, rate)} }

// wait waits until another request may begin.
func (l *limiter) wait(ctx context.Context) error {
	l.mu.Lock()
	at, earliest := time.Now(), l.begun[l.next].Add(time.Second)
	if earliest.After(at) {
		at = earliest
	}
	l.begun[l.next] = at
	l.next = (l.next + 1) % len(l.begun)
	l.mu.Unlock()
	return sleepUntil(ctx, at)
}

func sleepUntil(ctx context.Context, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
