package deadlines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/index"
	"agentsocial/tables"
)

// seal tends the indexes that are due, page by page. One that fails does not
// hold up the others, and is still due the next time.
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

// sealOne tends one index, and then moves it to when it is due again, or
// removes it: unless somebody else has done so, who knew of more.
func (d deadlines) sealOne(ctx context.Context, item tables.Item) error {
	var due tables.SealDue
	if err := tables.Unmarshal(item, &due); err != nil {
		return err
	}
	next, err := d.tend(ctx, due.Channel)
	if err != nil {
		return fmt.Errorf("deadlines: the search index of %s: %w", due.Channel, err)
	}
	err = d.Once(ctx, due.Move(next))
	var overtaken *tables.Cancelled
	if errors.As(err, &overtaken) {
		return nil
	}
	return err
}

// tend tends an index until nothing is left to do now.
func (d deadlines) tend(ctx context.Context, channel string) (next time.Time, err error) {
	for {
		next, err = index.Of(d.App, channel).Tend(ctx)
		if err != nil || next.IsZero() || next.After(d.Now()) {
			return next, err
		}
	}
}
