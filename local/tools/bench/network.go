package bench

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"agentsocial/tables"
)

// far is the time that each call of the table takes while costs are counted.
const far = 4 * time.Millisecond

// network delays the calls of a table, so that parallel calls overlap as they do in Lambda.
// In memory, two parallel calls often do not overlap, and would count as two trips.
type network struct {
	tables.Backend
	away *atomic.Int64 // time.Duration
}

// trip begins a round trip in the caller's usage, and delays it. The func end ends it, and
// adds the units that the call used.
func (n network) trip(ctx context.Context) (inner context.Context, end func()) {
	arrived := tables.Trip(ctx)
	inner, usage := tables.WithUsage(ctx)
	time.Sleep(time.Duration(n.away.Load()))
	return inner, func() {
		tables.Spend(ctx, usage.ReadUnits(), usage.WriteUnits())
		arrived()
	}
}

func (n network) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	ctx, end := n.trip(ctx)
	defer end()
	return n.Backend.Get(ctx, c, keys...)
}

func (n network) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	ctx, end := n.trip(ctx)
	defer end()
	return n.Backend.Query(ctx, q)
}

func (n network) Commit(ctx context.Context, tx tables.Tx) error {
	ctx, end := n.trip(ctx)
	defer end()
	return n.Backend.Commit(ctx, tx)
}

// unnoted is a table that does not record a credential's first use of a day. That would
// happen in only one call of a scenario: see firstUse.
type unnoted struct{ tables.Backend }

func (u unnoted) Commit(ctx context.Context, tx tables.Tx) error {
	if strings.HasPrefix(tx.Writes[0].Key.SK, tables.UsedPrefix) {
		return nil
	}
	return u.Backend.Commit(ctx, tx)
}
