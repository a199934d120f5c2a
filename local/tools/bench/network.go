package bench

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"agentsocial/tables"
)

// far is how far away the table is while costs are counted.
const far = 4 * time.Millisecond

// network puts a table some time away. In memory, a call is so short that one
// of two side by side has often ended before the other begins, and they would
// be counted as two serial round trips; at a distance they overlap, as they do
// in Lambda.
type network struct {
	tables.Backend
	away *atomic.Int64 // time.Duration
}

// trip opens a round trip on the caller's usage, and gives the call behind it
// a usage of its own, whose units are added to the caller's at the end.
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

// unnoted is a table without the notes of a credential's first use of a day,
// which a scenario would meet once and never again: see firstUse.
type unnoted struct{ tables.Backend }

func (u unnoted) Commit(ctx context.Context, tx tables.Tx) error {
	if strings.HasPrefix(tx.Writes[0].Key.SK, tables.UsedPrefix) {
		return nil
	}
	return u.Backend.Commit(ctx, tx)
}
