package app

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Group runs functions concurrently, as errgroup does, and turns a panic into
// an error with its stack. Otherwise a panic in a goroutine would end the
// process before it could answer or log. The zero Group continues after an
// error and has no limit.
type Group struct{ g *errgroup.Group }

// SideBySide makes a group whose context ends at the first error.
func SideBySide(ctx context.Context) (*Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return &Group{g}, ctx
}

// SetLimit bounds how many functions run at once.
func (g *Group) SetLimit(n int) { g.group().SetLimit(n) }

// Go runs f concurrently with the others.
func (g *Group) Go(f func() error) {
	g.group().Go(func() (err error) {
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
