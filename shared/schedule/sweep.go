package schedule

import (
	"context"
	"errors"
	"time"
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
	if within.Err() != nil && ctx.Err() == nil && late(err) {
		return ErrUnfinished
	}
	return err
}

// late reports whether time was up for all that an error joins.
func late(err error) bool {
	for e := err; e != nil; e = errors.Unwrap(e) {
		several, ok := e.(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		for _, one := range several.Unwrap() {
			if !late(one) {
				return false
			}
		}
		return true
	}
	return err == nil || errors.Is(err, context.DeadlineExceeded)
}
