package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// modelled is the plain model that the ledger is held to: what each agent has,
// and what became of each payment.
type modelled struct {
	balance  map[string]int64 // by agent
	spent    int64
	payments []*modelledPayment
}

type modelledPayment struct {
	agent    string
	checkout string // the page's URL
	cents    int64
	left     int64 // that can still be refunded or disputed
	refunds  []*modelledTaking
	disputes []*modelledTaking
}

type modelledTaking struct {
	id     string
	cents  int64
	undone bool
}

// Whatever is bought, spent, refunded, disputed and given back, in whatever
// order its notifications arrive, however often, and wherever the service
// breaks off on the way: each agent has what a plain sum says, after each step.
func TestLedgerIsAPlainSum(t *testing.T) {
	var b *breaking
	c := service.Config{Settings: generous(), Wrap: func(to tables.Backend) tables.Backend {
		b = &breaking{Backend: to}
		return b
	}}
	onBoth(t, c, func(t *testing.T, r *running) {
		r.hooked(t, map[string]any{"do": "hold"})
		r.played(t, b, func(t *rapid.T, n int) {
			agents := []*transcripts.Agent{r.join(fmt.Sprintf("a%d", n)), r.join(fmt.Sprintf("b%d", n))}
			r.playLedger(t, b, agents)
		})
	})
}

// breaking breaks some commits off, while it is on: before they are made, or
// after, when nobody hears of it any more.
type breaking struct {
	tables.Backend
	on  atomic.Bool
	mu  sync.Mutex
	rng *rand.Rand
}

var errBroken = errors.New("broken off")

// begin has the same commits break off for the same seed.
func (b *breaking) begin(seed uint64) {
	b.off()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rng = rand.New(rand.NewPCG(seed, 1))
}

func (b *breaking) off() { b.on.Store(false) }

// broken has commits break off until what is returned is called.
func (b *breaking) broken() (mend func()) { b.on.Store(true); return b.off }

func (b *breaking) Commit(ctx context.Context, tx tables.Tx) error {
	if !b.on.Load() {
		return b.Backend.Commit(ctx, tx)
	}
	b.mu.Lock()
	chance := b.rng.Float64()
	b.mu.Unlock()
	switch {
	case chance > 0.2:
		return b.Backend.Commit(ctx, tx)
	case chance > 0.1:
		return errBroken
	}
	return errors.Join(b.Backend.Commit(ctx, tx), errBroken)
}

// played has a model's steps drawn and played again and again, fewer times than
// rapid would; n counts them from 1. How often is a flag, which is the process's:
// whoever calls it runs beside nothing else.
func (r *running) played(t *testing.T, b *breaking, play func(t *rapid.T, n int)) {
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	defer func() { _ = checks.Set(was) }() // what it was, it can be
	if err := checks.Set(strconv.Itoa(max(2, r.rounds()/10))); err != nil {
		t.Fatal(err)
	}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		b.begin(rapid.Uint64().Draw(t, "seed"))
		n++
		play(t, n)
	})
}

