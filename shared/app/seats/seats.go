// Package seats removes agents from the juries of open cases when an operator suspends
// them, or when they are erased.
package seats

import (
	"context"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// Leave returns the writes that remove an agent from the juries of open cases, on condition
// that its number of duties has not changed since Leave read it. An agent without counters
// has not finished its signup, so it is on no jury.
func Leave(ctx context.Context, a *app.App, agent string) ([]tables.Write, error) {
	var counters []tables.Item
	var duties tables.Page
	work, both := app.SideBySide(ctx)
	work.Go(func() (err error) {
		counters, err = a.Table.Get(both, tables.Strong, tables.CountersKey(agent))
		return err
	})
	work.Go(func() (err error) {
		duties, err = a.Table.Query(both, tables.Duties(agent))
		return err
	})
	if err := work.Wait(); err != nil || counters[0] == nil {
		return nil, err
	}
	keys := make([]tables.Key, len(duties.Items))
	for i, item := range duties.Items {
		keys[i] = tables.CaseKey(item.Str("case"))
	}
	cases, err := a.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	writes, n := tables.Unseat(agent, cases, a.Now())
	return append(writes, tables.LeaveDuties(agent, counters[0].Int("duties"), n, 0)), nil
}
