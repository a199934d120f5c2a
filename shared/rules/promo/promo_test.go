package promo

import (
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/tables"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestPrice(t *testing.T) {
	for daily, want := range map[int64]int64{
		0: 2_000_000, 100 * USD: 4_000_000, 50 * USD: 3_000_000, 899 * USD: 19_980_000, 900 * USD: 20_000_000,
		901 * USD: 20_000_000, 20_000_000 * USD: 20_000_000, 49_999: 2_000_000, 50_000: 2_001_000, 1 * USD: 2_020_000,
	} {
		if got := CPM(daily); got != want {
			t.Errorf("CPM(%d) = %d, want %d", daily, got, want)
		}
	}
}

func TestMaxChars(t *testing.T) {
	for usd, want := range map[int64]int{
		5: 140, 9: 140, 10: 180, 19: 180, 20: 220, 39: 220, 40: 260, 5 << 13: 660, 5<<14 - 1: 660, 5 << 14: 700, 5 << 15: 700, 1_000_000: 700,
	} {
		if got := MaxChars(usd); got != want {
			t.Errorf("MaxChars(%d) = %d, want %d", usd, got, want)
		}
	}
	for usd := int64(USDLeast); usd <= USDMost; usd += 1 + usd/1000 {
		if got, want := MaxChars(usd), min(140+40*int(math.Floor(math.Log2(float64(usd)/5)+1e-12)), 700); got != want {
			t.Fatalf("MaxChars(%d) = %d, want %d", usd, got, want)
		}
	}
}

func TestOfferAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Offer{
			USD: rapid.Int64Range(USDLeast, USDMost).Draw(t, "usd"), Days: rapid.IntRange(1, DaysMost).Draw(t, "days"),
			CPM: CPM(rapid.Int64Range(0, 1000*USD).Draw(t, "daily")), Now: noon,
		}
		if o.CPM%1000 != 0 || o.CPM < CPMLeast || o.CPM > CPMMost {
			t.Fatalf("CPM = %d, want a multiple of 1000 from %d to %d", o.CPM, CPMLeast, CPMMost)
		}
		if cost := o.Most() * o.Price(); cost > o.Budget() || cost+o.Price() <= o.Budget() {
			t.Fatalf("Most = %d impressions at %d, want as many as a budget of %d buys", o.Most(), o.Price(), o.Budget())
		}
	})
}

// running returns a ten-day promo that began the given number of days ago.
func running(id string, days float64, impressions int64) *tables.Promo {
	begun := noon.Add(-time.Duration(days * 24 * float64(time.Hour)))
	return &tables.Promo{
		Buyer: tables.Author{ID: "ag_somebody"},
		ID:    id, State: tables.PromoLive, Budget: 10_000, Price: 1, Impressions: impressions,
		CreatedAt: begun.UnixMilli(), EndsAt: begun.AddDate(0, 0, 10).UnixMilli(),
	}
}

const reader = "ag_00000000000000000000000009"

// more applies one write of tables.Impression to an item, for n impressions of a promo.
func more(item tables.Item, write int, promo string, n int64) tables.Item {
	if item == nil {
		item = tables.Item{}
	}
	for _, u := range tables.Impression("", promo, reader, noon)[write].Updates {
		switch u.Op {
		case tables.UpdAdd:
			item[u.Attr] = item.Int(u.Attr) + n
		case tables.UpdSet:
			item[u.Attr] = u.Value
		}
	}
	return item
}

// Indexes of the writes of tables.Impression: to the viewer's day, and to the counts of
// the viewer's shard.
const (
	inDay = iota
	inShard
)

