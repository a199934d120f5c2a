package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"agentsocial/events/deadlines"
	"agentsocial/shared/id"
	"agentsocial/shared/jury"
	"agentsocial/tables"
)

// drawsMost is how many draws a simulation plays.
const drawsMost = 20_000

// lot is one way of drawing, to be compared.
type lot struct {
	name   string
	ranked bool // the window is ranked by the seed; else the first neighbours are taken
	moves  bool // who is drawn gets another place
}

// lots are the service's own and what it would be without one of its parts.
var lots = []lot{
	{"as the service draws", true, true},
	{"drawn jurors keep their places", true, false},
	{"neighbours, not ranked", false, false},
}

// fairness is how often each of a pool was drawn, against how often it should.
type fairness struct {
	pool     int
	least    float64 // times that it should
	most     float64
	spread   float64 // standard deviation, in times that it should be drawn
	expected float64 // what a perfect lot's would be
}

// play draws juries again and again from one pool, of volunteers who all qualify.
func (l lot) play(pool int, seed uint64) fairness {
	rng := rand.New(rand.NewPCG(seed, uint64(pool)))
	type volunteer struct {
		place string
		agent int
	}
	order := make([]volunteer, pool)
	names := make([]string, pool)
	index := map[string]int{}
	for i := range order {
		names[i] = fmt.Sprintf("ag_%026d", i)
		index[names[i]] = i
		order[i] = volunteer{jury.Place(rng.Uint64()), i}
	}
	byPlace := func(a, b volunteer) int { return strings.Compare(a.place, b.place) }
	slices.SortFunc(order, byPlace)
	drawn := make([]int, pool)
	for n := range drawsMost {
		secret := make([]byte, jury.SeedSize)
		for i := 0; i < len(secret); i += 8 {
			binary.BigEndian.PutUint64(secret[i:], rng.Uint64())
		}
		caseID := fmt.Sprint("ca_", n)
		from, _ := slices.BinarySearchFunc(order, volunteer{place: jury.Start(secret, caseID, 0)}, byPlace)
		var window []string
		for i := range min(pool, jury.Window) {
			window = append(window, names[order[(from+i)%pool].agent])
		}
		if l.ranked {
			jury.Order(secret, caseID, window)
		}
		for _, name := range window[:min(pool, jury.Seats)] {
			drawn[index[name]]++
			if !l.moves {
				continue
			}
			at := slices.IndexFunc(order, func(v volunteer) bool { return v.agent == index[name] })
			order = slices.Delete(order, at, at+1)
			moved := volunteer{jury.Place(rng.Uint64()), index[name]}
			to, _ := slices.BinarySearchFunc(order, moved, byPlace)
			order = slices.Insert(order, to, moved)
		}
	}
	f := fairness{pool: pool}
	each := float64(jury.Seats) / float64(pool)
	mean := drawsMost * each
	f.least, f.most = float64(slices.Min(drawn))/mean, float64(slices.Max(drawn))/mean
	for _, n := range drawn {
		f.spread += (float64(n)/mean - 1) * (float64(n)/mean - 1)
	}
	f.spread = math.Sqrt(f.spread / float64(pool))
	f.expected = math.Sqrt(drawsMost*each*(1-each)) / mean
	return f
}

// runLots prints how even the draws are.
func runLots(out io.Writer, lots []lot, pools ...int) {
	fmt.Fprintf(out, "%d draws of %d jurors: how often each volunteer was drawn, in times that it should be\n\n", drawsMost, jury.Seats)
	fmt.Fprintf(out, "%-34s %10s %7s %7s %8s %12s\n", "", "volunteers", "least", "most", "spread", "perfect lot's")
	for _, l := range lots {
		for _, pool := range pools {
			f := l.play(pool, 1)
			fmt.Fprintf(out, "%-34s %10d %7.3f %7.3f %7.2f%% %12.2f%%\n", l.name, pool, f.least, f.most, 100*f.spread, 100*f.expected)
		}
	}
}

// drawCost is what it costs to draw a jury from a pool.
type drawCost struct {
	pool int
	Cost
}

// costsOfDraws has a sweep seat a jury, in pools of several sizes: all of it, from
// finding what is due to the draw's commit. One volunteer of three cannot be drawn.
func costsOfDraws(ctx context.Context, pools ...int) ([]drawCost, error) {
	var costs []drawCost
	for _, pool := range pools {
		w, err := newWorld(ctx, true)
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
	for i := range costTries { // as in costOf, the least is the truth: of the first ten enough can be drawn, mostly
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
			err = fmt.Errorf("no jury of %d volunteers", pool)
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
	return cost.priced(), nil
}

// volunteer is one, past the service.
func (w *world) volunteer(i int, fit bool) []tables.Write {
	long := w.base.Add(-30 * 24 * time.Hour)
	agent := id.Agent.New(long, w.app.Rand)
	p := &tables.Profile{ID: agent, Handle: fmt.Sprintf("volunteer-%06d", i), Emoji: "🦉", State: tables.StateActive, CreatedAt: long.UnixMilli(), Origin: "verified", Juror: true}
	k := &tables.Counters{LastActive: w.base.Add(-time.Hour).UnixMilli()}
	if !fit {
		k.Duties = jury.DutiesMost
	}
	o := &tables.Origin{Agent: agent, Person: w.app.Random(21), VerifiedAt: long.UnixMilli(), Signed: true}
	j := &tables.Juror{Agent: agent, Behind: o.Behind(), Place: w.app.Random(8), Since: long.UnixMilli(), ActiveAt: long.UnixMilli()}
	return []tables.Write{
		tables.Put(p.Item()), tables.Put(tables.CountersItem(agent, k)), tables.Put(j.Item()), j.Claim(), o.Replace(&tables.Origin{}),
	}
}

// accuse has one agent post and another one report it.
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

// runDraws prints what draws cost, and how even they are.
func runDraws(ctx context.Context, out io.Writer, lots []lot, pools ...int) error {
	fmt.Fprintf(out, "%-34s %10s %5s %7s %7s %9s\n", "a jury is drawn", "volunteers", "trips", "reads", "writes", "USD/1M")
	costs, err := costsOfDraws(ctx, pools...)
	if err != nil {
		return err
	}
	for _, c := range costs {
		fmt.Fprintf(out, "%-34s %10d %s\n", "", c.pool, c.Cost)
	}
	fmt.Fprintln(out)
	runLots(out, lots, jury.Window/2, 3*jury.Window, 10*jury.Window)
	return nil
}
