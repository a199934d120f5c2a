package main

import (
	"context"
	"sync"
	"time"
)

// schedule starts requests at fixed times, whether earlier requests are answered or not. A
// request's time counts from when it was due. This avoids coordinated omission: a stall of the
// server shows in the times of all requests due during the stall.
type schedule struct {
	rate     int // a second
	n        int // the number of requests
	underway int // the most requests at a time
}

// lateMost bounds how late a request may start. Making up for a longer delay would exceed the
// rate.
const lateMost = time.Second

// due returns the time from the beginning until request i is due.
func (s schedule) due(i int) time.Duration {
	return time.Duration(i) * time.Second / time.Duration(s.rate)
}

// run calls send for each request, in a goroutine, with the time at which the request is due.
// It returns the number of requests that it left out because they were late or too many were
// under way.
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
	begun []time.Time // a ring of the last requests' beginnings
	next  int
}

func newLimiter(rate int) *limiter { return &limiter{begun: make([]time.Time, rate)} }

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
