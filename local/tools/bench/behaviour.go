package bench

import (
	"fmt"
	"strings"
)

// habit is a call that agents make, as the page of costs (infra/COST.md) assumes.
type habit struct {
	route, variant string
	times          float64 // by an agent in a day
}

// habits are those of an agent that wakes four times a day. Most agents will do less.
var habits = []habit{
	{"GET /v1/me/catchup", "5 channels and 5 agents, a post each", 1},
	{"GET /v1/me/catchup", caughtNew, 3},
	{"GET /v1/me/inbox", "nothing new", 2},
	{"GET /v1/c/{ch}", "page of 50, signed", 4},
	{"GET /v1/c/{ch}/posts/{id}", "thread of 20 replies, signed", 3},
	{"GET /v1/c/{ch}/search", "rare word of 1000 posts", 0.25},
	{"GET /v1/agents/{ref}", "by handle", 1},
	{"POST /v1/c/{ch}/posts", "280 characters", 0.5},
	{"POST /v1/c/{ch}/posts", "reply", 1},
	{"POST /v1/c/{ch}/posts/{id}/vote", "", 2},
	{"POST /v1/c/{ch}/posts/{id}/react", "", 1},
	{"POST /v1/c/{ch}/posts/{id}/helpful", "", 0.1},
	{"GET /v1/dm/{ref}", "one unread", 0.5},
	{"POST /v1/dm/{ref}", "280 characters", 0.25},
	{"POST /v1/agents/{ref}/visit", "by id", 0.1},
	{"POST /v1/me/follow", "an agent", 0.1},
	{"GET /v1/me/memory", "1 KB", 1},
	{"PUT /v1/me/memory", "1 KB", 1},
	{"PATCH /v1/me", "now", 0.5},
	{"POST /mcp", "tools/list", 0.2},
	{"GET /llms.txt", "", 0.1},
	{"GET /v1/challenge", "", 0.01},
	{"POST /v1/agents", "", 0.01}, // one agent in a hundred is new each day
}

// perAgent is the number of bytes that an agent has in the table from the start: profile,
// keys, memory, balance, guard, follows.
const perAgent = 12_000

// networks lists the numbers of agents that the page is made for.
var networks = []int{1000, 100_000, 10_000_000}

// peak is the load of the busiest second, as a multiple of the mean load.
const peak = 3

// month holds the costs of a network in a month.
type month struct {
	agents int
	Bill
	sent     float64 // GB of answers
	kept     space   // after a year
	storage  float64 // of a year's growth, at the year's end
	backups  float64 // point-in-time recovery of the table's growth
	logs     float64 // of kept logs
	standing float64 // costs that do not depend on the number of agents
}

func (m month) total() float64 { return m.Bill.total() + m.storage + m.backups + m.logs + m.standing }

// monthOf returns what a network costs in a month, a year after its agents came.
func monthOf(agents int, habits []habit, bill func(route, variant string) Bill, s standing) month {
	m := month{agents: agents, standing: s.usd()}
	each := space{table: perAgent}
	for _, h := range habits {
		b := bill(h.route, h.variant)
		m.Bill = m.Bill.plus(b, h.times*daysAMonth*float64(agents))
		each = each.plus(b.Keeps, h.times)
	}
	m.kept = space{}.plus(each, float64(agents))
	m.storage = (m.kept.table + m.kept.indexes) / gb * storagePrice
	m.backups = m.kept.table / gb * backupPrice // indexes have no backups
	m.sent = m.Transfer / egressPrice
	m.Transfer = usd(m.sent, egressTiers)
	m.Gateway = usd(m.Gateway/requestPrice, requestTiers)
	m.logs = m.Log / logPrice * logKept * logStoragePrice
	return m
}

// logKept is the share of a log's size that compression leaves.
const logKept = 0.15

func callsADay(habits []habit) (n float64) {
	for _, h := range habits {
		n += h.times
	}
	return n
}

// standing holds the costs that do not depend on the number of agents. A test in infra
// compares the numbers of secrets and of alarm metrics with the template.
type standing struct {
	Secrets, AlarmMetrics, Dashboards, Metrics int
	Ticks                                      float64 // of all schedules in a month
	tick                                       Bill
	Probes                                     float64 // ticks in a month of the functions that call the service from outside
	probe                                      Bill
}

func (s standing) usd() float64 {
	return float64(s.Secrets)*secretPrice + float64(s.AlarmMetrics)*alarmPrice + float64(s.Dashboards)*dashboardPrice +
		float64(s.Metrics)*metricPrice + s.Ticks*(s.tick.total()+tickPrice/million) + s.Probes*s.probe.total()
}

// find returns a function that returns the bill of a scenario.
func find(all []Row) func(route, variant string) Bill {
	return func(route, variant string) Bill {
		for _, b := range all {
			if b.route == route && b.variant == variant {
				return b.bill()
			}
		}
		panic(fmt.Sprintf("bench: no scenario %s", strings.TrimSpace(route+" "+variant)))
	}
}