func (r *running) playLedger(t *rapid.T, b *breaking, agents []*transcripts.Agent) {
	m := &modelled{balance: map[string]int64{}}
	who := rapid.SampledFrom(agents)
	before := r.audited(t).Balances[tables.Revenue]
	payment := func(t *rapid.T, ok func(*modelledPayment) bool) *modelledPayment {
		all := slices.DeleteFunc(slices.Clone(m.payments), func(p *modelledPayment) bool { return !ok(p) })
		if len(all) == 0 {
			t.Skip("no such payment")
		}
		return rapid.SampledFrom(all).Draw(t, "payment")
	}
	type takings func(*modelledPayment) *[]*modelledTaking
	taking := func(t *rapid.T, of takings) (*modelledPayment, *modelledTaking) {
		open := func(p *modelledPayment) []*modelledTaking {
			return slices.DeleteFunc(slices.Clone(*of(p)), func(k *modelledTaking) bool { return k.undone })
		}
		p := payment(t, func(p *modelledPayment) bool { return len(open(p)) > 0 })
		return p, rapid.SampledFrom(open(p)).Draw(t, "taking")
	}
	refunds := func(p *modelledPayment) *[]*modelledTaking { return &p.refunds }
	disputes := func(p *modelledPayment) *[]*modelledTaking { return &p.disputes }
	take := func(do string, of takings) func(*rapid.T) {
		return func(t *rapid.T) {
			p := payment(t, func(p *modelledPayment) bool { return p.left > 0 })
			cents := rapid.Int64Range(1, p.left).Draw(t, "cents")
			id := r.hooked(t, map[string]any{"do": do, "checkout": p.checkout, "cents": cents})
			*of(p) = append(*of(p), &modelledTaking{id: id, cents: cents})
			p.left -= cents
			m.balance[p.agent] -= cents * 10_000
			r.notified(t, b)
		}
	}
	giveBack := func(do, what string, of takings) func(*rapid.T) {
		return func(t *rapid.T) {
			p, k := taking(t, of)
			r.hooked(t, map[string]any{"do": do, what: k.id})
			k.undone = true
			p.left += k.cents
			m.balance[p.agent] += k.cents * 10_000
			r.notified(t, b)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"buy": func(t *rapid.T) {
			a, usd := who.Draw(t, "who"), rapid.Int64Range(5, 20).Draw(t, "usd")
			ans := r.call(a, "POST", "/v1/me/credits/checkout", encode(map[string]int64{"usd": usd}))
			if ans.Status != 201 {
				t.Fatalf("%d %s", ans.Status, ans.Body)
			}
			p := &modelledPayment{agent: a.Name, checkout: ans.Text("url"), cents: 100 * usd, left: 100 * usd}
			r.hooked(t, map[string]any{"do": "pay", "checkout": p.checkout, "method": "card"})
			m.payments = append(m.payments, p)
			m.balance[a.Name] += p.cents * 10_000
			r.notified(t, b)
		},
		"spend": func(t *rapid.T) {
			a, price := who.Draw(t, "who"), rapid.Int64Range(1, 6_000_000).Draw(t, "price")
			message := id.Message.New(r.moment(), r.App.Rand)
			defer b.broken()()
			had := m.balance[a.Name]
			want := tables.AlreadyMade
			switch {
			case had >= price:
				m.balance[a.Name] -= price
				m.spent += price
			case had < 0:
				want = tables.Frozen
			default:
				want = tables.Insufficient
			}
			for again := rapid.IntRange(0, 2).Draw(t, "again"); ; again-- { // until it is known what became of it, and then some
				_, err := r.pays(a.ID, message, price)
				var not *tables.NotMoved
				switch {
				case errors.Is(err, errBroken):
					again++
				case err == nil && want != tables.AlreadyMade:
					t.Fatalf("%d was spent of %d", price, had)
				case errors.As(err, &not):
					if not.Why != want || not.Why != tables.AlreadyMade && not.Balance != had {
						t.Fatalf("not moved: got %+v, want %v of %d; the price is %d", *not, want, had, price)
					}
				case err != nil:
					t.Fatalf("%v", err)
				}
				if again <= 0 {
					return
				}
			}
		},
		"time passes": func(t *rapid.T) {
			r.advance(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
		},
		"send": func(t *rapid.T) {
			from := who.Draw(t, "who")
			to := agents[0]
			if from == to {
				to = agents[1]
			}
			text := strings.Repeat("x", rapid.IntRange(1, 2000).Draw(t, "characters"))
			price := int64(len(text)) * r.App.Settings.MicroUSDPerChar
			q := r.request(from, "POST", "/v1/dm/"+to.ID, encode(map[string]string{"body": text}))
			defer b.broken()()
			want := 402
			if m.balance[from.Name] >= price {
				m.balance[from.Name] -= price
				m.spent += price
				want = 201
			}
			for again := rapid.IntRange(0, 2).Draw(t, "again"); again >= 0; again-- {
				ans := r.send(q)
				for range 200 { // until it is known what became of it
					if ans.Status != 500 {
						break
					}
					ans = r.send(q)
				}
				if ans.Status != want {
					t.Fatalf("%d %s, not %d", ans.Status, ans.Body, want)
				}
			}
		},
		"refund":           take("refund", refunds),
		"a refund fails":   giveBack("fail_refund", "refund", refunds),
		"dispute":          take("dispute", disputes),
		"a dispute is won": giveBack("reinstate", "dispute", disputes),
		"": func(t *rapid.T) {
			for _, a := range agents {
				if got := r.credits(t, a); got != m.balance[a.Name] {
					t.Fatalf("%s has %d, not %d", a.Name, got, m.balance[a.Name])
				}
			}
		},
	})
	report := r.audited(t)
	if got := report.Balances[tables.Revenue] - before; got != m.spent {
		t.Fatalf("%d was earned of %d", got, m.spent)
	}
}

// notified delivers what the stand-in has to tell: all of it, in any order, some
// of it several times.
func (r *running) notified(t *rapid.T, b *breaking) {
	t.Helper()
	defer b.broken()()
	var events []struct {
		ID        string
		Delivered bool
	}
	a := r.call(nil, "GET", "/_local/payments", "")
	if err := json.Unmarshal(a.Body, &events); err != nil {
		t.Fatalf("%v", err)
	}
	var ids []string
	for _, e := range events {
		if !e.Delivered {
			ids = append(ids, e.ID)
		}
	}
	more := rapid.IntRange(0, min(2, len(events))).Draw(t, "again")
	for i := range more {
		ids = append(ids, events[i].ID)
	}
	for _, event := range rapid.Permutation(ids).Draw(t, "order") {
		var status string
		for range 200 { // until it is taken, as the processor does
			if status = r.call(nil, "POST", "/_local/payments", encode(map[string]string{"do": "deliver", "event": event})).Text("status"); status == "200" {
				break
			}
		}
		if status != "200" {
			t.Fatalf("a notification was answered %s", status)
		}
	}
}
