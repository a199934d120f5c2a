package service

import (
	"context"
	"errors"
)

// process is one run of a function, which [Kill] may end as the host of any
// program may.
type process struct{ dead chan struct{} }

type processKey struct{}

var errDied = errors.New("the process died")

// Kill ends the function that ctx is of as the death of its process does: whoever
// calls it never comes back, and nothing that waits for it does. Whoever asked the
// function hears that it failed. It is called once for a function, by tests.
func Kill(ctx context.Context) {
	if p, ok := ctx.Value(processKey{}).(*process); ok {
		close(p.dead)
	}
	select {}
}

// lives runs f as a process, and reports whether it came to its end.
func lives(ctx context.Context, f func(context.Context)) bool {
	p := &process{make(chan struct{})}
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		f(context.WithValue(ctx, processKey{}, p))
	}()
	select {
	case <-p.dead:
		return false
	case panicked := <-ended:
		if panicked != nil {
			panic(panicked)
		}
		return true
	}
}
