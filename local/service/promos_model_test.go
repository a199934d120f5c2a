package service_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// modelledPromo is what a plain model knows of a promo.
type modelledPromo struct {
	promoView
	buyer, channel string
	seen           int64  // impressions that were billed
	settled        int64  // of which a settlement knows
	state          string // it will be in
	ended          bool
}

// Whatever is bought and seen, removed or left to expire, however often it is
// settled, twice at once, and wherever a settlement breaks off: each agent, each
// escrow and revenue have what a plain sum says, after each step.
func TestPromosAreAPlainSum(t *testing.T) {
	var b *breaking
	c := service.Config{Settings: generous(), Wrap: func(to tables.Backend) tables.Backend {
		b = &breaking{Backend: to}
		return b
	}}
	onBoth(t, c, func(t *testing.T, r *running) {
		r.played(t, b, func(t *rapid.T, n int) { r.playPromos(t, b, n) })
	})
}

func (r *running) playPromos(t *rapid.T, b *breaking, n int) {
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
			t.Fatalf("%v", err)
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
	until := func(t *rapid.T, f func() error) { // it is made, through all that breaks off
		for range 200 {
			if f() == nil {
				return
			}
		}
		t.Fatalf("it was never made")
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
					t.Fatalf("a fourth promo: %d %s", ans.Status, ans.Body)
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
				for again := rapid.IntRange(0, 1).Draw(t, "again"); again >= 0; { // told twice, or once more when it broke off
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
		"remove": func(t *rapid.T) {
			p := live(t)
			if err := r.App.Transact(r.t.Context(), (&tables.Promo{Channel: p.channel, ID: p.ID}).Remove("ca_1", r.App.Now())); err != nil {
				t.Fatalf("%v", err)
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
			var work sync.WaitGroup
			for range 2 {
				work.Go(func() {
					if err := r.settle(ch); err != nil {
						r.t.Error(err)
					}
				})
			}
			work.Wait()
			until(t, func() error { return r.settle(ch) }) // what each left to the other
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
					t.Fatalf("%+v, not %s with %d impressions", got, want, p.settled)
				}
				earned += p.settled * p.CPM / 1000
			}
			for _, a := range agents {
				if got := r.credits(t, a); got != balance[a.Name] {
					t.Fatalf("%s has %d, not %d", a.Name, got, balance[a.Name])
				}
			}
			if got := r.audited(t).Balances[tables.Revenue] - before; got != earned {
				t.Fatalf("%d was earned, not %d", got, earned)
			}
		},
	})
}
