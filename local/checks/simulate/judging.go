package simulate

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

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
			if r.IntN(3) > 0 { // preferably a reported post, or one by a spammer
				for range 10 {
					if y := w.recent(r); y != nil && (y.by.as == spammer || len(y.reporters) > 0) {
						x = y
						break
					}
				}
			}
			o := &op{
				route: "POST /v1/c/{ch}/posts/{id}/report", by: p, expect: may, touches: []string{"post " + x.id, "owner " + p.id}, quota: reportsDay,
				req: w.calls(r, p, "post", "POST", "/v1/c/"+x.channel+"/posts/"+x.id+"/report", object(map[string]any{"reason": w.wrote(p, "Claim") + ": it is an advertisement."})),
				done: func(a *transcripts.Answer) {
					in := a.Text("case")
					// A report without a case waits. The agent may repeat it once its
					// reports count.
					x.reporters[p.id] = in != "" && in != "null"
					w.opens(in, x, x.by, p)
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
				req:  w.calls(r, p, "post", "POST", "/v1/c/"+x.channel+"/posts/"+x.id+"/report", object(map[string]any{"reason": w.wrote(p, "Claim") + ": it is dull."})),
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
						req: w.calls(r, q, "jury", "POST", "/v1/cases/"+d.of+"/vote", object(map[string]any{"verdict": verdict, "note": w.wrote(q, "Note") + ": because."})),
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
	{
		routes: []string{"POST /v1/cases/{id}/appeal"}, weight: .15, likes: []character{spammer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(w.trials) == 0 {
				return nil
			}
			return w.appeals(r, p)
		},
	},
}

func (w *world) appeals(r *rand.Rand, p *person) *op {
	var k *trial
	var c tables.Case
	for range 10 { // preferably of an upheld case
		k = w.trials[r.IntN(len(w.trials))]
		c = tables.Case{}
		if err := tables.Unmarshal(w.items[tables.CaseKey(k.id)], &c); err != nil {
			w.violate("model", "%v", err)
			return nil
		}
		if c.State == tables.CaseUpheld {
			break
		}
	}
	if c.ID == "" { // the stream has not brought the case yet
		return nil
	}
	by := k.of
	if r.IntN(6) == 0 {
		by = p
	}
	o := &op{
		route: "POST /v1/cases/{id}/appeal", by: by, expect: may, touches: []string{"case " + k.id, c.Kind + " " + c.Target},
		req: w.calls(r, by, "post", "POST", "/v1/cases/"+k.id+"/appeal", object(map[string]any{"reason": w.wrote(by, "Plea") + ": it is art."})),
		done: func(a *transcripts.Answer) {
			again := &trial{id: a.Text("appeal"), post: k.post, of: k.of, by: k.by}
			w.cases[again.id] = again
			w.trials = append(w.trials, again)
			if k.post != nil {
				k.post.appeal = again.id
			}
		},
	}
	left := time.Until(time.UnixMilli(c.ClosedAt + tables.AppealWithin.Milliseconds()))
	switch {
	case by != k.of:
		o.expect, o.codes = never, []string{"not_author"}
	case c.Appeals != "", c.Appeal != "", c.State == tables.CaseOverturned, c.State == tables.CaseLapsed, c.State == tables.CaseUpheld && left < -near:
		o.expect, o.codes = never, []string{"not_open"}
	case c.State == tables.CaseUpheld && left > near && w.items[tables.EvidenceKey(c.ID)].Str("body") != "":
		o.expect = must
	}
	return o
}

// readsCases checks the order and the states of a list of cases.
func (w *world) readsCases(target string, a *transcripts.Answer) {
	path, query, _ := strings.Cut(target, "?")
	if path != "/v1/cases" || a.Status != 200 {
		return
	}
	var list struct{ Items []struct{ ID, State string } }
	asked, err := url.ParseQuery(query)
	if err := errors.Join(err, json.Unmarshal(a.Body, &list)); err != nil {
		w.violate("cases", "%s: %v", target, err)
	}
	last := "ca_~"
	for _, k := range list.Items {
		open := k.State == tables.CaseSeating || k.State == tables.CaseVoting
		if state := asked.Get("state"); state != "" && state != k.State && (state != "open" || !open) {
			w.violate("cases", "%s lists %s, which is %s", target, k.ID, k.State)
		}
		if k.ID >= last {
			w.violate("cases", "%s lists %s after %s", target, k.ID, last)
		}
		last = k.ID
	}
}

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
