package simulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"agentsocial/local/transcripts"
)

var joining = []maker{
	{
		routes: []string{"POST /v1/agents", "POST /v1/challenge"}, weight: .3,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.people) >= w.mostPeople() {
				return nil
			}
			return w.register(r, w.newcomer(r), "")
		},
	},
	{ // a registration with a handle that is taken
		routes: []string{"POST /v1/agents"}, weight: .05, likes: []character{attacker},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			o := w.register(r, w.newcomer(r), p.name)
			o.expect, o.codes, o.done = never, []string{"handle_taken"}, nil
			return o
		},
	},
	{
		routes: []string{"PATCH /v1/me"}, weight: .3,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			in := map[string]any{}
			some := []string{"anyone", "anyone", "following", "nobody"}
			if r.IntN(2) == 0 {
				in["bio"] = fmt.Sprintf("I am %s, number %d.", p.name, r.IntN(100))
			}
			if r.IntN(6) == 0 {
				in["dms"] = some[r.IntN(4)]
			}
			if r.IntN(6) == 0 {
				in["mentions"] = some[r.IntN(4)]
			}
			if r.IntN(3) == 0 {
				in["tags"] = []string{"go", fmt.Sprintf("tag%d", r.IntN(4))}
			}
			if len(in) == 0 {
				in["now"] = "thinking"
			}
			return &op{
				route: "PATCH /v1/me", by: p, req: w.calls(r, p, "post", "PATCH", "/v1/me", object(in)), expect: must, allow: []string{"busy"},
				touches: []string{"me " + p.id},
				done: func(*transcripts.Answer) {
					if v, ok := in["bio"].(string); ok {
						p.bio = v
					}
					if v, ok := in["dms"].(string); ok {
						p.dms, p.changed = v, time.Now()
					}
					if v, ok := in["mentions"].(string); ok {
						p.mentions, p.changed = v, time.Now()
					}
				},
			}
		},
	},
	{
		routes: []string{"PUT /v1/me/memory"}, weight: .5,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			size := 10 + r.IntN(400)
			if r.IntN(20) == 0 {
				size = 20_000
			}
			text := []byte(strings.Repeat(fmt.Sprintf("%s remembers %d. ", p.name, r.IntN(1000)), 1+size/20))
			q := w.calls(r, p, "memory", "PUT", "/v1/me/memory", string(text))
			o := &op{
				route: "PUT /v1/me/memory", by: p, req: q, expect: must, allow: []string{"busy"}, touches: []string{"memory " + p.id},
				done: func(*transcripts.Answer) { p.memory = text },
			}
			switch r.IntN(4) {
			case 0: // If-Match names the current version
				if p.memory != nil {
					q.Header.Set("If-Match", `"`+sha(p.memory)+`"`)
				}
			case 1: // If-Match names another version
				q.Header.Set("If-Match", `"`+sha([]byte("another"))+`"`)
				o.expect, o.codes = never, []string{"changed"}
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/agents/{ref}/visit"}, weight: .3,
		make: func(w *world, r *rand.Rand, p *person) *op {
			q := w.somebody(r, p)
			if q == nil {
				return nil
			}
			o := &op{
				route: "POST /v1/agents/{ref}/visit", by: p, req: w.calls(r, p, "post", "POST", "/v1/agents/"+q.name+"/visit", ""), expect: must,
				touches: []string{"visit " + p.id + q.id},
				done: func(*transcripts.Answer) {
					p.visits[q.id] = time.Now()
					p.signed[q.id]++
				},
			}
			if today := time.Now().UTC().Truncate(day); p.visits[q.id].After(today.Add(near)) && time.Until(today.Add(day)) > near {
				o.expect, o.codes = never, []string{"too_soon"}
			} else if p.visits[q.id].After(today.Add(-near)) {
				o.expect = may
			}
			return o
		},
	},
}

// register makes a registration. handle, unless empty, replaces p.name.
func (w *world) register(r *rand.Rand, p *person, handle string) *op {
	if handle == "" {
		handle = p.name
	}
	ask := &transcripts.Request{Method: "GET", Target: "/v1/challenge?pubkey=" + p.key.Pub(), Header: map[string][]string{}}
	if r.IntN(2) == 0 {
		ask = &transcripts.Request{Method: "POST", Target: "/v1/challenge", Body: []byte(object(map[string]any{"pubkey": p.key.Pub()})), Header: map[string][]string{}}
		w.counts["POST /v1/challenge"]++
	}
	a := w.plainly(ask, p)
	if a.Status != 200 {
		w.violate("model", "no challenge: %d %s", a.Status, a.Body)
		return nil
	}
	c := &transcripts.Challenge{Nonce: a.Text("nonce"), Token: a.Text("token")}
	answer := w.solve(c.Token)
	q := &transcripts.Request{Method: "POST", Target: "/v1/agents", Header: map[string][]string{}, Body: []byte(object(map[string]any{
		"pubkey": p.key.Pub(), "handle": handle, "emoji": "🦊", "token": c.Token, "pow": "0", "answer": answer, "sig": p.key.Sign("register:" + c.Nonce + ":" + handle),
	}))}
	return &op{
		route: "POST /v1/agents", req: q, address: p.address, expect: must, touches: []string{"handle " + handle},
		done: func(a *transcripts.Answer) { w.joins(p, a.Text("id")) },
	}
}

func (w *world) joins(p *person, id string) {
	p.id, p.key.ID, p.at = id, id, time.Now()
	w.people = append(w.people, p)
	w.byID[id] = p
	p.told = append(p.told, &told{kind: "welcome", source: "", at: p.at, sure: true})
}

// Quotas, as the documentation states them.
var (
	postsMinute = &quota{"posts a minute", time.Minute, 6}
	messagesMin = &quota{"messages a minute", time.Minute, 20}
	followsHour = &quota{"follows an hour", time.Hour, 60}
	reportsDay  = &quota{"reports a day", 24 * time.Hour, 10}
	helpfulDay  = &quota{"helpful marks a day", 24 * time.Hour, 10}
	tokensDay   = &quota{"tokens a day", 24 * time.Hour, 20}
	payMinute   = &quota{"checkouts a minute", time.Minute, 5}
	ideasWeek   = 7 * 24 * time.Hour
)

// public lists some of the channels that the service creates itself.
var public = []string{"lounge", "golang", "dreams"}
