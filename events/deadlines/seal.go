package deadlines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/index"
	"agentsocial/shared/search"
	"agentsocial/tables"
)

// seal tends the indexes that are due, page by page. One that fails does not
// hold up the others, and is due again later.
func (d deadlines) seal(ctx context.Context) error {
	var failed error
	for q := tables.SealsDue(d.Now(), pageMost); ; {
		page, err := d.Table.Query(ctx, q)
		if err != nil {
			return errors.Join(failed, err)
		}
		var work app.Group
		work.SetLimit(sideBySide)
		for _, item := range page.Items {
			work.Go(func() error { return d.sealOne(ctx, item) })
		}
		failed = errors.Join(failed, work.Wait())
		if page.Next == nil || ctx.Err() != nil {
			return failed
		}
		q.After = page.Next
	}
}

// takeFor is more than a sweep takes. What one could not do is tried again then.
const takeFor = 10 * time.Minute

// sealOne takes one index, unless another sweep has it, tends it, and then moves it
// to when it is due again, or removes it, unless somebody asked for more meanwhile.
func (d deadlines) sealOne(ctx context.Context, item tables.Item) error {
	var due tables.SealDue
	if err := tables.Unmarshal(item, &due); err != nil {
		return err
	}
	taken, take := due.Take(d.Now().Add(takeFor))
	if overtaken, err := d.once(ctx, take); overtaken || err != nil {
		return err
	}
	next, err := d.tend(ctx, taken.Channel)
	if err != nil {
		return fmt.Errorf("deadlines: the search index of %s: %w", taken.Channel, err)
	}
	overtaken, err := d.once(ctx, taken.Move(next))
	if overtaken && !next.IsZero() {
		return index.Of(d.App, taken.Channel).TendBy(ctx, next)
	}
	return err
}

// once makes a write, unless somebody was first.
func (d deadlines) once(ctx context.Context, w tables.Write) (overtaken bool, err error) {
	err = d.Once(ctx, w)
	var cancelled *tables.Cancelled
	if errors.As(err, &cancelled) {
		return true, nil
	}
	return false, err
}

// tend tends an index until nothing is left to do now.
func (d deadlines) tend(ctx context.Context, channel string) (next time.Time, err error) {
	for {
		next, err = index.Of(d.App, channel).Tend(ctx, search.Top)
		if err != nil || next.IsZero() || next.After(d.Now()) {
			return next, err
		}
	}
}
