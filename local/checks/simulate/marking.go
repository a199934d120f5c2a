package simulate

import (
	"math/rand/v2"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

var marking = []maker{
	{
		routes: []string{"POST /v1/c/{ch}/posts/{id}/vote"}, weight: 1, likes: []character{voter},
		make: func(w *world, r *rand.Rand, p *person) *op {
			x := w.recent(r)
			if x == nil {
				return nil
			}
			return w.votes(r, p, x, r.IntN(3)-1)
		},
	},
	{ // a vote by the operator, to give an agent its first voucher
		routes: []string{"POST /v1/c/{ch}/posts/{id}/vote"}, weight: .3,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			for range 5 {
				x := w.recent(r)
				if x != nil && x.by != w.people[0] && x.by.verified != "" && w.items[tables.CountersKey(x.by.id)]["vouchers"] == nil {
					return w.votes(r, w.people[0], x, 1)
				}
			}
			return nil
		},
	},
	{
		routes: []string{"POST /v1/c/{ch}/posts/{id}/react"}, weight: .5, likes: []character{lurker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			x := w.recent(r)
			if x == nil {
				return nil
			}
			emoji := []string{"🎉", "🔥", "🦉", "🌙", "🍄"}[r.IntN(5)]
			on := r.IntN(4) > 0
			mine := x.reactions[p.id]
			o := &op{
				route: "POST /v1/c/{ch}/posts/{id}/react", by: p, expect: must, allow: []string{}, touches: []string{"post " + x.id},
				req: w.calls(r, p, "post", "POST", "/v1/c/"+x.channel+"/posts/"+x.id+"/react", object(map[string]any{"emoji": emoji, "on": on})),
				done: func(*transcripts.Answer) {
					if x.reactions[p.id] == nil {
						x.reactions[p.id] = map[string]bool{}
					}
					if on {
						x.reactions[p.id][emoji] = true
					} else {
						delete(x.reactions[p.id], emoji)
					}
				},
			}
			switch {
			case x.gone():
				o.expect, o.codes = never, []string{"deleted"}
			case on && len(mine) >= 3 && !mine[emoji]:
				o.expect, o.codes = never, []string{"limit_reached"}
			}
			if w.judged(x) {
				o.allow = append(o.allow, "deleted")
				o.codes = append(o.codes, "deleted")
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/c/{ch}/posts/{id}/helpful"}, weight: .4, likes: []character{lurker, voter},
		make: func(w *world, r *rand.Rand, _ *person) *op {
			var x *posted
			for range 10 {
				if x = w.recent(r); x == nil || x.parent != nil {
					break
				}
			}
			if x == nil || x.parent == nil {
				return nil
			}
			p := x.parent.by
			o := &op{
				route: "POST /v1/c/{ch}/posts/{id}/helpful", by: p, expect: must, touches: []string{"post " + x.id, "post " + x.parent.id}, quota: helpfulDay,
				req:  w.calls(r, p, "post", "POST", "/v1/c/"+x.channel+"/posts/"+x.id+"/helpful", ""),
				done: func(*transcripts.Answer) { x.helpful = true },
			}
			o.codes = []string{"deleted", "self_refused", "already_marked"}
			if x.gone() || x.by == p || x.helpful {
				o.expect = never
			} else if x.parent.gone() {
				o.expect = may
			}
			if w.judged(x) || w.judged(x.parent) {
				o.allow = []string{"deleted"}
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/me/follow"}, weight: .5, likes: []character{lurker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			on := r.IntN(4) > 0
			kind, target, name := "channel", w.channel(r), ""
			name = "channel " + target
			if q := w.somebody(r, p); q != nil && r.IntN(2) == 0 {
				kind, target, name = "agent", q.id, "agent "+q.id
			}
			o := &op{
				route: "POST /v1/me/follow", by: p, expect: must, touches: []string{"follow " + p.id + name, "pair " + p.id + target},
				req: w.calls(r, p, "post", "POST", "/v1/me/follow", object(map[string]any{"kind": kind, "target": target, "on": on})),
				done: func(*transcripts.Answer) {
					if on != p.follows[name] {
						p.changed = time.Now()
					}
					if on {
						p.follows[name] = true
					} else {
						delete(p.follows, name)
					}
				},
			}
			if on && !p.follows[name] {
				o.quota = followsHour
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/me/blocks"}, weight: .1,
		make: func(w *world, r *rand.Rand, p *person) *op {
			q := w.somebody(r, p)
			if q == nil {
				return nil
			}
			on := r.IntN(2) == 0
			return &op{
				route: "POST /v1/me/blocks", by: p, expect: must, touches: []string{"pair " + p.id + q.id, "pair " + q.id + p.id},
				req: w.calls(r, p, "post", "POST", "/v1/me/blocks", object(map[string]any{"target": q.id, "on": on})),
				done: func(*transcripts.Answer) {
					if on {
						p.blocks[q.id] = true
					} else {
						delete(p.blocks, q.id)
					}
					p.changed, q.changed = time.Now(), time.Now()
				},
			}
		},
	},
}

func (w *world) votes(r *rand.Rand, p *person, x *posted, v int) *op {
	o := &op{
		route: "POST /v1/c/{ch}/posts/{id}/vote", by: p, expect: must, touches: []string{"post " + x.id},
		req:  w.calls(r, p, "post", "POST", "/v1/c/"+x.channel+"/posts/"+x.id+"/vote", object(map[string]any{"v": v})),
		done: func(*transcripts.Answer) { x.votes[p.id] = v },
	}
	switch {
	case x.gone():
		o.expect, o.codes = never, []string{"deleted", "self_refused"}
	case x.by == p:
		o.expect, o.codes = never, []string{"self_refused"}
	case v < 0:
		o.allow = []string{"downvote_refused"}
	}
	if w.judged(x) {
		o.allow = append(o.allow, "deleted")
		o.codes = append(o.codes, "deleted")
	}
	return o
}
