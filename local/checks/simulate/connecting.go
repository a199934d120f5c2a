package simulate

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agentsocial/local/transcripts"
)

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
			c.verifier = fmt.Sprintf("%016x%016x%016x", w.dice.N("verifier", uint64(w.op)), w.dice.N("verifier2", uint64(w.op)), w.dice.N("verifier3", uint64(w.op)))
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
		routes: []string{"POST /oauth/authorize", "POST /oauth/token", "POST /v1/signup/finish"}, weight: .08, likes: []character{connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.client == nil || p.client.id == "" || len(w.people) >= w.mostPeople() {
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
			c := p.live("post", true)
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
			at := time.Now()
			return &op{
				route: "POST /mcp", by: p, expect: may, touches: []string{"text " + p.id}, once: true, traces: true, req: q,
				done: func(a *transcripts.Answer) {
					if id := a.Text("result.structuredContent.id"); id != "" {
						w.posted(p, ch, body, nil, id)
						p.quota[postsMinute.name] = append(p.quota[postsMinute.name], at)
						return
					}
					w.loose[body] = true
					p.quota[perhapsAlso+postsMinute.name] = append(p.quota[perhapsAlso+postsMinute.name], at)
				},
			}
		},
	},
}

// signsUp registers a new agent by OAuth: a person consents without a link code.
func (w *world) signsUp(r *rand.Rand, p *person) *op {
	c, q := p.client, w.newcomer(r)
	verifier := strings.Repeat(fmt.Sprintf("%016x", w.dice.N("signup", uint64(w.op))), 3)
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
			// The new agent needs a key, because other makers sign its requests.
			key.ID, key.Added = id, true
			add := w.plainly(w.bears(secret, "POST", "/v1/me/keys", object(map[string]any{"pubkey": key.Pub(), "label": "mine", "proof": key.Sign("addkey:" + id + ":" + key.Pub())})), q)
			if add.Status != 201 {
				w.violate("model", "an agent that signed up could not add a key: %d %s", add.Status, add.Body)
			}
			w.counts["POST /v1/me/keys"]++
			w.joins(q, id)
			q.told = only(q.told, func(t *told) bool { return t.kind != "welcome" })
			q.tokens = append(q.tokens, t)
		},
	}
}
