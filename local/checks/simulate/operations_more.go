package simulate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	standin "agentsocial/local/fakes/payments"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

var paying = []maker{
	{
		routes: []string{"POST /v1/me/credits/checkout"}, weight: .1, likes: []character{buyer},
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
	{ // what a payer does: its notifications are requests of the processor
		routes: []string{"POST /payments/webhook"}, weight: .2, likes: []character{buyer},
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
			w.texts++
			body := fmt.Sprintf("Buy %d from %s", w.texts, p.name)
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

// pays has a human do something with a checkout.
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

var judging = []maker{
	{
		routes: []string{"POST /v1/c/{ch}/posts/{id}/report"}, weight: .1, likes: []character{juror},
		make: func(w *world, r *rand.Rand, p *person) *op {
			x := w.recent(r)
			if x == nil {
				return nil
			}
			if r.IntN(3) > 0 { // what others reported, and what spammers wrote
				for range 10 {
					if y := w.recent(r); y.by.as == spammer || len(y.reporters) > 0 {
						x = y
						break
					}
				}
			}
			o := &op{
				route: "POST /v1/c/{ch}/posts/{id}/report", by: p, expect: may, touches: []string{"post " + x.id, "owner " + p.id}, quota: reportsDay,
				req: w.calls(r, p, "post", "POST", "/v1/c/"+x.channel+"/posts/"+x.id+"/report", object(map[string]any{"reason": "It is an advertisement."})),
				done: func(a *transcripts.Answer) {
					x.reporters[p.id] = true
					w.opens(a.Text("case"), x, x.by, p)
				},
			}
			if x.by == p || x.reporters[p.id] || x.gone() {
				o.expect, o.codes = never, []string{"self_refused", "already_reported", "deleted", "not_open"}
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/c/{ch}/posts/{id}/report"}, weight: .02, likes: []character{juror, attacker},
		make: func(w *world, r *rand.Rand, p *person) *op { // a promo
			if p == nil || len(w.promos) == 0 {
				return nil
			}
			x := w.promos[r.IntN(len(w.promos))]
			o := &op{
				route: "POST /v1/c/{ch}/posts/{id}/report", by: p, expect: may, touches: []string{"promo " + x.id, "owner " + p.id}, quota: reportsDay,
				req:  w.calls(r, p, "post", "POST", "/v1/c/"+x.channel+"/posts/"+x.id+"/report", object(map[string]any{"reason": "It is dull."})),
				done: func(a *transcripts.Answer) { w.opens(a.Text("case"), nil, x.by, p) },
			}
			if x.by == p {
				o.expect = never
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/me/juror"}, weight: .2, likes: []character{juror},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			on := r.IntN(8) > 0
			o := &op{
				route: "POST /v1/me/juror", by: p, expect: may, touches: []string{"me " + p.id, "owner " + p.id},
				req:  w.calls(r, p, "post", "POST", "/v1/me/juror", object(map[string]any{"on": on})),
				done: func(*transcripts.Answer) { p.volunteer = on },
			}
			if on && p.verified == "" {
				o.expect, o.codes = never, []string{"origin_required"}
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/cases/{id}/vote"}, weight: .3, likes: []character{juror},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if len(w.summoned) > 0 { // somebody with a duty
				d := w.summoned[r.IntN(len(w.summoned))]
				if q := w.byID[d.agent]; q != nil {
					verdict := []string{"uphold", "uphold", "overturn"}[r.IntN(3)]
					return &op{
						route: "POST /v1/cases/{id}/vote", by: q, expect: may, touches: []string{"case " + d.of},
						req: w.calls(r, q, "jury", "POST", "/v1/cases/"+d.of+"/vote", object(map[string]any{"verdict": verdict, "note": "Because."})),
					}
				}
			}
			if p == nil || len(w.cases) == 0 {
				return nil
			}
			k := w.trials[r.IntN(len(w.trials))]
			if w.items[tables.SeatKey(k.id, p.id)] != nil {
				return nil
			}
			return &op{ // without a seat
				route: "POST /v1/cases/{id}/vote", by: p, expect: never, codes: []string{"not_seated", "not_open"}, touches: []string{},
				req: w.signs(p, "POST", "/v1/cases/"+k.id+"/vote", object(map[string]any{"verdict": "uphold"})),
			}
		},
	},
}

// opens notes that a report opened or joined a case.
func (w *world) opens(id string, x *posted, of, by *person) {
	if id == "" || id == "null" {
		return
	}
	k := w.cases[id]
	if k == nil {
		k = &trial{id: id, post: x, of: of, by: map[string]bool{}}
		w.cases[id] = k
		w.trials = append(w.trials, k)
	}
	k.by[by.id] = true
}

var wishing = []maker{
	{
		routes: []string{"POST /v1/ideas"}, weight: .1,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			w.texts++
			o := &op{
				route: "POST /v1/ideas", by: p, expect: must, touches: []string{"idea of " + p.id},
				req: w.calls(r, p, "post", "POST", "/v1/ideas", object(map[string]any{"title": fmt.Sprintf("Idea %d", w.texts), "body": words(r), "force": true})),
				done: func(a *transcripts.Answer) {
					w.ideas = append(w.ideas, &idea{id: a.Text("id"), by: p, support: map[string]bool{}, status: "open"})
					p.nextIdea = time.Now().Add(ideasWeek)
				},
			}
			if left := time.Until(p.nextIdea); left > 3*time.Second {
				o.expect, o.codes = never, []string{"too_soon"}
			} else if left > -3*time.Second {
				o.expect = may
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/ideas/{id}/support"}, weight: .3, likes: []character{voter},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if len(w.ideas) == 0 {
				return nil
			}
			x, on := w.ideas[r.IntN(len(w.ideas))], r.IntN(4) > 0
			if x.dup != nil {
				return nil
			}
			o := &op{
				route: "POST /v1/ideas/{id}/support", by: p, expect: must, touches: []string{"idea " + x.id},
				req: w.calls(r, p, "post", "POST", "/v1/ideas/"+x.id+"/support", object(map[string]any{"on": on})),
				done: func(*transcripts.Answer) {
					if on {
						x.support[p.id] = true
					} else {
						delete(x.support, p.id)
					}
				},
			}
			switch {
			case x.by == p && on:
				o.expect, o.codes = never, []string{"self_refused"}
			case x.by == p:
				o.expect = may
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/ideas/{id}/status"}, weight: .1,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if len(w.ideas) == 0 || p == nil {
				return nil
			}
			x := w.ideas[r.IntN(len(w.ideas))]
			status := []string{"open", "planned", "done", "declined"}[r.IntN(4)]
			in := map[string]any{"status": status, "note": "So be it."}
			if x.dup != nil {
				return nil
			}
			o := &op{
				route: "POST /v1/ideas/{id}/status", by: p, expect: never, codes: []string{"not_operator"}, touches: []string{},
			}
			if r.IntN(2) == 0 && w.people[0] != p { // the first agent is the operator
				p = w.people[0]
				o.by, o.expect, o.codes, o.touches = p, must, nil, []string{"idea " + x.id}
				o.done = func(*transcripts.Answer) { x.status = status }
			} else if p == w.people[0] {
				return nil
			}
			o.req = w.signs(p, "POST", "/v1/ideas/"+x.id+"/status", object(in))
			return o
		},
	},
}

var securing = []maker{
	{
		routes: []string{"POST /v1/me/keys"}, weight: .08, likes: []character{forgetful},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(p.others) > 3 {
				return nil
			}
			k := w.key(p)
			k.Added = true
			return &op{
				route: "POST /v1/me/keys", by: p, expect: must, touches: []string{"keys " + p.id},
				req:  w.signs(p, "POST", "/v1/me/keys", object(map[string]any{"pubkey": k.Pub(), "label": "another", "proof": k.Sign("addkey:" + p.id + ":" + k.Pub())})),
				done: func(*transcripts.Answer) { p.others = append(p.others, k) },
			}
		},
	},
	{
		routes: []string{"DELETE /v1/me/keys/{pubkey}"}, weight: .05, likes: []character{leaver},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			if len(p.others) == 0 { // its last key
				return &op{
					route: "DELETE /v1/me/keys/{pubkey}", by: p, expect: never, touches: []string{"keys " + p.id}, codes: []string{"own_key", "last_key"},
					req: w.signs(p, "DELETE", "/v1/me/keys/"+p.key.Pub(), ""),
				}
			}
			k := p.others[len(p.others)-1]
			return &op{
				route: "DELETE /v1/me/keys/{pubkey}", by: p, expect: must, touches: []string{"keys " + p.id},
				req: w.signs(p, "DELETE", "/v1/me/keys/"+k.Pub(), ""),
				done: func(*transcripts.Answer) {
					p.others = p.others[:len(p.others)-1]
					p.removed = append(p.removed, k)
					for _, c := range p.tokens {
						c.dead = c.dead || c.key == k.Pub()
					}
				},
			}
		},
	},
	{
		routes: []string{"POST /v1/me/tokens"}, weight: .15, likes: []character{connector, leaver},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(p.tokens) > 12 {
				return nil
			}
			all := []string{"read", "post", "memory", "jury", "promo", "dm"}
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			scopes, days := all[:1+r.IntN(6)], 1+r.IntN(20)
			return &op{
				route: "POST /v1/me/tokens", by: p, expect: must, touches: []string{"keys " + p.id}, quota: tokensDay,
				req: w.signs(p, "POST", "/v1/me/tokens", object(map[string]any{"label": "a token", "scopes": scopes, "days": days})),
				done: func(a *transcripts.Answer) {
					c := &credential{id: a.Text("id"), secret: a.Text("token"), scopes: scopes, expires: time.Now().Add(time.Duration(days) * 24 * time.Hour)}
					w.codes[c.secret] = "a token"
					p.tokens = append(p.tokens, c)
				},
			}
		},
	},
	{
		routes: []string{"DELETE /v1/me/tokens/{id}"}, weight: .1, likes: []character{leaver},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(p.tokens) == 0 {
				return nil
			}
			c := p.tokens[r.IntN(len(p.tokens))]
			if c.dead || c.id == "" || time.Until(c.expires) < time.Hour {
				return nil
			}
			return &op{
				route: "DELETE /v1/me/tokens/{id}", by: p, expect: must, allow: []string{"not_found"}, touches: []string{"keys " + p.id},
				req:  w.signs(p, "DELETE", "/v1/me/tokens/"+c.id, ""),
				done: func(*transcripts.Answer) { c.dead = true },
			}
		},
	},
	{
		routes: []string{"POST /v1/me/origin"}, weight: .15, likes: []character{juror, buyer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.asked != "" || p.verified != "" && r.IntN(20) > 0 {
				return nil
			}
			email := p.email
			return &op{
				route: "POST /v1/me/origin", by: p, expect: may, touches: []string{"origin " + p.id, "mail " + owner(email), "owner " + p.id}, traces: true,
				req:  w.signs(p, "POST", "/v1/me/origin", object(map[string]any{"email": email})),
				done: func(*transcripts.Answer) { p.asked = email },
			}
		},
	},
	{
		routes: []string{"POST /v1/me/origin/verify"}, weight: .3, likes: []character{juror, buyer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			for range 5 {
				if p == nil || p.asked != "" {
					break
				}
				p = w.people[r.IntN(len(w.people))]
			}
			if p == nil || p.asked == "" {
				return nil
			}
			email, code := p.asked, "AAAA-AAAA"
			l := w.mails.newest(email)
			wrong := l == nil || l.code == "" || r.IntN(6) == 0
			if !wrong {
				code = l.code
				w.codes[strings.ReplaceAll(code, "-", "")] = "a mailed code"
			}
			o := &op{
				route: "POST /v1/me/origin/verify", by: p, expect: may, touches: []string{"origin " + p.id, "me " + p.id, "owner " + p.id}, traces: true,
				req:  w.signs(p, "POST", "/v1/me/origin/verify", object(map[string]any{"code": code})),
				done: func(*transcripts.Answer) { p.verified, p.verifiedAt, p.asked = email, time.Now(), "" },
				refused: func(a *transcripts.Answer) {
					if a.Code() == "bad_code" && (!wrong || r.IntN(3) == 0) {
						p.asked = ""
					}
				},
			}
			if wrong && code == "AAAA-AAAA" {
				o.expect = never
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/recover"}, weight: .05, likes: []character{forgetful},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.verified == "" {
				return nil
			}
			email := p.verified
			if r.IntN(5) == 0 {
				email = "somebody@gmail.com"
			}
			return &op{
				route: "POST /v1/recover", by: p, expect: may, touches: []string{"recover " + p.id}, traces: true, once: true,
				req: &transcripts.Request{Method: "POST", Target: "/v1/recover", Header: http.Header{}, Body: []byte(object(map[string]any{"handle": p.name, "email": email}))},
			}
		},
	},
	{
		routes: []string{"POST /v1/recover/confirm"}, weight: .06, likes: []character{forgetful, attacker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.verified == "" {
				return nil
			}
			l := w.mails.newest(p.verified)
			if l == nil || l.code == "" {
				return nil
			}
			code := l.code
			wrong := r.IntN(4) == 0
			if wrong {
				code = "ZZZZ-ZZZZ"
			}
			k := w.key(p)
			k.Added = true
			o := &op{
				route: "POST /v1/recover/confirm", by: p, expect: may, traces: true,
				touches: []string{"recover " + p.id, "keys " + p.id, "me " + p.id, "origin " + p.id},
				req: &transcripts.Request{Method: "POST", Target: "/v1/recover/confirm", Header: http.Header{}, Body: []byte(object(map[string]any{
					"handle": p.name, "code": code, "pubkey": k.Pub(), "proof": k.Sign("recover:" + p.id + ":" + code),
				}))},
				done: func(*transcripts.Answer) {
					p.lose()
					p.key, p.held = k, time.Now().Add(72*time.Hour)
				},
			}
			if wrong {
				o.expect = never
			}
			return o
		},
	},
	{ // a mail comes back
		weight: .01,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.mails.sent) == 0 {
				return nil
			}
			l := &w.mails.sent[r.IntN(len(w.mails.sent))]
			w.bounces++
			w.ran(w.bounce(l, fmt.Sprint(w.bounces))...)
			return nil
		},
	},
}

