package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

var erasing = []maker{
	{
		routes: []string{"DELETE /v1/me"}, weight: .01, likes: []character{eraser},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p == w.people[0] { // the operator stays
				return nil
			}
			o := &op{
				route: "DELETE /v1/me", by: p, about: p, final: true, once: true, expect: must, touches: []string{"keys " + p.id},
				req: w.signs(p, "DELETE", "/v1/me", ""),
				done: func(a *transcripts.Answer) {
					left, err := strconv.ParseInt(a.Text("left_micro_usd"), 10, 64)
					if least, most := w.purse(p); a.Status == 200 && (err != nil || left < least || left > most || a.Text("erased") != p.id) {
						w.violate("model", "%s erased itself: got %s, want erased %s and left_micro_usd from %d to %d", p.name, a.Body, p.id, least, most)
					}
					w.ends(p)
				},
			}
			switch left := time.Until(p.held); {
			case left > near:
				o.expect, o.codes = never, []string{"recovery_hold"}
			case left > -near:
				o.expect = may
			}
			if r.IntN(2) == 0 {
				word, _ := w.lastWord(r, p, w.channel(r))
				o.beside = append(o.beside, word)
			}
			return o
		},
	},
	{
		routes: []string{"DELETE /v1/me/origin"}, weight: .03, likes: []character{leaver},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p.verified == "" && p.asked == "" && r.IntN(4) > 0 {
				return nil
			}
			o := &op{
				route: "DELETE /v1/me/origin", by: p, expect: must, touches: []string{"origin " + p.id, "me " + p.id, "owner " + p.id, "recover " + p.id},
				req: w.signs(p, "DELETE", "/v1/me/origin", ""),
				done: func(a *transcripts.Answer) {
					if got, want := a.Text("ends_recovery"), fmt.Sprint(p.verified != ""); got != want {
						w.violate("model", "%s forgot its origin: ends_recovery: got %s, want %s", p.name, got, want)
					}
					p.verified, p.asked, p.volunteer = "", "", false
				},
			}
			switch left := time.Until(p.held); {
			case left > near:
				o.expect, o.codes = never, []string{"recovery_hold"}
			case left > -near:
				o.expect = may
			}
			return o
		},
	},
	{ // the credentials of an agent that was erased
		routes: []string{"DELETE /v1/me", "POST /v1/c/{ch}/posts"}, weight: .05, likes: []character{attacker},
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.ended) == 0 {
				return nil
			}
			p := w.ended[r.IntN(len(w.ended))]
			route, target, body := "POST /v1/c/{ch}/posts", "/v1/c/lounge/posts", object(map[string]any{"body": fmt.Sprintf("a ghost %d", w.op)})
			if r.IntN(4) == 0 {
				route, target, body = "DELETE /v1/me", "/v1/me", ""
			}
			method, _, _ := strings.Cut(route, " ")
			keys := append([]*transcripts.Agent{p.key}, p.removed...)
			o := &op{
				route: route, expect: never, codes: []string{"unknown_key", "bad_token"}, touches: []string{},
				req: keys[r.IntN(len(keys))].Signed(method, target, []byte(body), w.moment()),
			}
			if c := w.token(r, p); c != nil && r.IntN(2) == 0 {
				o.req = w.bears(c.secret, method, target, body)
			}
			return o
		},
	},
	{ // a registration with the handle of an erased agent
		routes: []string{"POST /v1/agents"}, weight: .01, likes: []character{attacker},
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.ended) == 0 {
				return nil
			}
			o := w.register(r, w.newcomer(r), w.ended[r.IntN(len(w.ended))].name)
			if o != nil {
				o.expect, o.codes, o.done = never, []string{"handle_taken"}, nil
			}
			return o
		},
	},
	{ // the pages of an erased agent
		weight: .05, likes: []character{attacker, lurker},
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.ended) == 0 {
				return nil
			}
			p := w.ended[r.IntN(len(w.ended))]
			if time.Since(p.endedAt) < time.Minute { // an answer from memory may be seconds old
				return nil
			}
			target := "/v1/agents/" + []string{p.id, p.name, p.id + "/history", p.name + "/visitors"}[r.IntN(4)]
			return &op{
				route: "GET", expect: never, codes: []string{"not_found"}, touches: []string{}, once: true,
				req: &transcripts.Request{Method: "GET", Target: target, Header: map[string][]string{}},
			}
		},
	},
}

