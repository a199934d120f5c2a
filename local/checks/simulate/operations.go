package simulate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// maker makes operations of one kind. It returns nil if the world has nothing to do it
// with.
type maker struct {
	routes []string // the endpoints with effects that it uses
	weight float64
	likes  []character // who does it ten times as often
	make   func(w *world, r *rand.Rand, p *person) *op
}

// makers lists what agents do. To add an endpoint, add a maker: a test holds that each
// endpoint with an effect has one.
var makers = func() []maker {
	var all []maker
	for _, some := range [][]maker{joining, posting, marking, talking, paying, judging, wishing, securing, connecting, attacking, reading} {
		all = append(all, some...)
	}
	return all
}()

// draw draws an operation.
func (w *world) draw(r *rand.Rand) *op {
	for range 20 {
		var p *person
		if len(w.people) > 0 {
			p = w.people[r.IntN(len(w.people))]
		}
		x := r.Float64() * w.weights(p)
		for _, m := range makers {
			if x -= m.of(p); x < 0 {
				if o := m.make(w, r, p); o != nil {
					return o
				}
				break
			}
		}
	}
	return nil
}

// of returns the weight of an operation for a person.
func (m *maker) of(p *person) float64 {
	if p != nil {
		for _, c := range m.likes {
			if c == p.as {
				return 10 * m.weight
			}
		}
	}
	return m.weight
}

func (w *world) weights(p *person) (sum float64) {
	for _, m := range makers {
		sum += m.of(p)
	}
	return sum
}

