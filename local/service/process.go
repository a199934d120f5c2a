package service

import (
	"context"
	"errors"
	"runtime"
)

// process is one run of a function, which [Kill] may end at any time.
type process struct{ dead chan struct{} }

type processKey struct{}

var errDied = errors.New("the process died")

// Kill ends the function of ctx like the death of its process. It never returns, and the
// function's caller gets an error. Tests call it at most once in each run of a function.
func Kill(ctx context.Context) {
	if p, ok := ctx.Value(processKey{}).(*process); ok {
		close(p.dead)
	}
	select {}
}

// Die is like [Kill], but leaves no goroutine behind: it ends the calling goroutine, and deferred
// calls run. A table that calls Die must do so whenever [Dead] reports true, to end the
// function's other goroutines.
func Die(ctx context.Context) {
	if p, ok := ctx.Value(processKey{}).(*process); ok && !Dead(ctx) {
		close(p.dead)
	}
	runtime.Goexit()
}

// Dead reports whether the function of ctx died.
func Dead(ctx context.Context) bool {
	p, ok := ctx.Value(processKey{}).(*process)
	return ok && p.died()
}

func (p *process) died() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// survive runs f as a process, and returns errDied if the process died before f ended.
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
		if p.died() { // Die ended the goroutine
			return res, errDied
		}
		if e.panicked != nil {
			panic(e.panicked)
		}
		return e.res, e.err
	}
}