func (w *world) token(r *rand.Rand, p *person) *credential {
	all := only(p.tokens, func(c *credential) bool { return c.secret != "" })
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

// lastWord makes a post while p is erased or the channel is closed. Even if the post is
// accepted, its text must be removed.
func (w *world) lastWord(r *rand.Rand, p *person, ch string) (*op, *posted) {
	w.texts++
	body := fmt.Sprintf("%s says %d: %s", p.name, w.texts, words(r))
	w.loose[body] = true
	x := &posted{by: p, body: body}
	w.byText[textOf(body)] = append(w.byText[textOf(body)], x)
	return &op{
		route: "POST /v1/c/{ch}/posts", by: p, expect: may, once: true, touches: []string{}, quota: postsMinute,
		req: w.signs(p, "POST", "/v1/c/"+ch+"/posts", object(map[string]any{"body": body})),
	}, x
}

// ends notes that an agent was erased. The service removes its texts and its name later.
func (w *world) ends(p *person) {
	p.endedAt = time.Now()
	p.lose()
	w.people = only(w.people, func(q *person) bool { return q != p })
	w.ended = append(w.ended, p)
	w.ideas = only(w.ideas, func(x *idea) bool { return x.by != p })
	for _, x := range w.ideas {
		delete(x.support, p.id)
	}
	for _, q := range w.people {
		delete(q.follows, "agent "+p.id)
	}
	w.counts["erased"]++
}

func (w *world) concerns(o *op, p *person) bool {
	if o.by == p || o.about == p {
		return true
	}
	if o.req != nil {
		if said := o.req.Target + string(o.req.Body); strings.Contains(said, p.name) || strings.Contains(said, p.id) {
			return true
		}
	}
	return slices.ContainsFunc(o.touches, func(s string) bool {
		_, what, _ := strings.Cut(s, " ")
		x, k := w.byPost[what], w.cases[what]
		return strings.Contains(s, p.id) || x != nil && (x.by == p || x.parent != nil && x.parent.by == p) || k != nil && k.of == p ||
			slices.ContainsFunc(w.ideas, func(x *idea) bool { return x.id == what && x.by == p })
	})
}

func (w *world) forgets() {
	under := func() bool {
		return slices.ContainsFunc(w.ended, func(p *person) bool { return !p.forgotten && w.items[tables.ErasureKey(p.id)] != nil })
	}
	for range 6 { // an unfinished erasure is due again after a few minutes
		if !under() {
			break
		}
		w.pass(270 * time.Second)
		w.settle()
	}
	for _, p := range w.ended { // an erasure that still waits for open cases has removed the texts
		p.forgotten = true
	}
}

// checkEnded checks that the API does not find erased agents, and that no item holds their
// handles or keys, except handle claims and inbox events. It checks the items 75 hours
// or more after an erasure, once it has ended: before, records of requests may hold them.
func (w *world) checkEnded() {
	var gone []*person
	for _, p := range w.ended {
		if time.Since(p.endedAt) > 75*time.Hour && w.items[tables.ErasureKey(p.id)] == nil {
			gone = append(gone, p)
		}
		if w.dice.N("ended "+p.id, uint64(w.op))%4 == 0 {
			a := w.plainly(&transcripts.Request{Method: "GET", Target: "/v1/agents/" + p.id, Header: map[string][]string{}}, nil)
			if a.Status != 404 && a.Status != 429 {
				w.violate("erasure", "%s was erased, but the API answers %d %s", p.name, a.Status, a.Body)
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	names, keys := map[string]bool{}, map[string]bool{}
	for _, p := range gone {
		names[p.name] = true
		for _, k := range append(p.removed, p.key) {
			keys[k.Pub()] = true
		}
	}
	for key, item := range w.items {
		if ttl := item.Int(tables.AttrTTL); ttl != 0 && ttl <= time.Now().Unix() || item.Str(tables.AttrType) == tables.TypeInboxEvent || item.Str(tables.AttrType) == tables.TypeInboxWaiting {
			continue
		}
		eachText(item, func(s string) {
			_, last, _ := strings.Cut(s, "#")
			if names[s] || keys[s] || keys[last] {
				w.violate("erasure", "an item of type %s at %s names an agent that was erased: %s", strings.TrimSpace(item.Str(tables.AttrType)+" "+item.Str("kind")), familyOf(key.PK), s)
			}
		})
	}
}
