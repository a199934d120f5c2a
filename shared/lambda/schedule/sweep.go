package schedule

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// ErrUnfinished says that time was up before all that is due was done. It is no
// failure: the rest comes first the next time.
var ErrUnfinished = errors.New("sweep not finished")

// Sweep does what is due for so long, at most. If time was up, and nothing else
// was wrong, that is [ErrUnfinished]; what failed beside stays a failure.
func Sweep(ctx context.Context, most time.Duration, do func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := do(within)
	if within.Err() != nil && ctx.Err() == nil && timeWasUp(err) {
		return ErrUnfinished
	}
	return err
}

// Each does all that a query finds, page by page, so many at once. What fails does
// not hold up the rest. How late it is stands in the context's [Lag].
func Each(ctx context.Context, a *app.App, due tables.Query, atOnce int, do func(context.Context, tables.Item) error) error {
	for failed := error(nil); ; {
		page, err := a.Table.Query(ctx, due)
		if err != nil {
			return errors.Join(failed, err)
		}
		var work app.Group
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

// timeWasUp reports whether it was for all that an error joins.
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
