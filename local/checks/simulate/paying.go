package simulate

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	standin "agentsocial/local/fakes/payments"
	"agentsocial/local/transcripts"
)

var paying = []maker{
	{
		routes: []string{"POST /v1/me/credits/checkout"}, weight: .1, likes: []character{buyer, eraser},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			usd := int64(5 + r.IntN(30))
			return &op{
				route: "POST /v1/me/credits/checkout", by: p, expect: must, touches: []string{"checkout " + p.id}, quota: payMinute,
				req: w.calls(r, p, "read", "POST", "/v1/me/credits/checkout", object(map[string]any{"usd": usd})),
				done: func(a *transcripts.Answer) {
					p.sent = append(p.sent, &sale{id: a.Text("id"), url: a.Text("url"), cents: usd * 100, by: p, state: "open", at: time.Now()})
				},
			}
		},
	},
	{ // a sale changes; the processor notifies the service
		routes: []string{"POST /payments/webhook"}, weight: .2, likes: []character{buyer, eraser},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(p.sent) == 0 {
				return nil
			}
			w.pays(r, p.sent[len(p.sent)-1-r.IntN(min(3, len(p.sent)))])
			return nil
		},
	},
	{ // a forged notification
		routes: []string{"POST /payments/webhook"}, weight: .02, likes: []character{attacker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			body := object(map[string]any{"id": "evt_forged", "object": "event", "type": "checkout.session.completed", "data": map[string]any{}})
			return &op{
				route: "POST /payments/webhook", by: p, expect: never, touches: []string{},
				req: &transcripts.Request{Method: "POST", Target: "/payments/webhook", Body: []byte(body), Header: http.Header{
					"Content-Type": {"application/json"}, "Stripe-Signature": {standin.Sign([]byte(body), time.Now(), "whsec_guess")},
				}},
			}
		},
	},
	{
		routes: []string{"POST /v1/c/{ch}/promos"}, weight: .1, likes: []character{buyer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			ch, usd, days := w.channel(r), int64(5+r.IntN(4)), 1+r.IntN(6)
			body := w.wrote(p, "Buy") + " from " + p.name
			o := &op{
				route: "POST /v1/c/{ch}/promos", by: p, expect: may, touches: []string{"purse " + p.id, "board " + ch},
				req: w.calls(r, p, "promo", "POST", "/v1/c/"+ch+"/promos", object(map[string]any{"body": body, "usd": usd, "days": days})),
				done: func(a *transcripts.Answer) {
					p.spent += usd * 1_000_000
					w.promos = append(w.promos, &promo{id: a.Text("id"), channel: ch, body: body, by: p, budget: usd * 1_000_000, at: time.Now()})
				},
			}
			if _, most := w.purse(p); most < usd*1_000_000 {
				o.expect, o.codes = never, []string{"insufficient_credits", "limit_reached", "account_too_young", "recovery_hold"}
			}
			if time.Until(p.held) > near {
				o.expect = never
			}
			return o
		},
	},
}

func (w *world) pays(r *rand.Rand, s *sale) {
	do := func(o standin.Order) any {
		o.Checkout = s.id
		v, err := w.parts.Payments.Carry(o)
		if err != nil {
			w.tracef("  %s: %v", o.Do, err)
			return nil
		}
		w.tracef("  %s", o.Do)
		return v
	}
	id := func(v any) string {
		b, _ := json.Marshal(v)
		var x struct{ ID string }
		_ = json.Unmarshal(b, &x)
		return x.ID
	}
	cents := min(s.cents-s.back, 1+r.Int64N(500))
	s.at = time.Now()
	switch {
	case s.state == "open" && r.IntN(5) == 0:
		if do(standin.Order{Do: "pay", Method: "bank"}) != nil {
			s.state = "bank"
		} else {
			s.state = "ended"
		}
	case s.state == "open":
		if do(standin.Order{Do: "pay", Method: "card"}) != nil {
			s.state = "paid"
		} else {
			s.state = "ended"
		}
	case s.state == "bank" && r.IntN(3) == 0:
		do(standin.Order{Do: "bounce"})
		s.state = "ended"
	case s.state == "bank":
		do(standin.Order{Do: "settle"})
		s.state = "paid"
	case s.state != "paid" || cents < 1:
	case s.dispute != "":
		if do(standin.Order{Do: "reinstate", Dispute: s.dispute}) != nil {
			s.back -= s.disputed
		}
		s.dispute = ""
	case len(s.refunds) > 0 && r.IntN(3) == 0:
		i := r.IntN(len(s.refunds))
		if v := do(standin.Order{Do: "fail_refund", Refund: s.refunds[i]}); v != nil {
			s.back -= s.refunded[s.refunds[i]]
		}
		s.refunds = slices.Delete(s.refunds, i, i+1)
	case r.IntN(4) == 0:
		if v := do(standin.Order{Do: "refund", Cents: cents}); v != nil {
			s.back += cents
			s.refunds = append(s.refunds, id(v))
			if s.refunded == nil {
				s.refunded = map[string]int64{}
			}
			s.refunded[id(v)] = cents
		}
	case r.IntN(12) == 0:
		if v := do(standin.Order{Do: "dispute", Cents: cents}); v != nil {
			s.back += cents
			s.dispute, s.disputed = id(v), cents
		}
	}
}
