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

// modelled is a simple model of the ledger.
type modelled struct {
	balance  map[string]int64 // by agent
	spent    int64
	payments []*modelledPayment
}

type modelledPayment struct {
	agent    string
	checkout string // the URL of its page
	cents    int64
	left     int64 // cents that can still be refunded or disputed
	refunds  []*modelledTaking
	disputes []*modelledTaking
}

type modelledTaking struct {
	id     string
	cents  int64
	undone bool
}

// Balances match the model, whatever the order and number of notifications, and wherever
// the service is interrupted.
func TestLedgerMatchesItsModel(t *testing.T) {
	var b *flaky
	c := service.Config{Settings: generous(), Wrap: func(to tables.Backend) tables.Backend {
		b = &flaky{Backend: to}
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

// flaky fails some commits while it is on, before or after they are made. The caller cannot
// tell the two apart.
type flaky struct {
	tables.Backend
	on  atomic.Bool
	mu  sync.Mutex
	rng *rand.Rand
}

var errBroken = errors.New("broken off")

// breakable runs a service on a flaky table.
func breakable(t *testing.T) (*running, *flaky) {
	t.Helper()
	var b *flaky
	c := unlimited()
	c.Wrap = func(to tables.Backend) tables.Backend {
		b = &flaky{Backend: to}
		return b
	}
	r := run(t, c)
	return r, b
}

// begin makes the same commits fail for the same seed.
func (b *flaky) begin(seed uint64) {
	b.off()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rng = rand.New(rand.NewPCG(seed, 1))
}

func (b *flaky) off() { b.on.Store(false) }

// broken makes some commits fail until mend is called.
func (b *flaky) broken() (mend func()) { b.on.Store(true); return b.off }

func (b *flaky) Commit(ctx context.Context, tx tables.Tx) error {
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

// played runs play repeatedly, with the number of the run from 1. It sets a flag of the
// process, so its test must not run in parallel.
func (r *running) played(t *testing.T, b *flaky, play func(t *rapid.T, n int)) {
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	defer func() { _ = checks.Set(was) }() // a valid value
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

func (r *running) playLedger(t *rapid.T, b *flaky, agents []*transcripts.Agent) {
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
				t.Fatalf("checkout: got %d %s, want 201", ans.Status, ans.Body)
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
			for again := rapid.IntRange(0, 2).Draw(t, "again"); ; again-- { // until the outcome is known, and then as often as drawn
				_, err := r.pays(a.ID, message, price)
				var not *tables.NotMoved
				switch {
				case errors.Is(err, errBroken):
					again++
				case err == nil && want != tables.AlreadyMade:
					t.Fatalf("a debit of %d with a balance of %d: got it made, want it refused", price, had)
				case errors.As(err, &not):
					if not.Why != want || not.Why != tables.AlreadyMade && not.Balance != had {
						t.Fatalf("a debit of %[4]d: got %[1]v, want %[2]v with a balance of %[3]d", *not, want, had, price)
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
				for range 200 { // until the outcome is known
					if ans.Status != 500 {
						break
					}
					ans = r.send(q)
				}
				if ans.Status != want {
					t.Fatalf("message: got %d %s, want %d", ans.Status, ans.Body, want)
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
					t.Fatalf("balance of %s: got %d, want %d", a.Name, got, m.balance[a.Name])
				}
			}
		},
	})
	report := r.audited(t)
	if got := report.Balances[tables.Revenue] - before; got != m.spent {
		t.Fatalf("revenue: got %d, want %d", got, m.spent)
	}
}

// notified delivers the payment stand-in's notifications in any order, some of them
// several times.
func (r *running) notified(t *rapid.T, b *flaky) {
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
		for range 200 { // until it is accepted, as the processor does
			if status = r.call(nil, "POST", "/_local/payments", encode(map[string]string{"do": "deliver", "event": event})).Text("status"); status == "200" {
				break
			}
		}
		if status != "200" {
			t.Fatalf("notification: got status %s, want 200", status)
		}
	}
}