func TestDraw(t *testing.T) {
	const viewer = reader
	behind, ahead := running("pr_1", 5, 100), running("pr_2", 5, 9000)
	own := running("pr_3", 5, 100)
	own.Buyer.ID = "ag_buyer"
	over, removed := running("pr_4", 11, 0), running("pr_5", 5, 0)
	removed.State = tables.PromoRemoved
	seen, counted := more(nil, inDay, behind.ID, 1), more(nil, inShard, behind.ID, 10_000)
	for _, c := range []struct {
		name   string
		place  Place
		shown  *tables.Promo
		billed bool
	}{
		{"nothing to show", Place{}, nil, false},
		{"one that is behind", Place{Live: []*tables.Promo{behind}, Viewer: viewer}, behind, true},
		{"one that is behind, and others that are not", Place{Live: []*tables.Promo{over, ahead, removed, behind}, Viewer: viewer}, behind, true},
		{"one that is ahead", Place{Live: []*tables.Promo{ahead}, Viewer: viewer}, nil, false},
		{"one that was shown today", Place{Live: []*tables.Promo{behind}, Viewer: viewer, Day: seen}, behind, false},
		{"one that was shown today, and one that is ahead", Place{Live: []*tables.Promo{behind, ahead}, Viewer: viewer, Day: seen}, behind, false},
		{"the reader's own promo", Place{Live: []*tables.Promo{own}, Agent: "ag_buyer", Viewer: viewer}, own, false},
		{"the reader's own promo, and one of another agent", Place{Live: []*tables.Promo{own, behind}, Agent: "ag_buyer", Viewer: viewer}, behind, true},
		{"nobody to bill", Place{Live: []*tables.Promo{ahead}}, ahead, false},
		{"over", Place{Live: []*tables.Promo{over}}, nil, false},
		{"removed", Place{Live: []*tables.Promo{removed}}, nil, false},
		{"the shard has given its share", Place{Live: []*tables.Promo{behind}, Viewer: viewer, Counts: counted}, nil, false},
	} {
		for _, chance := range []float64{0, 0.5, 0.999999} {
			c.place.Now = noon
			if shown, billed := c.place.Draw(chance); shown != c.shown || billed != c.billed {
				t.Errorf("%s: Draw = %v, billed %v; want %v, billed %v", c.name, shown, billed, c.shown, c.billed)
			}
		}
	}
}

func TestPace(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		budget int64
		after  time.Duration
		want   float64
	}{
		{100, -time.Hour, 2}, {100, 0, 2}, {100, 5 * day, 52}, {100, 10 * day, 100}, {100, 20 * day, 100},
		{10_000, 0, 16}, {10_000, day, 1016}, {800, 0, 16}, {750, 0, 15},
	} {
		p := running("pr_1", 0, 0)
		p.Budget = c.budget
		if got := Pace(p, noon.Add(c.after)); got != c.want {
			t.Errorf("Pace of %d impressions after %s = %v, want %v", c.budget, c.after, got, c.want)
		}
	}
	p := running("pr_1", 1, 100)
	p.Counted = tables.Map{"3": int64(5)}
	counts := more(tables.Item{}, 1, p.ID, 7) // two since the settlement; Behind assumes as many in each of 16 shards
	if got := Behind(p, 3, counts, noon); got != 1016-100-2*16 {
		t.Errorf("Behind = %v, want %d", got, 1016-100-2*16)
	}
}

func TestDrawIsFair(t *testing.T) {
	a, b := running("pr_1", 5, 5016-1000), running("pr_2", 5, 5016-3000)
	n := map[string]int{}
	for i := range 10_000 {
		shown, _ := Place{Live: []*tables.Promo{b, a}, Viewer: reader, Now: noon}.Draw(float64(i) / 10_000)
		n[shown.ID]++
	}
	if n[a.ID] < 2490 || n[a.ID] > 2510 {
		t.Errorf("promos were drawn %v times, want %s 2490 to 2510 times", n, a.ID)
	}
}

func TestDrawWeights(t *testing.T) {
	const most = 5016 // the pace after five days
	at := func(id string, behind int64) *tables.Promo { return running(id, 5, most-behind) }
	shard := more(nil, inShard, "pr_2", 2)
	billed := Place{Live: []*tables.Promo{at("pr_1", 96), at("pr_2", 320), at("pr_3", 64)}, Viewer: reader, Counts: shard, Now: noon}
	free := Place{Live: []*tables.Promo{at("pr_1", 300), at("pr_2", -100), at("pr_3", 99), at("pr_4", 0)}, Now: noon}
	for _, c := range []struct {
		name  string
		place Place
		paid  bool
		want  map[string]int // draws of each promo; their sum is the number of draws
	}{
		// A shard gives a sixteenth of what a promo is behind, so two impressions of one
		// shard stand for 32 of all shards.
		{"billed", billed, true, map[string]int{"pr_1": 96, "pr_2": 320 - 2*tables.PromoShards, "pr_3": 64}},
		{"not billed", free, false, map[string]int{"pr_1": 300, "pr_2": 1, "pr_3": 99, "pr_4": 1}},
	} {
		sum := 0
		for _, part := range c.want {
			sum += part
		}
		got := map[string]int{}
		for i := range sum {
			shown, paid := c.place.Draw((float64(i) + .5) / float64(sum))
			if paid != c.paid {
				t.Fatalf("%s: billed %v, want %v", c.name, paid, c.paid)
			}
			got[shown.ID]++
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v of %d draws, want %v", c.name, got, sum, c.want)
		}
	}
}

