package app

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Group does things side by side, as errgroup does, but for what panics: that
// is an error with its stack. A panic in a goroutine of its own would end the
// process before anybody could answer or log. Its zero value goes on after an
// error, and has no limit.
type Group struct{ g *errgroup.Group }

// SideBySide makes a group whose context ends with its first error.
func SideBySide(ctx context.Context) (*Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return &Group{g}, ctx
}

// SetLimit bounds how many things are done at once.
func (g *Group) SetLimit(n int) { g.group().SetLimit(n) }

// Go does f beside what else the group does.
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

// Wait waits for all of it and returns the first error.
func (g *Group) Wait() error { return g.group().Wait() }

func (g *Group) group() *errgroup.Group {
	if g.g == nil {
		g.g = new(errgroup.Group)
	}
	return g.g
}
