package promo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
)

// If there are too few views, each promo must spend about the same share of its budget.
func TestPromosSpendEvenly(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("ten days of five thousand readers")
	}
	const scarce = 4
	for i, p := range pacings {
		got := p.run(2)
		least, median, most := got.half[0], got.half[pacePromos/2], got.half[pacePromos-1]
		end := got.end
		t.Logf("%-58s half-way %5.3f %5.3f %5.3f, at the end %5.3f %5.3f %5.3f", p.name, least, median, most, end[0], end[pacePromos/2], end[pacePromos-1])
		switch {
		case i == scarce && (least < 0.8*median || most > 1.25*median || median < 0.2):
			t.Errorf("%s: spent %.3f to %.3f half-way, median %.3f; want 0.8 to 1.25 times the median, and a median of at least 0.2", p.name, least, most, median)
		case i != scarce && (least < 0.45 || most > 0.55 || got.end[0] < 0.98):
			t.Errorf("%s: spent %.3f to %.3f half-way and at least %.3f at the end, want 0.45 to 0.55 and at least 0.98", p.name, least, most, got.end[0])
		}
	}
}

// Sizes of the simulation.
const (
	pacePromos  = 20
	paceViewers = 5000
	paceDays    = 10
)

// pacing is ten days of a channel's promos, shown to simulated readers and settled
// by the service's rules.
type pacing struct {
	name     string
	views    float64                    // per reader and day
	budgets  func(i int) int64          // impressions bought by promo i
	daylight func(hour float64) float64 // relative reading at an hour of the day, 1 on average
}

var pacings = []pacing{
	{"half of the views are wanted, budgets from 1 to 20", 3, upTo(75_000), steady},
	{"the same, by day and by night", 3, upTo(75_000), dayAndNight},
	{"a hundredth of the views is wanted", 12, upTo(6_000), steady},
	{"the smallest budgets", 3, func(int) int64 { return 250 }, steady},
	{"twice the available views are wanted, budgets from 1 to 20", 3, upTo(300_000), steady},
}

// upTo divides impressions among the promos: the last gets twenty times as many as
// the first.
func upTo(total int64) func(int) int64 {
	return func(i int) int64 { return total * int64(i+1) / (pacePromos * (pacePromos + 1) / 2) }
}

func steady(float64) float64 { return 1 }

// dayAndNight has eight hours without a reader.
func dayAndNight(hour float64) float64 {
	return max(0, math.Sin(math.Pi*(hour-6)/16)) * 3 * math.Pi / 4
}

// paced is the result of one pacing: the shares of budgets spent, smallest first.
type paced struct{ half, end []float64 }

func (p pacing) run(seed uint64) paced {
	rng := rand.New(rand.NewPCG(seed, 7))
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	live := make([]*tables.Promo, pacePromos)
	for i := range live {
		live[i] = &tables.Promo{
			ID: fmt.Sprintf("pr_%02d", i), State: tables.PromoLive, Price: 1, Budget: p.budgets(i),
			CreatedAt: begin.UnixMilli(), EndsAt: begin.AddDate(0, 0, paceDays).UnixMilli(),
		}
	}
	viewers := make([]string, paceViewers)
	for i := range viewers {
		viewers[i] = fmt.Sprintf("ag_%04d", i)
	}
	counts := make([]tables.Item, tables.PromoShards)
	for i := range counts {
		counts[i] = tables.Item{}
	}
	var out paced
	days := map[string]tables.Item{}
	perTick := p.views * paceViewers * tables.SettleEvery.Hours() / 24
	ticks := int(24 * time.Hour / tables.SettleEvery)
	for tick := range paceDays * ticks {
		if tick%ticks == 0 {
			clear(days)
		}
		now := begin.Add(time.Duration(tick) * tables.SettleEvery)
		expected := perTick * p.daylight(24*float64(tick%ticks)/float64(ticks))
		for n := poisson(rng, expected); n > 0; n-- {
			viewer := viewers[rng.IntN(paceViewers)]
			day := days[viewer]
			if day == nil {
				day = tables.Item{}
				days[viewer] = day
			}
			shard := tables.PromoShard(viewer)
			place := Place{Live: live, Agent: viewer, Viewer: viewer, Day: day, Counts: counts[shard], Now: now.Add(time.Duration(rng.Int64N(int64(tables.SettleEvery))))}
			if shown, billed := place.Draw(rng.Float64()); billed {
				for _, w := range tables.Impression("", shown.ID, viewer, now) {
					apply(map[bool]tables.Item{true: day, false: counts[shard]}[w.Key == tables.ShownKey(viewer, "", now)], w)
				}
			}
		}
		for i, l := range live {
			live[i] = Settle(l, counts, now.Add(tables.SettleEvery))
		}
		if tick == paceDays*ticks/2-1 {
			out.half = parts(live)
		}
	}
	out.end = parts(live)
	return out
}

func apply(item tables.Item, w tables.Write) {
	for _, u := range w.Updates {
		switch u.Op {
		case tables.UpdAdd:
			item[u.Attr] = item.Int(u.Attr) + u.Value.(int64)
		case tables.UpdSet:
			item[u.Attr] = u.Value
		}
	}
}

func parts(live []*tables.Promo) (parts []float64) {
	for _, l := range live {
		parts = append(parts, float64(l.Impressions)/float64(l.Most()))
	}
	slices.Sort(parts)
	return parts
}

func poisson(rng *rand.Rand, mean float64) (n int) {
	for left := mean; left > 0; left -= 500 { // in steps of 500, since e^-mean underflows for a large mean
		for p := rng.Float64(); p > math.Exp(-min(left, 500)); p *= rng.Float64() {
			n++
		}
	}
	return n
}
