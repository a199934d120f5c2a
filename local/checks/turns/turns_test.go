package turns_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"agentsocial/local/checks/turns"
	"agentsocial/shared/app"
)

func TestDeadProcessBeginsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun []string
		all := turns.New(1, func(_, what string) { begun = append(begun, what) })
		dead := false
		all.Alive = func(context.Context) {
			if dead {
				runtime.Goexit()
			}
		}
		all.Finish(all.Start("job", func(ctx context.Context, _ *turns.Job) {
			work := app.Together(ctx)
			work.Go(func() error { return nil })
			dead = true
			work.Go(func() error { return nil })
		}))
		if len(begun) != 2 || begun[0] != "begin" || begun[1] != "goroutine 1" {
			t.Errorf("got turns of %q, want \"begin\" and \"goroutine 1\"", begun)
		}
	})
}