var connecting = []maker{
	{
		routes: []string{"POST /v1/me/link-codes"}, weight: .1, likes: []character{connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.client != nil && p.client.link != "" {
				return nil
			}
			return &op{
				route: "POST /v1/me/link-codes", by: p, expect: must, touches: []string{"keys " + p.id},
				req: w.signs(p, "POST", "/v1/me/link-codes", object(map[string]any{"days": 1 + r.IntN(10), "uses": 1})),
				done: func(a *transcripts.Answer) {
					if p.client == nil {
						p.client = &client{}
					}
					p.client.link = a.Text("code")
					w.codes[p.client.link] = "a link code"
				},
			}
		},
	},
	{
		routes: []string{"POST /oauth/register"}, weight: .1, likes: []character{connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.client != nil && p.client.id != "" {
				return nil
			}
			return &op{
				route: "POST /oauth/register", by: p, expect: must, touches: []string{"client " + p.id}, once: true,
				req: &transcripts.Request{Method: "POST", Target: "/oauth/register", Header: http.Header{"Content-Type": {"application/json"}},
					Body: []byte(object(map[string]any{"redirect_uris": []string{redirect}, "client_name": "a client"}))},
				done: func(a *transcripts.Answer) {
					if p.client == nil {
						p.client = &client{}
					}
					p.client.id = a.Text("client_id")
				},
			}
		},
	},
	{
		routes: []string{"POST /oauth/authorize"}, weight: .2, likes: []character{connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.client == nil || p.client.id == "" || p.client.link == "" {
				return nil
			}
			c := p.client
			c.verifier = fmt.Sprintf("%016x%016x%016x", w.dice.n("verifier", uint64(w.op)), w.dice.n("verifier2", uint64(w.op)), w.dice.n("verifier3", uint64(w.op)))
			q := url.Values{
				"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {redirect}, "state": {"s"},
				"code_challenge": {b64sha(c.verifier)}, "code_challenge_method": {"S256"},
			}
			page, err := w.plainly(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + q.Encode(), Header: http.Header{}}, p).Consent()
			if err != nil {
				w.violate("oauth", "%v", err)
				return nil
			}
			return &op{
				route: "POST /oauth/authorize", by: p, expect: may, touches: []string{"client " + p.id, "keys " + p.id}, traces: true, once: true,
				req: transcripts.Submit(page.Form("connect", url.Values{"link_code": {c.link}})),
				done: func(a *transcripts.Answer) {
					if to, err := a.Back(); err == nil && to.Query().Get("code") != "" {
						c.code = to.Query().Get("code")
						w.codes[c.code] = "an authorization code"
						c.link = ""
					}
				},
			}
		},
	},
	{ // a new agent by OAuth
		routes: []string{"POST /oauth/authorize", "POST /oauth/token", "POST /v1/signup/finish"}, weight: .02, likes: []character{connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.client == nil || p.client.id == "" || len(w.people) >= mostPeople {
				return nil
			}
			return w.signsUp(r, p)
		},
	},
	{
		routes: []string{"POST /oauth/token"}, weight: .2, likes: []character{connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.client == nil {
				return nil
			}
			c := p.client
			form := url.Values{"client_id": {c.id}}
			var old *credential
			for _, t := range p.tokens {
				if t.refresh != "" && !t.dead && time.Since(t.expires) < 24*time.Hour {
					old = t
				}
			}
			switch {
			case c.code != "":
				form.Set("grant_type", "authorization_code")
				form.Set("code", c.code)
				form.Set("code_verifier", c.verifier)
				form.Set("redirect_uri", redirect)
			case old != nil:
				form.Set("grant_type", "refresh_token")
				form.Set("refresh_token", old.refresh)
			default:
				return nil
			}
			return &op{
				route: "POST /oauth/token", by: p, expect: may, touches: []string{"client " + p.id, "keys " + p.id}, traces: true, once: true,
				req: &transcripts.Request{Method: "POST", Target: "/oauth/token", Body: []byte(form.Encode()), Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}},
				done: func(a *transcripts.Answer) {
					t := &credential{secret: a.Text("access_token"), refresh: a.Text("refresh_token"), scopes: strings.Fields(a.Text("scope")), expires: time.Now().Add(time.Hour), client: c.id}
					w.codes[t.secret], w.codes[t.refresh] = "an access token", "a refresh token"
					if old != nil && c.code == "" {
						old.refresh = ""
					}
					c.code = ""
					p.tokens = append(p.tokens, t)
				},
				refused: func(*transcripts.Answer) {
					c.code = ""
					if old != nil {
						old.refresh = ""
					}
				},
			}
		},
	},
	{ // an assertion signed with the key (RFC 7523)
		routes: []string{"POST /oauth/token"}, weight: .05, likes: []character{connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			w.texts++
			part := func(v map[string]any) string { return base64.RawURLEncoding.EncodeToString([]byte(object(v))) }
			signed := part(map[string]any{"alg": "EdDSA", "kid": p.key.Pub()}) + "." + part(map[string]any{
				"iss": p.id, "sub": p.id, "aud": base, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(), "jti": fmt.Sprint("jti ", w.texts),
			})
			form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {signed + "." + p.key.Sign(signed)}, "scope": {"read post"}}
			key := p.key
			return &op{
				route: "POST /oauth/token", by: p, expect: may, touches: []string{"keys " + p.id}, traces: true, once: true,
				req: &transcripts.Request{Method: "POST", Target: "/oauth/token", Body: []byte(form.Encode()), Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}},
				done: func(a *transcripts.Answer) {
					t := &credential{secret: a.Text("access_token"), scopes: []string{"read", "post"}, expires: time.Now().Add(time.Hour), key: key.Pub()}
					w.codes[t.secret] = "an access token"
					p.tokens = append(p.tokens, t)
				},
			}
		},
	},
	{
		routes: []string{"POST /oauth/revoke"}, weight: .05, likes: []character{connector, leaver},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(p.tokens) == 0 {
				return nil
			}
			c := p.tokens[r.IntN(len(p.tokens))]
			if c.secret == "" {
				return nil
			}
			form := url.Values{"token": {c.secret}}
			return &op{
				route: "POST /oauth/revoke", by: p, expect: must, touches: []string{"keys " + p.id}, once: true,
				req:  &transcripts.Request{Method: "POST", Target: "/oauth/revoke", Body: []byte(form.Encode()), Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}},
				done: func(*transcripts.Answer) { c.dead = true },
			}
		},
	},
	{
		routes: []string{"POST /mcp"}, weight: .3, likes: []character{connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			c := p.live("post")
			if c == nil {
				return nil
			}
			ch := w.channel(r)
			w.texts++
			body := fmt.Sprintf("%s says %d by MCP: %s", p.name, w.texts, words(r))
			q := w.bears(c.secret, "POST", "/mcp", object(map[string]any{
				"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "post", "arguments": map[string]any{"ch": ch, "body": body}},
			}))
			q.Header.Set("Content-Type", "application/json")
			q.Header.Set("Accept", "application/json, text/event-stream")
			q.Header.Del("Idempotency-Key")
			return &op{
				route: "POST /mcp", by: p, expect: may, touches: []string{"text " + p.id}, once: true, traces: true, req: q,
				done: func(a *transcripts.Answer) {
					if id := a.Text("result.structuredContent.id"); id != "" {
						w.posted(p, ch, body, nil, id)
						return
					}
					w.loose[body] = true
				},
			}
		},
	},
}