// object returns JSON.
func object(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// somebody returns another person than p; nil if there is none.
func (w *world) somebody(r *rand.Rand, p *person) *person {
	if len(w.people) < 2 {
		return nil
	}
	for {
		if q := w.people[r.IntN(len(w.people))]; q != p {
			return q
		}
	}
}

// recent returns a post, mostly a recent one; nil if there is none.
func (w *world) recent(r *rand.Rand) *posted {
	n := len(w.posts)
	if n == 0 {
		return nil
	}
	if r.IntN(5) > 0 {
		n = min(n, 40)
	}
	return w.posts[len(w.posts)-1-r.IntN(n)]
}

// mostPeople bounds the agents of a world.
const mostPeople = 48

var joining = []maker{
	{
		routes: []string{"POST /v1/agents", "POST /v1/challenge"}, weight: .3,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.people) >= mostPeople {
				return nil
			}
			return w.register(r, w.newcomer(r), "")
		},
	},
	{ // two keys for one handle
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
			case 0: // on condition that nothing changed
				if p.memory != nil {
					q.Header.Set("If-Match", `"`+sha(p.memory)+`"`)
				}
			case 1: // of another version
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
				done:    func(*transcripts.Answer) { p.visits[q.id] = time.Now() },
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

// register makes a registration through the challenge. handle replaces the person's.
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

// joins takes a registered person in.
func (w *world) joins(p *person, id string) {
	p.id, p.key.ID, p.at = id, id, time.Now()
	w.people = append(w.people, p)
	w.byID[id] = p
	p.told = append(p.told, &told{kind: "welcome", source: "", at: p.at, sure: true})
}

// quotas as the documents have them.
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

// public lists the channels that the service founds.
var public = []string{"lounge", "golang", "dreams"}

var posting = []maker{
	{
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: 1, likes: []character{chatter, spammer, connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			return w.writes(r, p)
		},
	},
	{ // a burst, as fast as it can
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: .01, likes: []character{spammer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			for range 7 {
				if o := w.writes(r, p); o != nil {
					w.carry(r, []*op{o})
				}
			}
			return w.writes(r, p)
		},
	},
	{ // the same body again, within a day
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: .1, likes: []character{spammer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			x := w.recent(r)
			if x == nil {
				return nil
			}
			o := &op{
				route: "POST /v1/c/{ch}/posts", by: x.by, expect: may, touches: []string{"text " + x.by.id + x.body},
				req: w.signs(x.by, "POST", "/v1/c/"+x.channel+"/posts", object(map[string]any{"body": x.body})), quota: postsMinute,
			}
			if time.Since(x.at) < 23*time.Hour+50*time.Minute {
				o.expect, o.codes = never, []string{"duplicate_post"}
			}
			o.done = func(a *transcripts.Answer) { w.posted(x.by, x.channel, x.body, nil, a.Text("id")) }
			return o
		},
	},
	{
		routes: []string{"DELETE /v1/c/{ch}/posts/{id}"}, weight: .2, likes: []character{leaver},
		make: func(w *world, r *rand.Rand, p *person) *op {
			x := w.recent(r)
			if x == nil || x.removed {
				return nil
			}
			if r.IntN(5) == 0 { // another's
				q := w.somebody(r, x.by)
				if q == nil {
					return nil
				}
				return &op{
					route: "DELETE /v1/c/{ch}/posts/{id}", by: q, expect: never, codes: []string{"not_author", "deleted"},
					req: w.signs(q, "DELETE", "/v1/c/"+x.channel+"/posts/"+x.id, ""), touches: []string{},
				}
			}
			o := &op{
				route: "DELETE /v1/c/{ch}/posts/{id}", by: x.by, expect: must, allow: []string{"deleted"}, touches: []string{"post " + x.id},
				req:  w.calls(r, x.by, "post", "DELETE", "/v1/c/"+x.channel+"/posts/"+x.id, ""),
				done: func(*transcripts.Answer) { x.deleted, x.goneAt = true, time.Now() },
			}
			if x.deleted {
				o.expect, o.codes = never, []string{"deleted"}
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/channels"}, weight: .05,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			name := fmt.Sprintf("den-%d", len(w.channels)+1)
			vent := r.IntN(3) == 0
			o := &op{
				route: "POST /v1/channels", by: p, expect: may, touches: []string{"channels"},
				req:  w.signs(p, "POST", "/v1/channels", object(map[string]any{"name": name, "kind": "leisure", "vent": vent, "about": "a den"})),
				done: func(*transcripts.Answer) { w.channels = append(w.channels, name) },
			}
			if time.Since(p.at) < 24*time.Hour-time.Minute {
				o.expect, o.codes = never, []string{"account_too_young"}
			}
			return o
		},
	},
}

// channel draws a channel.
func (w *world) channel(r *rand.Rand) string {
	all := append(append([]string{}, public...), w.channels...)
	return all[r.IntN(len(all))]
}

// writes makes a post or a reply by p.
func (w *world) writes(r *rand.Rand, p *person) *op {
	ch := w.channel(r)
	var parent *posted
	if r.IntN(2) == 0 {
		if parent = w.recent(r); parent != nil {
			ch = parent.channel
		}
	}
	w.texts++
	body := fmt.Sprintf("%s says %d: %s", p.name, w.texts, words(r))
	for range r.IntN(3) {
		if q := w.somebody(r, nil); q != nil && r.IntN(2) == 0 {
			body += " @" + q.name
		}
	}
	in := map[string]any{"body": body}
	o := &op{
		route: "POST /v1/c/{ch}/posts", by: p, expect: must, touches: []string{}, quota: postsMinute,
		done: func(a *transcripts.Answer) { w.posted(p, ch, body, parent, a.Text("id")) },
	}
	if parent != nil {
		in["parent"] = parent.id
		o.touches = []string{"post " + parent.id}
		if parent.gone() {
			o.expect, o.codes = never, []string{"deleted"}
		} else if w.judged(parent) {
			o.allow = []string{"deleted"}
		}
	}
	o.req = w.calls(r, p, "post", "POST", "/v1/c/"+ch+"/posts", object(in))
	return o
}

func words(r *rand.Rand) string {
	some := strings.Fields("moon river stone lamp goose winter letter copper meadow engine quiet harbour pepper violin anchor")
	var b strings.Builder
	for range 3 + r.IntN(8) {
		b.WriteString(some[r.IntN(len(some))] + " ")
	}
	return strings.TrimSpace(b.String())
}

// posted takes a post in, and the events that it causes.
func (w *world) posted(p *person, ch, body string, parent *posted, id string) {
	x := &posted{
		id: id, channel: ch, body: body, by: p, parent: parent, at: time.Now(), votes: map[string]int{}, reactions: map[string]map[string]bool{},
		reporters: map[string]bool{},
	}
	if w.byPost[id] != nil {
		w.violate("model", "the post %s exists twice", id)
	}
	w.posts = append(w.posts, x)
	w.byPost[id] = x
	w.byText[textOf(body)] = append(w.byText[textOf(body)], x)
	if parent != nil && parent.by != p {
		parent.by.hears("reply", id, p, true, x)
	}
	for _, q := range w.people {
		if !slices.Contains(strings.Fields(body), "@"+q.name) || q == p || parent != nil && parent.by == q {
			continue
		}
		sure := q.mentions == "anyone"
		if q.mentions == "nobody" && time.Since(q.changed) > time.Hour {
			continue
		}
		q.hears("mention", id, p, sure, x)
	}
}

// hears notes an event that p's inbox must have, or may have unless it is sure.
func (p *person) hears(kind, source string, from *person, sure bool, x *posted) {
	for _, t := range p.told {
		if t.kind == kind && t.source == source {
			return
		}
	}
	if p.blocks[from.id] {
		sure = false
	}
	p.told = append(p.told, &told{kind: kind, source: source, at: time.Now(), sure: sure, post: x, from: from})
}

// judged reports whether a case about a post may have been decided.
func (w *world) judged(x *posted) bool {
	return len(x.reporters) > 0
}

var marking = []maker{
	{
		routes: []string{"POST /v1/c/{ch}/posts/{id}/vote"}, weight: 1, likes: []character{voter},
		make: func(w *world, r *rand.Rand, p *person) *op {
			x := w.recent(r)
			if x == nil {
				return nil
			}
			v := r.IntN(3) - 1
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

var talking = []maker{
	{
		routes: []string{"POST /v1/dm/{ref}"}, weight: .6, likes: []character{buyer, chatter},
		make: func(w *world, r *rand.Rand, p *person) *op {
			q := w.somebody(r, p)
			if q == nil {
				return nil
			}
			if r.IntN(2) == 0 {
				for range 6 { // somebody who can pay
					if p.paid() > p.spent {
						break
					}
					p = w.people[r.IntN(len(w.people))]
				}
				if p == q {
					return nil
				}
			}
			w.texts++
			body := fmt.Sprintf("Psst %d, %s: %s 🌙", w.texts, q.name, words(r))
			price := int64(utf8.RuneCountInString(body)) * 10
			o := &op{
				route: "POST /v1/dm/{ref}", by: p, expect: may, touches: []string{"pair " + p.id + q.id, "pair " + q.id + p.id, "purse " + p.id, "me " + q.id}, quota: messagesMin,
				req: w.calls(r, p, "dm", "POST", "/v1/dm/"+q.name, object(map[string]any{"body": body})),
				done: func(a *transcripts.Answer) {
					if a.Text("price") != fmt.Sprint(price) {
						w.violate("model", "a message of %d characters cost %s, want %d", price/10, a.Text("price"), price)
					}
					m := &message{id: a.Text("id"), body: body, from: p, to: q, price: price}
					p.messages[q.id] = append(p.messages[q.id], m)
					q.messages[p.id] = append(q.messages[p.id], m)
					p.spent += price
					q.unread[p.id]++
					q.hears("dm", m.id, p, true, nil)
				},
			}
			least, most := w.purse(p)
			takes := q.dms == "anyone" || q.dms == "following" && q.follows["agent "+p.id]
			switch {
			case p.blocks[q.id] || most < price || q.blocks[p.id] || !takes:
				o.expect, o.codes = never, []string{"dm_refused", "insufficient_credits"}
			case time.Until(p.held) > near:
				o.expect, o.codes = never, []string{"recovery_hold", "insufficient_credits"}
			case least >= price:
				o.expect = must
			}
			o.codes = append(o.codes, "recovery_hold")
			return o
		},
	},
	{
		routes: []string{"POST /v1/dm/{ref}/{msg}/report"}, weight: .05, likes: []character{juror},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			for _, q := range w.people {
				for _, m := range p.messages[q.id] {
					if m.to != p || m.reported {
						continue
					}
					return &op{
						route: "POST /v1/dm/{ref}/{msg}/report", by: p, expect: may, touches: []string{"message " + m.id, "owner " + p.id}, quota: reportsDay,
						req: w.calls(r, p, "post", "POST", "/v1/dm/"+q.id+"/"+m.id+"/report", object(map[string]any{"reason": "It is unwanted."})),
						done: func(a *transcripts.Answer) {
							m.reported = true
							w.opens(a.Text("case"), nil, q, p)
						},
					}
				}
			}
			return nil
		},
	},
}

// purse returns the least and the most that a person may have while a step runs, in
// micro-USD: notifications and settlements may run at the same time.
func (w *world) purse(p *person) (least, most int64) {
	now := tables.MicroUSD(w.items[tables.BalanceKey(tables.AgentAccount(p.id))])
	least, most = now, now
	for _, s := range p.sent {
		if time.Since(s.at) < 3*time.Hour || len(w.notices) > 0 {
			most += s.cents * 10_000
			least -= s.cents * 10_000
		}
	}
	for _, x := range w.promos {
		if x.by == p {
			most += x.budget
		}
	}
	return least, most
}
