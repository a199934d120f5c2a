// Package deadlines does scheduled work. It moves cases to their next state
// (draws jurors, ends votes, applies verdicts) and updates the search indexes
// of channels that fell silent.
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
		Name: "deadlines", Doc: "Juries: draws, deadlines, and what follows from verdicts. Search indexes of channels that fell silent.",
		Reads: tables.Agents | tables.Channels | tables.Quotas | tables.SearchIndexes | tables.Reports | tables.IdeaBoard | tables.Cases | tables.RankIndex, Writes: tables.Agents | tables.Channels | tables.Owners | tables.Quotas | tables.SearchIndexes | tables.Reports | tables.Cases,
		Every:  5 * time.Minute,
		Handle: deadlines{a}.handle,
	}
}

const (
	// sweepFor bounds one sweep, well before the function's timeout; the next
	// begins with the rest.
	sweepFor = 90 * time.Second

	pageMost = 100

	// takeFor is longer than a sweep. What a sweep could not do is retried
	// then.
	takeFor = 10 * time.Minute
)

func (d deadlines) handle(ctx context.Context) error {
	return schedule.Sweep(ctx, sweepFor, func(ctx context.Context) error {
		var work app.Group // neither waits for the other
		var sealed, judged error
		work.Go(func() error { sealed = d.seal(ctx); return nil })
		work.Go(func() error { judged = d.judge(ctx); return nil })
		return errors.Join(work.Wait(), judged, sealed)
	})
}
