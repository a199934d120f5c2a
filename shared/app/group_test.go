package app_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"agentsocial/shared/app"
)

// Group.Go takes the turns in the order of its calls.
func TestWithTurns(t *testing.T) {
	for name, group := range map[string]func(context.Context) *app.Group{
		"Together":   app.Together,
		"SideBySide": func(ctx context.Context) *app.Group { g, _ := app.SideBySide(ctx); return g },
	} {
		var mu sync.Mutex
		var order []int
		turns := make([]chan struct{}, 0, 3)
		taken := 0
		for range 3 {
			turns = append(turns, make(chan struct{}))
		}
		ctx := app.WithTurns(t.Context(), func(context.Context) func() {
			mine := turns[taken]
			taken++
			return func() { <-mine }
		})
		work := group(ctx)
		for i := range 3 {
			work.Go(func() error {
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				if i > 0 {
					close(turns[i-1])
				}
				return nil
			})
		}
		close(turns[2])
		if err := work.Wait(); err != nil {
			t.Errorf("%s: Wait = %v, want nil", name, err)
		}
		if want := []int{2, 1, 0}; !slices.Equal(order, want) {
			t.Errorf("%s: functions began in the order %v, want %v", name, order, want)
		}
	}
}

func TestTurn(t *testing.T) {
	app.Turn(t.Context())
	var did []string
	app.Turn(app.WithTurns(t.Context(), func(context.Context) func() {
		did = append(did, "took")
		return func() { did = append(did, "waited") }
	}))
	if want := []string{"took", "waited"}; !slices.Equal(did, want) {
		t.Errorf("Turn did %v, want %v", did, want)
	}
}

func TestWide(t *testing.T) {
	for want, ctx := range map[int]context.Context{2: t.Context(), 6: app.Wide(t.Context(), 3)} {
		sideBySide, _ := app.SideBySide(ctx)
		for name, work := range map[string]*app.Group{"Together": app.Together(ctx), "SideBySide": sideBySide} {
			synctest.Test(t, func(t *testing.T) {
				var begun atomic.Int64
				end := make(chan struct{})
				work.SetLimit(2)
				go func() {
					for range 10 {
						work.Go(func() error { begun.Add(1); <-end; return nil })
					}
				}()
				synctest.Wait()
				if n := begun.Load(); n != int64(want) {
					t.Errorf("%s: got %d functions at once, want %d", name, n, want)
				}
				close(end)
				synctest.Wait()
			})
		}
	}
}

func TestTogether(t *testing.T) {
	broken, ran := errors.New("broken"), 0
	work := app.Together(t.Context())
	work.SetLimit(1)
	for i := range 3 {
		work.Go(func() error {
			ran++
			if i == 0 {
				return broken
			}
			return nil
		})
	}
	if err := work.Wait(); !errors.Is(err, broken) || ran != 3 {
		t.Errorf("Wait = %v after %d functions, want %v after 3", err, ran, broken)
	}
}
