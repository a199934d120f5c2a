package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/events/deadlines"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type drawCost struct {
	pool int
	Cost
}

// costsOfDraws measures the sweep that seats a jury, for each size of the pool. One
// volunteer in three cannot be drawn.
func costsOfDraws(ctx context.Context, pools ...int) ([]drawCost, error) {
	var costs []drawCost
	for _, pool := range pools {
		w, err := newWorld(ctx)
		if err != nil {
			return nil, err
		}
		cost, err := w.costOfDraw(ctx, pool)
		w.close()
		if err != nil {
			return nil, err
		}
		costs = append(costs, drawCost{pool, cost})
	}
	return costs, nil
}

func (w *world) costOfDraw(ctx context.Context, pool int) (Cost, error) {
	for i := range pool {
		if err := w.stock(w.volunteer(i, i%3 != 0)); err != nil {
			return Cost{}, err
		}
	}
	var cost Cost
	for i := range 3 { // keep the fewest trips and reads: a draw reads more if too few of the first ten volunteers can be drawn
		in, err := w.accuse(w.at(i), w.authors[0], w.authors[1])
		if err != nil {
			return cost, err
		}
		ctx, usage := tables.WithUsage(ctx)
		if err := w.counted(func() error { return deadlines.New(w.app).Handle(ctx) }); err != nil {
			return cost, err
		}
		items, err := w.feed.Get(ctx, tables.Strong, tables.CaseKey(in))
		if err == nil && (items[0].Str("state") != tables.CaseVoting || items[0].Int("filled") != min(jury.Seats, jury.SeatsFor(int64(pool)*2/3))) {
			err = fmt.Errorf("no full jury was drawn from %d volunteers", pool)
		}
		if err != nil {
			return cost, err
		}
		c := Cost{Trips: usage.Trips(), ReadUnits: usage.ReadUnits(), WriteUnits: usage.WriteUnits()}
		if i > 0 {
			c.Trips, c.ReadUnits = min(c.Trips, cost.Trips), min(c.ReadUnits, cost.ReadUnits)
		}
		cost = c
	}
	return cost, nil
}

// volunteer returns the writes that make a volunteer, without the service.
func (w *world) volunteer(i int, fit bool) []tables.Write {
	long := w.base.Add(-30 * 24 * time.Hour)
	agent := id.Agent.New(long, w.app.Rand)
	p := &tables.Profile{ID: agent, Handle: fmt.Sprintf("volunteer-%06d", i), Emoji: "🦉", State: tables.StateActive, CreatedAt: long.UnixMilli(), Origin: "verified", Juror: true}
	k := &tables.Counters{LastActive: w.base.Add(-time.Hour).UnixMilli(), Vouchers: tables.NewSet(jury.ByOperator)}
	if !fit {
		k.Duties = jury.DutiesMost
	}
	o := &tables.Origin{Agent: agent, Person: w.app.Random(21), VerifiedAt: long.UnixMilli(), Signed: true}
	j := &tables.Juror{Agent: agent, Owner: o.Owner(), Place: w.app.Random(8), Since: long.UnixMilli(), ActiveAt: long.UnixMilli()}
	return []tables.Write{
		tables.Put(p.Item()), tables.Put(tables.CountersItem(agent, k)), tables.Put(j.Item()), j.Claim(), o.Replace(&tables.Origin{}),
	}
}

// accuse makes one agent post, and another agent report the post.
func (w *world) accuse(at time.Time, author, reporter *agent) (opened string, err error) {
	post, err := w.post(at, author, writeTo, body(int(at.UnixMilli()%1e7), usual), "")
	if err := errors.Join(err, w.stock(able(reporter, w.base))); err != nil {
		return "", err
	}
	var out struct{ Case string }
	err = w.ask(at.Add(time.Second), reporting(reporter, writeTo, post), 201, &out)
	return out.Case, err
}

func reporting(by *agent, channel, post string) request {
	return request{
		route: "POST /v1/c/{ch}/posts/{id}/report", path: "/v1/c/" + channel + "/posts/" + post + "/report", by: by,
		body: encode(map[string]string{"reason": "It is an advertisement, and not the first one by this agent."}),
	}
}
