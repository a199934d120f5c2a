package scale

import (
	"math/rand/v2"
	"time"

	"agentsocial/local/tools/bench"
)

// Scenario is a load and the network that bears it.
type Scenario struct {
	Name, Doc string

	Slice  int  // k: one in k of the network's agents and ranges is simulated
	Agents int  // simulated agents; each may stand for several
	Circle int  // agents that share a channel
	Ranges int  // of the table and of each index, in the slice
	Hub    bool // there is a channel that all follow
	Star   bool // there is an agent whom all follow and mention

	For   time.Duration // of virtual time
	Flows []Flow
	Days  float64 // unless 0, replaces Flows: each agent does as much as in this many days

	Closed Span // when DynamoDB refuses everything
	Reader string
	Down   Span // when Reader is down

	limits *Limits // AWS if nil
	after  func(*world)
}

// Span is a period; From and To count from the beginning of the scenario.
type Span struct{ From, To time.Duration }

// Limits returns the limits of the scenario.
func (s Scenario) Limits() Limits {
	if s.limits != nil {
		return *s.limits
	}
	return AWS
}

// Flow is requests of one kind, at random times.
type Flow struct {
	Name string
	Rate float64 // requests a second, in the slice
	Make func(*world, *rand.Rand) *request
}

func (w *world) weight(family string) int {
	if w.s.Slice > 1 && grows(family) {
		return w.s.Slice
	}
	return 1
}

const secondsDay = 24 * 60 * 60

// habits returns the flows of agents that do what infra/COST.md assumes, factor times as
// often.
func habits(agents, factor float64) (all []Flow) {
	for _, h := range bench.Habits() {
		all = append(all, Flow{h.Route, h.Times * agents * factor / secondsDay, func(w *world, r *rand.Rand) *request {
			return w.does(h.Route, h.Variant, w.anyone(r), r)
		}})
	}
	return all
}

func votes(rate float64) Flow {
	return Flow{"votes", rate, func(w *world, r *rand.Rand) *request {
		return w.signs(w.anyone(r), "POST", "/v1/c/"+w.hot.channel+"/posts/"+w.hot.id+"/vote", fields{"v": 1 - 2*r.IntN(2)})
	}}
}

// Scenarios returns the scenarios of `make scale`.
func Scenarios() []Scenario {
	return []Scenario{
		{
			Name: "quiet", Doc: "1 000 agents, at the mean load", Slice: 1, Agents: 1000, Circle: 50, Ranges: 4,
			For: 20 * time.Minute, Flows: habits(1000, 1),
		},
		{
			Name: "steady", Doc: "100 000 agents, at the busiest second of the day", Slice: 1, Agents: 2000, Circle: 50, Ranges: 4,
			For: time.Minute, Flows: habits(100_000, bench.Peak),
		},
		{
			Name: "large", Doc: "10 million agents, at the busiest second of the day", Slice: 16, Agents: 4000, Circle: 50, Ranges: 4,
			For: 20 * time.Second, Flows: habits(10_000_000/16, bench.Peak),
		},
		{
			Name: "hub", Doc: "a channel with 500 000 followers and 100 posts a second", Slice: 1, Agents: 3000, Circle: 50, Ranges: 64, Hub: true,
			For: 15 * time.Second, Flows: []Flow{
				{"posts", 100, func(w *world, r *rand.Rand) *request { return w.posts(w.anyone(r), w.hub, nil) }},
				// The followers come four times a day to catch up, and four times to read.
				{"catchups", 500_000 * 4.0 / secondsDay * bench.Peak, func(w *world, r *rand.Rand) *request {
					return w.does("GET /v1/me/catchup", "", w.anyone(r), r)
				}},
				{"pages", 500_000 * 4.0 / secondsDay * bench.Peak, func(w *world, r *rand.Rand) *request {
					return w.signs(w.anyone(r), "GET", "/v1/c/"+w.hub.name, nil)
				}},
				{"threads", 500_000 * 3.0 / secondsDay * bench.Peak, func(w *world, r *rand.Rand) *request {
					return w.signs(w.anyone(r), "GET", "/v1/c/"+w.hub.name+"/posts/"+w.hub.some(r).id, nil)
				}},
				{"searches", 500_000 * 0.25 / secondsDay * bench.Peak, func(w *world, r *rand.Rand) *request {
					return w.signs(w.anyone(r), "GET", "/v1/c/"+w.hub.name+"/search?q=fox", nil)
				}},
			},
		},
		{
			Name: "votes", Doc: "20 000 votes a second on one post", Slice: 1, Agents: 5000, Circle: 50, Ranges: 64,
			For: 4 * time.Second, Flows: append(habits(100_000, 1), votes(20_000)),
		},
		{
			Name: "star", Doc: "an agent whom all follow and mention: 200 mentions and 50 follows a second", Slice: 1, Agents: 6000, Circle: 50, Ranges: 64, Star: true,
			For: 15 * time.Second, Flows: []Flow{
				{"mentions", 200, func(w *world, r *rand.Rand) *request {
					a := w.anyone(r)
					m := w.posts(a, w.of(a), nil)
					body := "@" + w.star.Name + " " + w.text(200)
					done := m.done
					m = w.signs(a, "POST", "/v1/c/"+w.of(a).name+"/posts", fields{"body": body})
					m.done = done
					return m
				}},
				{"follows", 50, func(w *world, r *rand.Rand) *request {
					return w.signs(w.anyone(r), "POST", "/v1/me/follow", fields{"kind": "agent", "target": w.star.ID, "on": true})
				}},
				{"profiles", 100, func(w *world, r *rand.Rand) *request {
					return w.signs(w.anyone(r), "GET", "/v1/agents/"+w.star.Name, nil)
				}},
				{"inbox", 1, func(w *world, _ *rand.Rand) *request { return w.signs(w.star, "GET", "/v1/me/inbox", nil) }},
			},
		},
		{
			Name: "registrations", Doc: "500 registrations a second", Slice: 1, Agents: 500, Circle: 50, Ranges: 64,
			For: 10 * time.Second, Flows: []Flow{{"registrations", 500, func(w *world, _ *rand.Rand) *request { return w.registers() }}},
		},
		{
			Name: "closed", Doc: "a minute in which DynamoDB refuses everything, in a network of 400 000", Slice: 1, Agents: 2000, Circle: 50, Ranges: 16,
			For: 80 * time.Second, Flows: habits(400_000, 1), Closed: Span{10 * time.Second, 70 * time.Second},
		},
		{
			Name: "behind", Doc: "a network of 10 000 whose reader tally is down for an hour", Slice: 1, Agents: 2000, Circle: 50, Ranges: 4,
			For: 70 * time.Minute, Flows: habits(10_000, 1), Reader: "tally", Down: Span{5 * time.Minute, 65 * time.Minute},
		},
	}
}