func TestShardsShare(t *testing.T) {
	for _, missing := range []int64{0, 1, 5, 16, 40, 200} {
		given := 0
		const promos = 300
		for i := range promos {
			p := running(fmt.Sprintf("pr_%d", i), 5, 5016-missing)
			for shard := range tables.PromoShards {
				counts := tables.Item{}
				for due(p, shard, counts, noon) {
					given++
					more(counts, inShard, p.ID, 1)
				}
			}
		}
		if mean := float64(given) / promos; math.Abs(mean-float64(missing)) > 0.8 {
			t.Errorf("the shards gave %.2f impressions on average, want %d ± 0.8", mean, missing)
		}
	}
}

func TestDraw_NewPromo(t *testing.T) {
	p := running("pr_1", 0, 0)
	if shown, billed := (Place{Live: []*tables.Promo{p}, Viewer: reader, Now: noon}).Draw(0.3); shown != p || !billed {
		t.Errorf("Draw = %v, billed %v; want the new promo, billed", shown, billed)
	}
}

func TestSettle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := running("pr_1", 5, 0)
		p.Budget = rapid.Int64Range(1, 300).Draw(t, "budget")
		counts, total, views := make([]tables.Item, tables.PromoShards), int64(0), int64(0)
		for range rapid.IntRange(1, 5).Draw(t, "settlements") {
			for i := range counts {
				n, v := rapid.Int64Range(0, 9).Draw(t, "n"), rapid.Int64Range(0, 9).Draw(t, "v")
				counts[i] = more(counts[i], inShard, p.ID, n)
				view := tables.View("", p.ID, i, v).Updates[1]
				counts[i][view.Attr] = counts[i].Int(view.Attr) + v
				total, views = total+n, views+v
			}
			to := Settle(p, counts, noon)
			if to.Impressions != min(total, p.Budget) || to.Views != views || to != p && to.SettledAt != noon.UnixMilli() {
				t.Fatalf("Settle = %+v, want %d impressions, %d views, and SettledAt at noon if anything changed", to, min(total, p.Budget), views)
			}
			if again := Settle(to, counts, noon.Add(time.Hour)); again != to {
				t.Fatalf("a second settlement = %+v, want the promo unchanged: %+v", again, to)
			}
			if stale := Settle(to, make([]tables.Item, tables.PromoShards), noon); stale != to {
				t.Fatalf("a settlement with older counts = %+v, want the promo unchanged: %+v", stale, to)
			}
			p = to
		}
	})
}

// Free views alone do not change BilledAt.
func TestSettle_OnlyViews(t *testing.T) {
	p := running("pr_1", 5, 7)
	p.BilledAt = 1
	for impressions, billed := range map[int64]int64{7: 1, 8: noon.UnixMilli()} {
		counts := more(tables.Item{}, inShard, p.ID, impressions)
		apply(counts, tables.View("", p.ID, 0, 3))
		to := Settle(p, []tables.Item{counts}, noon)
		if to.BilledAt != billed || to.Views != 3 || to.Impressions != impressions || to.SettledAt != noon.UnixMilli() {
			t.Errorf("Settle = %+v, want %d impressions, 3 views, BilledAt %d and SettledAt %d", to, impressions, billed, noon.UnixMilli())
		}
	}
}

func TestDraw_Halves(t *testing.T) {
	a, b := running("pr_1", 0, 0), running("pr_2", 0, 0)
	for chance, want := range map[float64]*tables.Promo{0: a, 0.499: a, 0.5: b, 0.999: b} {
		for _, live := range [][]*tables.Promo{{a, b}, {b, a}} {
			if shown, _ := (Place{Live: live, Now: noon}).Draw(chance); shown != want {
				t.Errorf("Draw with chance %v: got %s, want %s", chance, shown.ID, want.ID)
			}
		}
	}
}
