package app

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Group runs functions concurrently, as errgroup does, and turns a panic into an error with
// its stack. A panic in a goroutine would otherwise end the process before it could answer
// or log. The zero Group continues after an error and has no limit.
type Group struct {
	g    *errgroup.Group
	take func() (begin func()) // see [WithTurns]; may be nil
	wide int                   // see [Wide]
}

// SideBySide makes a group whose context ends at the first error.
func SideBySide(ctx context.Context) (*Group, context.Context) {
	g, within := errgroup.WithContext(ctx)
	return &Group{g, turnsOf(ctx), widthOf(ctx)}, within
}

// Together makes a group that continues after an error.
func Together(ctx context.Context) *Group {
	return &Group{new(errgroup.Group), turnsOf(ctx), widthOf(ctx)}
}

type widthKey struct{}

// Wide returns a context that multiplies the limit of each group by factor. A local service
// needs this for batches that are larger than on AWS.
func Wide(ctx context.Context, factor int) context.Context {
	return context.WithValue(ctx, widthKey{}, factor)
}

func widthOf(ctx context.Context) int {
	factor, _ := ctx.Value(widthKey{}).(int)
	return max(1, factor)
}

type turnsKey struct{}

// WithTurns returns a context whose groups begin their functions in an order that take
// decides. A simulation needs this to be repeatable. [Group.Go] calls take in the caller's
// goroutine. The function's own goroutine then calls begin, which returns when it is the
// function's turn.
func WithTurns(ctx context.Context, take func(context.Context) (begin func())) context.Context {
	return context.WithValue(ctx, turnsKey{}, take)
}

func turnsOf(ctx context.Context) func() func() {
	take, ok := ctx.Value(turnsKey{}).(func(context.Context) func())
	if !ok {
		return nil
	}
	return func() func() { return take(ctx) }
}

// Turn waits for the caller's turn ([WithTurns]). Call it after a wait of a constant time,
// or requests that waited together would go on in no particular order.
func Turn(ctx context.Context) {
	if take := turnsOf(ctx); take != nil {
		take()()
	}
}

// SetLimit bounds how many functions run at once.
func (g *Group) SetLimit(n int) { g.group().SetLimit(n * max(1, g.wide)) }

// Go runs f concurrently with the others.
func (g *Group) Go(f func() error) {
	begin := func() {}
	if g.take != nil {
		begin = g.take()
	}
	g.group().Go(func() (err error) {
		begin()
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		return f()
	})
}

// Wait waits for all functions and returns the first error.
func (g *Group) Wait() error { return g.group().Wait() }

func (g *Group) group() *errgroup.Group {
	if g.g == nil {
		g.g = new(errgroup.Group)
	}
	return g.g
}