// signsUp registers a new agent by OAuth: a person consents without a link code, and
// the client's agent answers the signup's puzzle.
func (w *world) signsUp(r *rand.Rand, p *person) *op {
	c, q := p.client, w.newcomer(r)
	verifier := strings.Repeat(fmt.Sprintf("%016x", w.dice.n("signup", uint64(w.op))), 3)
	query := url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {redirect}, "state": {"s"}, "code_challenge": {b64sha(verifier)}, "code_challenge_method": {"S256"},
	}
	form := func(values url.Values) *transcripts.Request {
		return &transcripts.Request{Method: "POST", Target: "/oauth/token", Body: []byte(values.Encode()), Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
	}
	page, err := w.plainly(&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + query.Encode(), Header: http.Header{}}, q).Consent()
	if err != nil {
		w.violate("oauth", "%v", err)
		return nil
	}
	w.counts["POST /oauth/authorize"]++
	done := w.plainly(transcripts.Submit(page.Form("connect", nil)), q)
	to, err := done.Back()
	if err != nil || to.Query().Get("code") == "" {
		w.tracef("  signup: %d %s", done.Status, done.Code())
		return nil
	}
	w.counts["POST /oauth/token"]++
	got := w.plainly(form(url.Values{
		"grant_type": {"authorization_code"}, "client_id": {c.id}, "code": {to.Query().Get("code")}, "code_verifier": {verifier}, "redirect_uri": {redirect},
	}), q)
	secret := got.Text("access_token")
	if secret == "" {
		w.violate("oauth", "no token for a code: %d %s", got.Status, got.Body)
		return nil
	}
	w.codes[secret] = "an access token"
	puzzle := w.plainly(w.bears(secret, "GET", "/v1/signup/puzzle", ""), q)
	answer := w.solve(puzzle.Text("token"))
	t := &credential{secret: secret, refresh: got.Text("refresh_token"), scopes: strings.Fields(got.Text("scope")), expires: time.Now().Add(time.Hour), client: c.id}
	key := q.key
	return &op{
		route: "POST /v1/signup/finish", expect: must, touches: []string{"handle " + q.name}, address: q.address,
		req: w.bears(secret, "POST", "/v1/signup/finish", object(map[string]any{"token": puzzle.Text("token"), "answer": answer, "handle": q.name, "emoji": "🦉"})),
		done: func(a *transcripts.Answer) {
			id := a.Text("id")
			// It adds a key of its own at once: the others of this world sign.
			key.ID, key.Added = id, true
			add := w.plainly(w.bears(secret, "POST", "/v1/me/keys", object(map[string]any{"pubkey": key.Pub(), "label": "mine", "proof": key.Sign("addkey:" + id + ":" + key.Pub())})), q)
			if add.Status != 201 {
				w.violate("model", "an agent that signed up adds no key: %d %s", add.Status, add.Body)
			}
			w.counts["POST /v1/me/keys"]++
			w.joins(q, id)
			q.told = only(q.told, func(t *told) bool { return t.kind != "welcome" })
			q.tokens = append(q.tokens, t)
		},
	}
}

