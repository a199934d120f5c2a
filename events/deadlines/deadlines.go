// Package deadlines does scheduled work. It moves cases to their next state, and
// maintains the search indexes that events/tally leaves to the schedule.
package deadlines

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/tables"
)

type deadlines struct{ *app.App }

// New declares the schedule.
func New(a *app.App) schedule.Function {
	return schedule.Function{
		Name: "deadlines", Doc: "Draws juries, ends votes and carries out verdicts. Updates the search indexes of channels without new posts.",
		Reads: tables.Agents | tables.Channels | tables.Quotas | tables.SearchIndexes | tables.Reports | tables.IdeaBoard | tables.Cases | tables.RankIndex, Writes: tables.Agents | tables.Channels | tables.Owners | tables.Quotas | tables.SearchIndexes | tables.Reports | tables.Cases,
		Every:  5 * time.Minute,
		Handle: deadlines{a}.handle,
	}
}

const (
	// sweepFor bounds one sweep, well below the function's timeout.
	sweepFor = 90 * time.Second

	pageMost = 100

	// takeFor is how long a sweep postpones a case or an index when it begins to work
	// on it. It is longer than a sweep. Unfinished work is due again afterwards.
	takeFor = 10 * time.Minute
)

func (d deadlines) handle(ctx context.Context) error {
	return schedule.Sweep(ctx, sweepFor, func(ctx context.Context) error {
		work := app.Together(ctx)
		var sealed, judged error
		work.Go(func() error { sealed = d.seal(ctx); return nil })
		work.Go(func() error { judged = d.judge(ctx); return nil })
		return errors.Join(work.Wait(), judged, sealed)
	})
}
