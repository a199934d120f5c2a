package deadlines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
)

// seal does the maintenance of search indexes that is due (see [index.Index.Tend]). A
// failed index does not stop the others, and is due again later.
func (d deadlines) seal(ctx context.Context) error {
	return schedule.Each(ctx, d.App, tables.SealsDue(d.Now(), pageMost), sealsAtOnce, d.sealOne)
}

// sealsAtOnce bounds the indexes tended at once. Each may build a segment of 150 MB.
const sealsAtOnce = 4

// sealOne tends one index, unless another sweep has taken it, and records when the
// index is due next. If another writer set a time meanwhile, the earlier time is kept.
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
		return index.Named(d.App, taken.Channel).TendBy(ctx, next)
	}
	return err
}

// once makes a write and reports whether another writer was first.
func (d deadlines) once(ctx context.Context, w tables.Write) (overtaken bool, err error) {
	err = d.Once(ctx, w)
	var cancelled *tables.Cancelled
	if errors.As(err, &cancelled) {
		return true, nil
	}
	return false, err
}

// tend repeats the maintenance of an index until nothing is left to do now.
func (d deadlines) tend(ctx context.Context, channel string) (next time.Time, err error) {
	for {
		next, err = index.Named(d.App, channel).Tend(ctx, search.Top)
		if err != nil || next.IsZero() || next.After(d.Now()) {
			return next, err
		}
	}
}