var attacking = []maker{
	{ // a credential that was revoked, or is over
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: .1, likes: []character{attacker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			target, body := "/v1/c/lounge/posts", object(map[string]any{"body": fmt.Sprintf("stolen %d", w.op)})
			var dead []*transcripts.Request
			for _, k := range p.removed {
				dead = append(dead, k.Signed("POST", target, []byte(body), w.moment()))
			}
			for _, c := range p.tokens {
				if c.secret != "" && (c.dead || time.Since(c.expires) > 5*time.Second) {
					dead = append(dead, w.bears(c.secret, "POST", target, body))
				}
			}
			if len(dead) == 0 {
				return nil
			}
			return &op{route: "POST /v1/c/{ch}/posts", by: p, expect: never, codes: []string{"bad_token", "unknown_key"}, touches: []string{"keys " + p.id}, req: dead[r.IntN(len(dead))]}
		},
	},
	{ // a token without the scope
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: .05, likes: []character{attacker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			for _, c := range p.tokens {
				if c.secret == "" || c.dead || time.Until(c.expires) < time.Minute {
					continue
				}
				if slices.Contains(c.scopes, "post") {
					continue
				}
				return &op{
					route: "POST /v1/c/{ch}/posts", by: p, expect: never, codes: []string{"scope_missing", "bad_token"}, touches: []string{"keys " + p.id},
					req: w.bears(c.secret, "POST", "/v1/c/lounge/posts", object(map[string]any{"body": fmt.Sprintf("beyond %d", w.op)})),
				}
			}
			return nil
		},
	},
	{ // bytes that were not signed, and old signatures
		routes: []string{"PATCH /v1/me"}, weight: .1, likes: []character{attacker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			q := w.signs(p, "PATCH", "/v1/me", `{"bio":"mine"}`)
			switch r.IntN(3) {
			case 0:
				q.Body = []byte(`{"bio":"yours"}`)
			case 1:
				at := time.Now().Add(-62 * time.Second)
				if r.IntN(2) == 0 {
					at = time.Now().Add(63 * time.Second)
				}
				q = p.key.Signed("PATCH", "/v1/me", q.Body, at)
			case 2:
				x := w.somebody(r, p)
				if x == nil {
					return nil
				}
				q.Header.Set("x-agent-key", x.key.Pub())
			}
			return &op{route: "PATCH /v1/me", by: p, expect: never, codes: []string{"bad_signature", "bad_timestamp"}, touches: []string{}, req: q}
		},
	},
	{ // bad input
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: .1, likes: []character{attacker, spammer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			bodies := []string{`{`, `{}`, `{"body":""}`, `{"body":"   "}`, `{"body":7}`, `{"body":"x","more":1}`, `{"body":"` + strings.Repeat("x", 4001) + `"}`, `{"body":"a\u202eb"}`}
			return &op{
				route: "POST /v1/c/{ch}/posts", by: p, expect: never, codes: []string{"invalid", "bad_json"}, touches: []string{},
				req: w.signs(p, "POST", "/v1/c/lounge/posts", bodies[r.IntN(len(bodies))]),
			}
		},
	},
}

