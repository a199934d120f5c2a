// Package deadlines does what is due: it takes cases from one state to the next
// (jurors are drawn, deadlines pass, what follows from a verdict is done) and brings
// search indexes up to date whose channels fell silent.
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
	// sweepFor is how long one sweep goes on, well before the function's time is
	// over: what is left comes first in the next.
	sweepFor = 90 * time.Second

	pageMost = 100

	// takeFor is more than a sweep takes. What one could not do is tried again then.
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
