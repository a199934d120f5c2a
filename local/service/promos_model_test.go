package service_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/rules/promo"
	"agentsocial/tables"
)

type modelledPromo struct {
	promoView
	buyer, channel string
	seen           int64  // billed impressions
	settled        int64  // of these, settled
	state          string // after the next settlement
	ended          bool
}

// After each step, balances, escrows and revenue match the model, wherever a settlement is
// interrupted.
func TestPromosMatchTheirModel(t *testing.T) {
	var b *flaky
	c := service.Config{Settings: generous(), Wrap: func(to tables.Backend) tables.Backend {
		b = &flaky{Backend: to}
		return b
	}}
	onBoth(t, c, func(t *testing.T, r *running) {
		r.played(t, b, func(t *rapid.T, n int) { r.playPromos(t, b, n) })
	})
}

func (r *running) playPromos(t *rapid.T, b *flaky, n int) {
	defer b.off()
	const purse = 1000 * usd
	balance := map[string]int64{}
	agents := []*transcripts.Agent{r.grown(r.join(fmt.Sprintf("a%d", n))), r.grown(r.join(fmt.Sprintf("b%d", n)))}
	for _, a := range agents {
		r.credit(a, purse)
		balance[a.Name] = purse
	}
	channels := []string{fmt.Sprintf("den-%d-a", n), fmt.Sprintf("den-%d-b", n)}
	for _, ch := range channels {
		if err := r.App.Transact(r.t.Context(), tables.Put((&tables.Channel{Name: ch, Kind: tables.KindWork}).Item())); err != nil {
			t.Fatalf("creating the channel %s: %v", ch, err)
		}
	}
	before := r.audited(t).Balances[tables.Revenue]
	var promos []*modelledPromo
	viewers := 0
	live := func(t *rapid.T) *modelledPromo {
		all := slices.DeleteFunc(slices.Clone(promos), func(p *modelledPromo) bool { return p.ended || p.state != "live" })
		if len(all) == 0 {
			t.Skip("no live promo")
		}
		return rapid.SampledFrom(all).Draw(t, "promo")
	}
	until := func(t *rapid.T, f func() error) { // tries until no commit fails
		for range 200 {
			if f() == nil {
				return
			}
		}
		t.Fatalf("a settlement failed 200 times, want it to succeed")
	}
	settled := func(ch string) {
		for _, p := range promos {
			if p.channel != ch || p.ended {
				continue
			}
			p.settled = min(p.seen, p.Most)
			if p.settled == p.Most && p.state == "live" {
				p.state = "spent"
			}
			if p.state != "live" {
				p.ended = true
				balance[p.buyer] += p.Budget - p.settled*p.CPM/1000
			}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"buy": func(t *rapid.T) {
			a, ch := rapid.SampledFrom(agents).Draw(t, "who"), rapid.SampledFrom(channels).Draw(t, "where")
			amount := rapid.Int64Range(5, 40).Draw(t, "usd")
			if balance[a.Name] < amount*usd {
				t.Skip("too dear")
			}
			own := slices.DeleteFunc(slices.Clone(promos), func(p *modelledPromo) bool { return p.ended || p.buyer != a.Name || p.channel != ch })
			if len(own) >= tables.PromosOfBuyerMost {
				if ans := r.send(r.buying(a, ch, fmt.Sprintf("One too many, %d.", len(promos)), amount, 1)); ans.Status != 409 {
					t.Fatalf("a fourth promo: got %d %s, want 409", ans.Status, ans.Body)
				}
				return
			}
			p := r.buy(t, a, ch, fmt.Sprintf("Promo %d.", len(promos)), amount, rapid.Int64Range(1, 30).Draw(t, "days"))
			if rapid.Bool().Draw(t, "scant") { // buys a few impressions only
				p.CPM = p.Budget / rapid.Int64Range(1, 6).Draw(t, "buys") * 1000
				p.Most = p.Budget / (p.CPM / 1000)
				r.set(tables.PromoKey(ch, p.ID), tables.SetAttr("price", p.CPM/1000))
			}
			balance[a.Name] -= amount * usd
			promos = append(promos, &modelledPromo{promoView: p, buyer: a.Name, channel: ch, state: "live"})
		},
		"see": func(t *rapid.T) {
			p := live(t)
			defer b.broken()()
			for range rapid.IntRange(1, 4).Draw(t, "viewers") {
				viewers++
				viewer := fmt.Sprintf("ag_viewer%d-%d", n, viewers)
				for again := rapid.IntRange(0, 1).Draw(t, "again"); again >= 0; { // sent twice, or again after a failure
					err := r.App.Transact(r.t.Context(), tables.Impression(p.channel, p.ID, viewer, r.App.Now())...)
					if err == nil || errors.Is(err, tables.ErrShown) {
						again--
					}
				}
				p.seen++
			}
		},
		"expire": func(t *rapid.T) {
			p := live(t)
			r.set(tables.PromoKey(p.channel, p.ID), tables.SetAttr("ends_at", r.App.Now().UnixMilli()))
			p.state = "expired"
			if p.seen >= p.Most {
				p.state = "spent"
			}
		},
		"forsake": func(t *rapid.T) { // no impression was billed for two days
			p := live(t)
			if p.seen > 0 {
				t.Skip("it was billed")
			}
			r.set(tables.PromoKey(p.channel, p.ID), tables.SetAttr("created_at", r.App.Now().Add(-promo.UnbilledFor).UnixMilli()))
			p.state = "unbilled"
		},
		"remove": func(t *rapid.T) {
			p := live(t)
			if err := r.App.Transact(r.t.Context(), (&tables.Promo{Channel: p.channel, ID: p.ID}).Remove("ca_1", r.App.Now())); err != nil {
				t.Fatalf("removing the promo %s: %v", p.ID, err)
			}
			p.state = "removed"
		},
		"settle": func(t *rapid.T) {
			ch := rapid.SampledFrom(channels).Draw(t, "where")
			defer b.broken()()
			until(t, func() error { return r.settle(ch) })
			settled(ch)
		},
		"settle twice at once": func(t *rapid.T) {
			ch := rapid.SampledFrom(channels).Draw(t, "where")
			atOnce(2, func(int) {
				if err := r.settle(ch); err != nil {
					r.t.Error(err)
				}
			})
			until(t, func() error { return r.settle(ch) }) // what each skipped because of the other
			settled(ch)
		},
		"": func(t *rapid.T) {
			var earned int64
			for _, p := range promos {
				got := r.promo(t, agents[slices.IndexFunc(agents, func(a *transcripts.Agent) bool { return a.Name == p.buyer })], p.channel, p.ID)
				want := "live"
				if p.ended || p.state == "removed" {
					want = p.state
				}
				if got.State != want || got.Impressions != p.settled {
					t.Fatalf("promo: got %+v, want %s with %d impressions", got, want, p.settled)
				}
				earned += p.settled * p.CPM / 1000
			}
			for _, a := range agents {
				if got := r.credits(t, a); got != balance[a.Name] {
					t.Fatalf("balance of %s: got %d, want %d", a.Name, got, balance[a.Name])
				}
			}
			if got := r.audited(t).Balances[tables.Revenue] - before; got != earned {
				t.Fatalf("revenue: got %d, want %d", got, earned)
			}
		},
	})
}
