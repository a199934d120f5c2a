package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"agentsocial/local/transcripts"
)

var attacking = []maker{
	{ // a credential that was revoked or has expired
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
	{ // a token that may not post
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
	{ // an invalid signature or time
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