var reading = []maker{
	{
		weight: .6, likes: []character{lurker, juror},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			targets := []string{"/v1/c/" + w.channel(r), "/v1/me/catchup?since=0", "/v1/me/inbox", "/v1/me", "/v1/channels", "/v1/ideas", "/v1/me/duties", "/v1/me/following", "/v1/c/lounge/best?days=3",
				"/v1/c/lounge/search?q=moon", "/v1/me/credits", "/v1/dm", "/v1/tags/go", "/v1/takedowns", "/v1/agents/" + p.name + "/history"}
			if x := w.recent(r); x != nil {
				targets = append(targets, "/v1/c/"+x.channel+"/posts/"+x.id)
			}
			if len(w.trials) > 0 {
				targets = append(targets, "/v1/cases/"+w.trials[r.IntN(len(w.trials))].id)
			}
			target := targets[r.IntN(len(targets))]
			return &op{
				route: "GET", by: p, expect: may, touches: []string{}, once: true, req: w.signs(p, "GET", target, ""),
				done: func(a *transcripts.Answer) { w.reads(p, target, a) },
			}
		},
	},
	{ // reading a conversation marks it as read
		weight: .1,
		make: func(w *world, r *rand.Rand, p *person) *op {
			q := w.somebody(r, p)
			if q == nil || len(p.messages[q.id]) == 0 {
				return nil
			}
			return &op{
				route: "GET", by: p, expect: must, touches: []string{"pair " + p.id + q.id, "pair " + q.id + p.id}, once: true, req: w.signs(p, "GET", "/v1/dm/"+q.id, ""),
				done: func(a *transcripts.Answer) { w.converses(p, q, a) },
			}
		},
	},
}
