// Package deadlines does what is due: it brings search indexes up to date whose
// channels fell silent.
package deadlines

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/schedule"
)

type deadlines struct{ *app.App }

// New declares the schedule.
func New(a *app.App) schedule.Function {
	return schedule.Function{
		Name: "deadlines", Doc: "Search indexes of channels that fell silent.",
		Every:  5 * time.Minute,
		Handle: deadlines{a}.handle,
	}
}

const (
	// sweepFor is how long one sweep goes on, well before the function's time is
	// over: what is left comes first in the next.
	sweepFor = 90 * time.Second

	pageMost   = 100
	sideBySide = 4 // each may build a large segment: 150 MB
)

func (d deadlines) handle(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, sweepFor)
	defer cancel()
	err := d.seal(within)
	if within.Err() != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		d.Log.Warn("sweep not finished", "error", err.Error())
		return nil
	}
	return err
}
