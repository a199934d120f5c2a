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

// survive runs f as a process does, and fails with errDied if that ended before f did.
func survive[R any](ctx context.Context, f func(context.Context) (R, error)) (res R, err error) {
	p := &process{make(chan struct{})}
	type end struct {
		res      R
		err      error
		panicked any
	}
	ended := make(chan end, 1)
	go func() {
		var e end
		defer func() {
			e.panicked = recover()
			ended <- e
		}()
		e.res, e.err = f(context.WithValue(ctx, processKey{}, p))
	}()
	select {
	case <-p.dead:
		return res, errDied
	case e := <-ended:
		if e.panicked != nil {
			panic(e.panicked)
		}
		return e.res, e.err
	}
}
