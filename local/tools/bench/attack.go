package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"agentsocial/shared/app"
)

// attack is an action that an attacker repeats as often as the service allows.
type attack struct {
	what    string
	rate    float64 // times per second
	usd     float64 // what each time costs the owner
	agents  float64 // how many agents the attacker needs
	bounded string  // what bounds it, the decisive bound first
}

// day returns what the attack costs the owner in a day.
func (a attack) day() float64 { return a.usd * a.rate * secondsDay }

// hashesASecond is a modest guess at the SHA-256 hashes that a core computes in a second.
// corePrice is the rent of a core for an hour, in US dollars.
const (
	hashesASecond = 10e6
	corePrice     = 0.04
)

// effort returns what the agents' proofs of work cost the attacker, in US dollars.
func (a attack) effort(powBits int) float64 {
	return a.agents * math.Exp2(float64(powBits)) / hashesASecond / 3600 * corePrice
}

// mailQuota is the number of mails that SES lets an account send in a day, until its owner
// asks for more.
const mailQuota = 50_000

// refusedAtGateway is the assumed number of requests a second beyond the gateway's
// throttle. Each costs a line in the gateway's log.
const refusedAtGateway = 10_000

// perAgentDay returns how often an agent may call a route in a day, and the name of the
// limit that bounds it, or "" for a GET.
func perAgentDay(route string, t Taken, s app.Settings) (times float64, limit string) {
	const minutes = 24 * 60
	l := s.Limits
	switch {
	case route == "PUT /v1/me/memory" && t.WriteUnits > 16:
		return min(float64(l.MemoriesPerMinute)*minutes, float64(l.MemoryDay)/256), "memory_day"
	case route == "PUT /v1/me/memory":
		return float64(l.MemoriesPerMinute) * minutes, "memories_per_minute"
	case route == "POST /v1/c/{ch}/posts":
		return float64(min(l.PostsPerMinute*60, l.PostsPerHour)) * 24, "posts_per_hour"
	case strings.HasSuffix(route, "/report"):
		return float64(l.ReportsDay), "reports_day"
	case route == "POST /v1/me/origin":
		return float64(l.OriginsDay), "origins_day"
	case route == "POST /v1/me/tokens":
		return float64(l.TokensDay), "tokens_day"
	case strings.HasSuffix(route, "/helpful"):
		return float64(l.HelpfulDay), "helpful_day"
	case route == "POST /v1/me/follow":
		return float64(l.FollowsPerHour) * 24, "follows_per_hour"
	case route == "POST /v1/me/credits/checkout":
		return float64(l.CheckoutsPerMinute) * minutes, "checkouts_per_minute"
	case strings.HasPrefix(route, "GET "):
		return float64(s.MaxReads) * minutes / max(1, t.ReadUnits/20), ""
	}
	return float64(l.WritesPerMinute) * minutes, "writes_per_minute"
}

// apart lists routes that are not counted as attacks. Callers pay credits for the first
// two, and only drawn jurors vote on a case.
var apart = []string{"POST /v1/dm/{ref}", "POST /v1/c/{ch}/promos", "POST /v1/cases/{id}/vote"}

// numbering lists the variants of reads that give new events their numbers. An attacker
// cannot repeat them at will, because other calls must make the events.
var numbering = []string{oneNew, pageNew, caughtNew}

// turnedAway returns the attack that no setting bounds.
func turnedAway() attack {
	return attack{what: "requests that the throttle turns away", rate: refusedAtGateway, usd: accessLog / gb * logPrice}
}

// attacks returns the most expensive attack on each endpoint, the most expensive first.
func attacks(all []Row, signed func(route string) bool, rates map[string]int, throttle int, s app.Settings) []attack {
	dearest := map[string]attack{}
	for _, b := range all {
		if slices.Contains(apart, b.route) || slices.Contains(numbering, b.variant) {
			continue
		}
		a := attack{what: strings.TrimSpace("`" + b.route + "` " + b.variant), usd: b.unpacked().total(), rate: float64(throttle), bounded: "`throttleRate`"}
		if r := rates[b.route]; r > 0 {
			a.rate = min(a.rate, float64(r))
		}
		if b.route == "POST /oauth/authorize" && b.Wait > 0 { // a search for an agent by its mail
			a.rate = min(a.rate, float64(s.Limits.ReconnectsMinute)/60)
			a.bounded = "`limits.reconnects_minute`"
		}
		if b.Mails > 0 {
			a.rate = min(a.rate, mailQuota/float64(b.Mails)/secondsDay)
			a.bounded = "SES's quota of the account"
		}
		if signed(b.route) {
			times, limit := perAgentDay(b.route, b.Taken, s)
			a.agents = math.Ceil(a.rate * secondsDay / times)
			if limit != "" {
				a.bounded += fmt.Sprintf("; `limits.%s` and `powBits` set what the attack costs the attacker", limit)
			}
			if b.WriteUnits+b.After.WriteUnits > 16 {
				a.bounded += "; `tableWrites` caps what it costs you"
			} else if b.ReadUnits > 16 {
				a.bounded += "; `tableReads` caps what it costs you"
			}
		}
		if a.day() > dearest[b.route].day() {
			dearest[b.route] = a
		}
	}
	var list []attack
	for _, a := range dearest {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b attack) int {
		return cmp.Or(cmp.Compare(b.day(), a.day()), strings.Compare(a.what, b.what))
	})
	return list
}
