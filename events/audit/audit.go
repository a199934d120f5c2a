// Package audit proves the books of the service while it runs: that all accounts
// come to zero. It reads the balances, which are listed, and the sums of the two
// accounts that have none, never the whole table: so it costs a few cents a month
// for a hundred thousand accounts. What it does not prove, that each balance is
// what its movements come to, takes every movement there ever was: `make audit`
// reads them all.
//
// The books cannot be read as of one moment. What is under way meanwhile, and what
// the stream has yet to add up, puts the sum off for seconds, each time by another
// amount; what is wrong with the books puts it off for good, by the same.
package audit

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/schedule"
	"agentsocial/tables"
)

type audit struct {
	*app.App
	apart time.Duration // between two readings
}

// New declares the schedule.
func New(a *app.App) schedule.Function {
	return schedule.Function{
		Name: "audit", Doc: "Proves the books: that all accounts come to zero.",
		Reads:  "L by_parent",
		Every:  6 * time.Hour,
		Handle: audit{a, 10 * time.Second}.handle,
	}
}

const (
	// proveFor is how long one audit goes on, well before the function's time is
	// over. Of books that are in too much use to be proved the next one tries again.
	proveFor = 90 * time.Second

	// wrongTimes is how often in a row the books must be off by the same amount: for
	// longer than the stream takes to add a movement up.
	wrongTimes = 6

	pageMost = 1000 // balances that are in memory at once
)

// Wrong is the message of the line that says that the books are.
const Wrong = "books wrong"

func (a audit) handle(ctx context.Context) error { return schedule.Sweep(ctx, proveFor, a.prove) }

// prove reads the books until they come to zero, or to the same amount again and
// again. That they are wrong is said in the log, for which an alarm rings: it is no
// failure of the audit.
func (a audit) prove(ctx context.Context) error {
	for before, times := int64(0), 0; ; {
		off, err := a.off(ctx)
		if err != nil || off == 0 {
			return err
		}
		if off != before {
			before, times = off, 0
		}
		if times++; times == wrongTimes {
			a.Log.Error(Wrong, "micro_usd", off)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(a.apart):
		}
	}
}

// off is what all accounts come to, in micro-USD.
func (a audit) off(ctx context.Context) (int64, error) {
	work, both := app.SideBySide(ctx)
	var summed, running int64
	work.Go(func() (err error) { summed, err = a.summed(both); return err })
	work.Go(func() (err error) { running, err = a.running(both); return err })
	err := work.Wait()
	return summed + running, err
}

// summed is what the accounts without a balance come to.
func (a audit) summed(ctx context.Context) (total int64, err error) {
	for _, account := range []tables.Account{tables.Revenue, tables.Processor} {
		for _, q := range tables.DaySums(account) {
			err = errors.Join(err, a.each(ctx, q, func(items []tables.Item) error {
				for _, day := range items {
					total += tables.MicroUSD(day)
				}
				return nil
			}))
		}
	}
	return total, err
}

// running is what all balances come to.
func (a audit) running(ctx context.Context) (total int64, err error) {
	err = a.each(ctx, tables.Balances(pageMost), func(listed []tables.Item) error {
		keys := make([]tables.Key, len(listed))
		for i, item := range listed {
			keys[i] = item.Key()
		}
		balances, err := a.GetAll(ctx, tables.Strong, keys)
		for _, b := range balances {
			total += tables.MicroUSD(b)
		}
		return err
	})
	return total, err
}

// each gives do what a query finds, page by page.
func (a audit) each(ctx context.Context, q tables.Query, do func([]tables.Item) error) error {
	for {
		page, err := a.Table.Query(ctx, q)
		if err != nil {
			return err
		}
		if err := do(page.Items); err != nil || page.Next == nil {
			return err
		}
		q.After = page.Next
	}
}
