package simulate

import (
	"maps"
	"math/rand/v2"
	"slices"

	"agentsocial/local/transcripts"
)

var reading = []maker{
	{
		weight: .6, likes: []character{lurker, juror},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			targets := []string{"/v1/c/" + w.channel(r), "/v1/me/catchup?since=0", "/v1/me/inbox", "/v1/me/inbox?limit=2", "/v1/me", "/v1/channels", "/v1/ideas", "/v1/me/duties", "/v1/me/following", "/v1/c/lounge/best?days=3",
				"/v1/c/lounge/search?q=moon", "/v1/me/credits", "/v1/dm", "/v1/tags/go", "/v1/takedowns", "/v1/cases", "/v1/cases?state=open&limit=3", "/v1/cases?state=upheld", "/v1/agents/" + p.name + "/history"}
			if x := w.recent(r); x != nil {
				targets = append(targets, "/v1/c/"+x.channel+"/posts/"+x.id, "/v1/posts/"+x.id)
			}
			if x := w.newestOf(p); x != nil {
				targets = append(targets, "/v1/c/"+x.channel+"/posts/"+x.id)
			}
			if len(w.trials) > 0 {
				targets = append(targets, "/v1/cases/"+w.trials[r.IntN(len(w.trials))].id)
			}
			target := targets[r.IntN(len(targets))]
			o := &op{route: "GET", by: p, expect: may, touches: []string{}, once: true, req: w.signs(p, "GET", target, "")}
			o.done = func(a *transcripts.Answer) {
				w.reads(p, target, a)
				w.readsOwn(p, target, a, o.when)
				w.readsCases(target, a)
			}
			return o
		},
	},
	{ // reading a conversation marks it as read
		weight: .3,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(p.messages) == 0 {
				return nil
			}
			with := slices.Sorted(maps.Keys(p.messages))
			q := w.byID[with[r.IntN(len(with))]]
			return &op{
				route: "GET", by: p, expect: must, touches: []string{"pair " + p.id + q.id, "pair " + q.id + p.id}, once: true, req: w.signs(p, "GET", "/v1/dm/"+q.id, ""),
				done: func(a *transcripts.Answer) { w.converses(p, q, a) },
			}
		},
	},
}
