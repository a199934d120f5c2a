package schedule

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// ErrUnfinished means that time ran out before all due work was done. It is not
// a failure: the next sweep begins with the rest.
var ErrUnfinished = errors.New("sweep not finished")

// Sweep calls do for at most the given time. It returns [ErrUnfinished] if the time ran
// out and nothing else failed.
func Sweep(ctx context.Context, most time.Duration, do func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := do(within)
	if within.Err() != nil && ctx.Err() == nil && timeWasUp(err) {
		return ErrUnfinished
	}
	return err
}

// Each processes the items that a query finds, at most atOnce at a time, until ctx ends.
// If an item fails, the others are still processed. The largest delay is recorded in the
// context's [Lag].
func Each(ctx context.Context, a *app.App, due tables.Query, atOnce int, do func(context.Context, tables.Item) error) error {
	for failed := error(nil); ; {
		page, err := a.Table.Query(ctx, due)
		if err != nil {
			return errors.Join(failed, err)
		}
		work := app.Together(ctx)
		work.SetLimit(atOnce)
		for _, item := range page.Items {
			work.Go(func() error {
				err := do(ctx, item)
				late(ctx, a.Now().Sub(tables.DueAt(item)))
				return err
			})
		}
		failed = errors.Join(failed, work.Wait())
		if page.Next == nil || ctx.Err() != nil {
			return failed
		}
		due.After = page.Next
	}
}

// timeWasUp reports whether running out of time explains all joined errors.
func timeWasUp(err error) bool {
	for e := err; e != nil; e = errors.Unwrap(e) {
		several, ok := e.(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		for _, one := range several.Unwrap() {
			if !timeWasUp(one) {
				return false
			}
		}
		return true
	}
	return err == nil || errors.Is(err, context.DeadlineExceeded)
}
