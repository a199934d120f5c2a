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

// TestPromosSpendEvenly checks that each promo of ten days has spent about half of
// its budget after five days and all of it at the end if there are enough views. If
// there are not, each gets the same part of what it wants. With -v it prints the
// parts of the budgets that were spent.
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
		t.Logf("%-52s half-way %5.3f %5.3f %5.3f, at the end %5.3f %5.3f %5.3f", p.name, least, median, most, end[0], end[pacePromos/2], end[pacePromos-1])
		switch {
		case i == scarce && (least < 0.8*median || most > 1.25*median || median < 0.2):
			t.Errorf("%s: from %.3f to %.3f, the median being %.3f", p.name, least, most, median)
		case i != scarce && (least < 0.45 || most > 0.55 || got.end[0] < 0.98):
			t.Errorf("%s: from %.3f to %.3f after half of the days, and %.3f at the end", p.name, least, most, got.end[0])
		}
	}
}

// What the pacing of promos is measured with.
const (
	pacePromos  = 20
	paceViewers = 5000
	paceDays    = 10
)

// A pacing is ten days of a channel's promos, shown to simulated readers and settled
// by the rules of the service.
type pacing struct {
	name     string
	views    float64                    // by each reader, a day
	budgets  func(i int) int64          // impressions that promo i buys
	daylight func(hour float64) float64 // how much is read at an hour of the day, 1 on average
}

// pacings differ in what all promos together want of what readers could be billed
// for, and in when they read.
var pacings = []pacing{
	{"half of the views are wanted, budgets from 1 to 20", 3, upTo(75_000), steady},
	{"the same, by day and by night", 3, upTo(75_000), dayAndNight},
	{"a hundredth of the views is wanted", 12, upTo(6_000), steady},
	{"the least budgets there are", 3, func(int) int64 { return 250 }, steady},
	{"twice the views are wanted, budgets from 1 to 20", 3, upTo(300_000), steady},
}

// upTo shares a number of impressions among the promos: the last wants twenty
// times what the first wants.
func upTo(total int64) func(int) int64 {
	return func(i int) int64 { return total * int64(i+1) / (pacePromos * (pacePromos + 1) / 2) }
}

func steady(float64) float64 { return 1 }

// dayAndNight has eight hours without a reader.
func dayAndNight(hour float64) float64 {
	return max(0, math.Sin(math.Pi*(hour-6)/16)) * 3 * math.Pi / 4
}

// paced is what became of one pacing: the parts of their budgets that the promos
// have spent, least first.
type paced struct{ half, end []float64 }

// run plays ten days.
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

// apply makes a write's updates in an item in memory.
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

// poisson is how many of many independent things happen of which mean are expected.
func poisson(rng *rand.Rand, mean float64) (n int) {
	for left := mean; left > 0; left -= 500 { // below what e^-x can tell
		for p := rng.Float64(); p > math.Exp(-min(left, 500)); p *= rng.Float64() {
			n++
		}
	}
	return n
}
