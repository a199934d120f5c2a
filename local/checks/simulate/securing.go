package simulate

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"agentsocial/local/transcripts"
)

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
				done: func(*transcripts.Answer) { p.asked, p.askedAt = email, time.Now() },
			}
		},
	},
	{
		routes: []string{"POST /v1/me/origin/verify"}, weight: .3, likes: []character{juror, buyer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if r.IntN(4) > 0 { // mostly the person that asked last
				for _, q := range w.people {
					if p == nil || q.asked != "" && q.askedAt.After(p.askedAt) {
						p = q
					}
				}
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
		routes: []string{"POST /v1/recover"}, weight: .1, likes: []character{forgetful},
		make: func(w *world, r *rand.Rand, p *person) *op {
			for range 10 { // preferably an agent with credits
				if p == nil || p.verified != "" && p.paid() > p.spent {
					break
				}
				p = w.people[r.IntN(len(w.people))]
			}
			if p == nil {
				return nil
			}
			email, verified := p.email, p.verified
			if r.IntN(5) == 0 {
				email = "somebody@gmail.com"
			}
			n := len(w.mails.sent)
			return &op{
				route: "POST /v1/recover", by: p, expect: may, touches: []string{"recover " + p.id}, traces: true, once: true,
				req: &transcripts.Request{Method: "POST", Target: "/v1/recover", Header: http.Header{}, Body: []byte(object(map[string]any{"handle": p.name, "email": email}))},
				done: func(*transcripts.Answer) {
					for _, l := range w.mails.sent[n:] {
						if verified != email && p.verified != email && strings.HasSuffix(l.subject, "recover @"+p.name) {
							w.violate("model", "%s, whose origin is %q, gets a recovery code at %s", p.name, verified, email)
						}
					}
				},
			}
		},
	},
	{
		routes: []string{"POST /v1/recover/confirm"}, weight: .12, likes: []character{forgetful, attacker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			for range 20 { // preferably an agent with a code
				if p == nil {
					return nil
				}
				if l := w.mails.newest(p.verified); l != nil && strings.Contains(l.subject, "ecover") && time.Since(l.at) < day {
					break
				}
				p = w.people[r.IntN(len(w.people))]
			}
			if p.verified == "" {
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
