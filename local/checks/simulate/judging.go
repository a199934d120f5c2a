package simulate

import (
	"math/rand/v2"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

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
