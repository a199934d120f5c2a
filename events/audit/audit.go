// Package audit checks the running service's books: all accounts must add up to zero. It
// reads the listed balances and never scans the table. For a hundred thousand accounts the
// audits cost about a dollar a month. Only `make audit` compares each balance with its
// movements.
//
// The books cannot be read as of one moment. Movements under way change the sum for
// seconds. An error in the books changes the sum for good, by a constant amount. So the
// audit compares several readings, which has two limits:
//
//   - The audit calls the books wrong only after [wrongTimes] readings, so each must take at
//     most a third of [proveFor]. At an assumed 20 µs of CPU for an account, a reading can
//     cover 14 million accounts. From about 40 million accounts on, the audit is unfinished,
//     and reports the books as not proved.
//   - If money moves during every reading, the audit reports the books as not proved. A
//     reading takes a tenth of a second for ten thousand accounts, and some seconds for a
//     million. If money moves too often for this, use `make audit`.
package audit

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/tables"
)

type audit struct{ *app.App }

// New declares the schedule.
func New(a *app.App) schedule.Function {
	return schedule.Function{
		Name: "audit", Doc: "Checks the books: all accounts must add up to zero.",
		Reads: tables.Ledgers | tables.ParentIndex,
		Every: 6 * time.Hour, Timeout: 15 * time.Minute, // Lambda's maximum
		Handle: audit{a}.handle,
	}
}

const (
	// proveFor bounds one audit, below the function's timeout.
	proveFor = 14 * time.Minute

	// apart is the time between the starts of two readings. It is half of the promo
	// settlement's interval, so that not every reading coincides with a settlement.
	apart = tables.SettleEvery / 2

	// wrongTimes is the number of consecutive readings that must be off by the same
	// amount. They span at least five minutes, more than the stream takes to add up a
	// movement.
	wrongTimes = 3

	// readMost bounds the readings of one audit, because each costs money.
	readMost = 5

	pageMost = 1000 // balances of each shard in memory at once
)

// Log messages for books that are wrong or could not be proved.
const (
	Wrong    = "books wrong"
	Unproved = "books not proved"
)

// handle logs what is wrong with the books; infra/watch.go has the alarms. If time runs
// out in the second or a later reading, the readings before it count.
func (a audit) handle(ctx context.Context) error {
	var offs []int64
	err := schedule.Sweep(ctx, proveFor, func(ctx context.Context) (err error) {
		offs, err = a.read(ctx)
		return err
	})
	last := len(offs) - 1
	switch {
	case last < 0 && errors.Is(err, schedule.ErrUnfinished):
		a.Log.Warn(Unproved, "times", 0)
		return err
	case last < 0, err != nil && !errors.Is(err, schedule.ErrUnfinished):
		return err
	case same(offs):
		a.Log.Error(Wrong, "micro_usd", offs[last])
	case offs[last] != 0:
		a.Log.Warn(Unproved, "micro_usd", offs[last], "times", len(offs))
	}
	return nil
}

// read reads the books up to [readMost] times, until the sum is zero, or the same
// [wrongTimes] times in a row. It returns the sum of each reading.
func (a audit) read(ctx context.Context) (offs []int64, err error) {
	for {
		next := time.After(apart)
		off, err := a.off(ctx)
		if err != nil {
			return offs, err
		}
		offs = append(offs, off)
		if off == 0 || same(offs) || len(offs) == readMost {
			return offs, nil
		}
		select {
		case <-ctx.Done():
			return offs, ctx.Err()
		case <-next:
		}
	}
}

// same reports whether the last [wrongTimes] readings gave the same amount, other than zero.
func same(offs []int64) bool {
	if len(offs) < wrongTimes {
		return false
	}
	last := slices.Compact(slices.Clone(offs[len(offs)-wrongTimes:]))
	return len(last) == 1 && last[0] != 0
}

// off returns the sum of all accounts in micro-USD.
func (a audit) off(ctx context.Context) (int64, error) {
	work, both := app.SideBySide(ctx)
	var summed, running int64
	work.Go(func() (err error) { summed, err = a.summed(both); return err })
	work.Go(func() (err error) { running, err = a.running(both); return err })
	err := work.Wait()
	return summed + running, err
}

// summed returns the sum of the accounts without a balance.
func (a audit) summed(ctx context.Context) (int64, error) {
	days := slices.Concat(tables.DaySums(tables.Revenue), tables.DaySums(tables.Processor))
	return a.total(ctx, days, func(days []tables.Item) ([]tables.Item, error) { return days, nil })
}

// running returns the sum of all balances.
func (a audit) running(ctx context.Context) (int64, error) {
	return a.total(ctx, tables.Balances(pageMost), func(listed []tables.Item) ([]tables.Item, error) {
		keys := make([]tables.Key, len(listed))
		for i, item := range listed {
			keys[i] = item.Key()
		}
		return a.GetAll(ctx, tables.Eventual, keys)
	})
}

// total adds up the results of queries page by page. amounts reads the amounts for a
// page.
func (a audit) total(ctx context.Context, queries []tables.Query, amounts func([]tables.Item) ([]tables.Item, error)) (int64, error) {
	var total atomic.Int64
	work, ctx := app.SideBySide(ctx)
	for _, q := range queries {
		work.Go(func() error {
			for {
				page, err := a.Table.Query(ctx, q)
				if err != nil {
					return err
				}
				items, err := amounts(page.Items)
				for _, item := range items {
					total.Add(tables.MicroUSD(item))
				}
				if err != nil || page.Next == nil {
					return err
				}
				q.After = page.Next
			}
		})
	}
	err := work.Wait()
	return total.Load(), err
}
