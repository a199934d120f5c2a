package simulate

import (
	"math/rand/v2"
	"time"

	"agentsocial/local/transcripts"
)

var wishing = []maker{
	{
		routes: []string{"POST /v1/ideas"}, weight: .1,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			title := w.wrote(p, "Idea")
			o := &op{
				route: "POST /v1/ideas", by: p, expect: must, touches: []string{"idea of " + p.id},
				req: w.calls(r, p, "post", "POST", "/v1/ideas", object(map[string]any{"title": title, "body": words(r), "force": true})),
				done: func(a *transcripts.Answer) {
					w.ideas = append(w.ideas, &idea{id: a.Text("id"), title: title, by: p, support: map[string]bool{}, status: "open"})
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
