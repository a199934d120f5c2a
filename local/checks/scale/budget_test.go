package scale

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"agentsocial/local/tools/bench"
)

// days returns a scenario in which each agent does in four minutes what it does in a day.
// Twenty agents are enough for a channel's search index to become due.
func days(circles int) Scenario {
	return Scenario{Name: fmt.Sprintf("days of %d circles", circles), Doc: "budgets", Slice: 1, Agents: 20 * circles, Circle: 20, Ranges: 4, For: 4 * time.Minute, Days: 1}
}

// A family of keys grows if its busiest key takes at least floor units in the large
// network, and at least growth times as many as in the small one. Keys that all agents
// share take six times as many. The load of a circle's keys varies a little by chance.
const growth = 3

var floor = [2]float64{reads: 15, writes: 3}

func TestBudgets(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: TestRepeatable runs the same code")
	}
	small, large := play(t, days(2), 7), play(t, days(12), 7)
	for _, r := range []*Result{small, large} {
		if r.Whole.OK < r.Whole.Sent*99/100 || r.Calls.Throttled > 0 {
			t.Errorf("%s: got %d of %d requests accepted and %d calls throttled, want at least 99 %% accepted and none throttled", r.Scenario.Name, r.Whole.OK, r.Whole.Sent, r.Calls.Throttled)
		}
	}
	before := map[string]Hot{}
	for _, h := range small.Hot {
		before[h.Family] = h
	}
	var found []string
	for _, h := range large.Hot {
		was := before[h.Family]
		for k, name := range []string{"read", "write"} {
			t.Logf("%-28s %5s units of the busiest key: %6.1f, then %6.1f", h.Family, name, was.Sum[k], h.Sum[k])
			if h.Sum[k] < floor[k] || h.Sum[k] < growth*was.Sum[k] || slices.Contains(found, h.Family) {
				continue
			}
			found = append(found, h.Family)
			if !grows(h.Family) {
				t.Errorf("%s: the busiest key, %s, takes %.1f %s units with %d agents, and %.1f with %d; divide the key, or list it in Growing",
					h.Family, h.Key, was.Sum[k], name, small.Scenario.Agents, h.Sum[k], large.Scenario.Agents)
			}
		}
	}
	for _, g := range Growing {
		i := slices.IndexFunc(large.Hot, func(h Hot) bool { return h.Family == g.Family })
		if i < 0 || !slices.Contains(found, g.Family) {
			t.Errorf("%s: its busiest key does not grow; remove it from Growing", g.Family)
			continue
		}
		for k, all := range large.Hot[i].All {
			if got := all / float64(large.Scenario.Agents); math.Abs(got-g.Units[k]) > 0.05+g.Units[k]/4 {
				t.Errorf("%s: got %.2f %s units for one agent's day, want about %.2f as in Growing", g.Family, got, []string{"read", "write"}[k], g.Units[k])
			}
		}
		t.Logf("%s is full at %.0f million agents", g.Family, g.Full(AWS, bench.Peak)/1e6)
	}
}
