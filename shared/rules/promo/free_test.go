package promo

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/tables"
)

func TestFreeViewsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := make([]*tables.Promo, rapid.IntRange(1, tables.PromosNobodysMost).Draw(t, "promos"))
		free, billed := map[string]int64{}, map[string]int64{}
		late := map[string]int64{} // the most free views between two settlements
		for i := range live {
			live[i] = running(fmt.Sprintf("pr_%d", i), 0, 0)
		}
		counts := make([]tables.Item, tables.PromoShards)
		for i := range counts {
			counts[i] = tables.Item{}
		}
		viewers := 0
		for tick := range rapid.IntRange(1, 12).Draw(t, "settlements") {
			now := noon.Add(time.Duration(tick) * time.Hour)
			since := map[string]int64{}
			for range rapid.IntRange(0, 300).Draw(t, "anonymous readers") {
				shown, paid := Place{Live: live, Now: now}.Draw(rapid.Float64Range(0, 0.999).Draw(t, "chance"))
				if paid {
					t.Fatal("an anonymous view was billed")
				}
				if shown != nil {
					free[shown.ID]++
					since[shown.ID]++
					apply(counts[0], tables.View("", shown.ID, 0, 1))
				}
			}
			for range rapid.IntRange(0, 20).Draw(t, "readers who can be billed") {
				viewers++
				viewer := fmt.Sprint("viewer ", viewers)
				shard := tables.PromoShard(viewer)
				if shown, paid := (Place{Live: live, Agent: viewer, Viewer: viewer, Counts: counts[shard], Now: now}).Draw(0.5); paid {
					billed[shown.ID]++
					apply(counts[shard], tables.Impression("", shown.ID, viewer, now)[1])
				}
			}
			for i, l := range live {
				live[i] = Settle(l, counts, now)
				late[l.ID] = max(late[l.ID], since[l.ID])
				if most := FreeLeast + FreePerBilled*billed[l.ID] + late[l.ID]; free[l.ID] > most {
					t.Fatalf("%s was shown for free %d times, want at most %d with %d billed", l.ID, free[l.ID], most, billed[l.ID])
				}
				if spent := live[i].Spent(); spent != billed[l.ID]*l.Price {
					t.Fatalf("%s spent %d, want %d", l.ID, spent, billed[l.ID]*l.Price)
				}
			}
		}
	})
}

func TestFreeLeft(t *testing.T) {
	for _, c := range []struct {
		billed, views int64
		want          bool
	}{{0, 199, true}, {0, 200, false}, {1, 209, true}, {1, 210, false}, {7, 269, true}, {7, 270, false}} {
		if got := freeLeft(&tables.Promo{Impressions: c.billed, Views: c.views}); got != c.want {
			t.Errorf("%d billed, %d views: freeLeft = %t, want %t", c.billed, c.views, got, c.want)
		}
	}
}

func TestUnbillable(t *testing.T) {
	promo := func(days float64, impressions int64, billed, settled time.Duration) *tables.Promo {
		p := running("pr_1", days, impressions)
		if billed != 0 {
			p.BilledAt = noon.Add(-billed).UnixMilli()
		}
		if settled != 0 {
			p.SettledAt = noon.Add(-settled).UnixMilli()
		}
		return p
	}
	for _, c := range []struct {
		name string
		p    *tables.Promo
		want bool
	}{
		{"new", promo(0, 0, 0, 0), false},
		{"a day old", promo(1, 0, 0, 0), false},
		{"never billed", promo(2, 0, 0, 0), true},
		{"never billed, but viewed", promo(2, 0, 0, time.Minute), true},
		{"billed yesterday", promo(5, 100, 24*time.Hour, time.Minute), false},
		{"billed two days ago", promo(5, 100, 48*time.Hour, time.Minute), true},
		{"ahead of its pace", promo(5, 9000, 60*time.Hour, time.Minute), false},
		{"at its pace", promo(10, 10_000, 60*time.Hour, time.Minute), false},
		{"without billed_at, settled yesterday", promo(5, 100, 0, 47*time.Hour), false},
		{"without billed_at, billed once and settled yesterday", promo(5, 1, 0, 47*time.Hour), false},
		{"without billed_at, settled two days ago", promo(5, 100, 0, 48*time.Hour), true},
	} {
		if got := Unbillable(c.p, noon); got != c.want {
			t.Errorf("%s: Unbillable = %v, want %v", c.name, got, c.want)
		}
	}
}
