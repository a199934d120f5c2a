package scale

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"time"

	"agentsocial/functions/agents"
	"agentsocial/local/tools/bench"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// agent is a synthetic agent. It lives in a circle of agents that share a channel and follow
// each other. So the load of its partitions does not depend on the size of the network.
type agent struct {
	*transcripts.Agent
	n      int
	circle int
	at     int64 // unix ms of its newest signature: equal requests in the same millisecond count as one
}

// channel is the channel of a circle, or the hub.
type channel struct {
	name   string
	token  string    // bearer token of the circle's first agent
	posts  []*posted // the newest
	idea   string    // id of the circle's newest idea
	thread *posted   // a post with replies
}

type posted struct {
	id, channel string
	by          *agent
	root        *posted // the post to which this one replies, if any
}

type request struct {
	*transcripts.Request
	by   *agent
	addr string
	done func(*transcripts.Answer) *request // may be nil; gets an answer with a status 2xx, and returns the next request or nil
}

func (r *request) from() string {
	if r.addr != "" {
		return r.addr
	}
	if r.by == nil {
		return "192.0.2.1"
	}
	return address(r.by.n)
}

func address(n int) string { return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255) }

const keptPosts = 20

// furnish makes what exists before the scenario begins.
func (w *world) furnish() error {
	old := time.Now().Add(-48 * time.Hour)
	circles := (w.s.Agents + w.s.Circle - 1) / w.s.Circle
	found := func(name string) (*channel, error) {
		c := &tables.Channel{Name: name, Kind: tables.KindWork, About: "A circle.", CreatedAt: old.UnixMilli()}
		return &channel{name: name}, w.put(tables.Put(c.Item()))
	}
	for i := range circles {
		c, err := found(fmt.Sprintf("circle%d", i))
		if err != nil {
			return err
		}
		w.channels = append(w.channels, c)
	}
	if w.s.Hub {
		var err error
		if w.hub, err = found("hub"); err != nil {
			return err
		}
	}
	for i := range w.s.Agents {
		a := &agent{Agent: transcripts.NewAgent(fmt.Sprintf("agent%d", i)), n: i + 1, circle: i / w.s.Circle}
		if err := w.put(a.Joined(id.Agent.New(old, w.app.Rand), old)...); err != nil {
			return err
		}
		if err := w.put(transcripts.Credit(a.ID, 100_000_000, old, a.Name)...); err != nil {
			return err
		}
		w.people = append(w.people, a)
	}
	follow := func(a *agent, kind, target, handle string) error {
		f := &tables.Follow{ID: id.Event.New(old, w.app.Rand), Agent: a.ID, Kind: kind, Target: target, Handle: handle}
		return w.put(tables.Put(f.Item()))
	}
	for _, a := range w.people {
		for i := range min(followed, circles) {
			c := w.channels[(a.circle+i)%circles]
			if w.hub != nil && i == 0 {
				c = w.hub
			}
			if err := follow(a, tables.FollowChannel, c.name, ""); err != nil {
				return err
			}
		}
		for i := 1; i <= followed && i < w.s.Circle; i++ {
			if b := w.neighbour(a, i); b != a {
				if err := follow(a, tables.FollowAgent, b.ID, b.Name); err != nil {
					return err
				}
			}
		}
	}
	if w.s.Star {
		w.star = w.people[0]
	}
	for i, c := range w.channels {
		a := w.people[i*w.s.Circle]
		if err := w.setUp(w.posts(a, c, nil)); err != nil {
			return err
		}
		c.thread = c.posts[0]
		mint := w.signs(a, "POST", "/v1/me/tokens", fields{"label": "mcp", "scopes": []string{"read"}})
		mint.done = func(got *transcripts.Answer) *request { c.token = got.Text("token"); return nil }
		if err := w.setUp(mint); err != nil {
			return err
		}
		if err := w.setUp(w.posts(w.neighbour(a, 1), c, c.thread)); err != nil {
			return err
		}
	}
	if w.hub != nil {
		if err := w.setUp(w.posts(w.people[0], w.hub, nil)); err != nil {
			return err
		}
		w.hub.thread = w.hub.posts[0]
	}
	w.hot = w.channels[0].thread
	return nil
}

// followed bounds the number of channels, and of agents, that an agent follows.
const followed = 5

// neighbour returns the agent that is i places after a in a's circle.
func (w *world) neighbour(a *agent, i int) *agent {
	first := a.circle * w.s.Circle
	size := min(w.s.Circle, len(w.people)-first)
	return w.people[first+(a.n-1-first+i)%size]
}

// setUp makes a request outside of virtual time.
func (w *world) setUp(r *request) error {
	a, err := r.Ask(w.gate)
	if err != nil {
		return err
	}
	if a.Status/100 != 2 {
		return fmt.Errorf("scale: %s %s: %d %s", r.Method, r.Target, a.Status, a.Body)
	}
	if r.done != nil {
		r.done(a)
	}
	return nil
}

func (w *world) signs(a *agent, method, target string, body any) *request {
	var b []byte
	if body != nil {
		b, _ = json.Marshal(body)
	}
	a.at = max(a.at+1, time.Now().UnixMilli())
	return &request{Request: a.Signed(method, target, b, time.UnixMilli(a.at)), by: a}
}

type fields map[string]any

func (w *world) posts(a *agent, c *channel, to *posted) *request {
	in := fields{"body": w.text(280)}
	if to != nil {
		in["parent"] = to.id
	}
	r := w.signs(a, "POST", "/v1/c/"+c.name+"/posts", in)
	r.done = func(got *transcripts.Answer) *request {
		c.posts = append(c.posts, &posted{id: got.Text("id"), channel: c.name, by: a, root: to})
		c.posts = c.posts[max(0, len(c.posts)-keptPosts):]
		return nil
	}
	return r
}

// text returns a text that nobody wrote before.
func (w *world) text(size int) string {
	w.numbers++
	const words = "the quick brown fox jumps over the lazy dog and writes it down for others to read "
	return (fmt.Sprintf("note %07d: ", w.numbers) + strings.Repeat(words, size/len(words)+1))[:size-1] + "."
}

func (w *world) anyone(r *rand.Rand) *agent { return w.people[r.IntN(len(w.people))] }

// of returns the channel of an agent's circle.
func (w *world) of(a *agent) *channel { return w.channels[a.circle] }

func (c *channel) some(r *rand.Rand) *posted { return c.posts[r.IntN(len(c.posts))] }

// does returns an agent's request for a habit of infra/COST.md, named by its route and
// variant.
func (w *world) does(route, variant string, a *agent, r *rand.Rand) *request {
	c, near := w.of(a), w.neighbour(a, 1+r.IntN(max(1, w.s.Circle-1)))
	get := func(target string) *request { return w.signs(a, "GET", target, nil) }
	post := func(target string, body any) *request { return w.signs(a, "POST", target, body) }
	p := c.some(r)
	for range 5 { // preferably another agent's post
		if p.by != a {
			break
		}
		p = c.some(r)
	}
	at := "/v1/c/" + p.channel + "/posts/" + p.id
	switch strings.TrimSpace(route + " " + variant) {
	case "POST /v1/c/{ch}/posts 280 characters":
		return w.posts(a, c, nil)
	case "POST /v1/c/{ch}/posts reply":
		if p.root != nil {
			p = p.root
		}
		return w.posts(a, c, p)
	}
	switch route {
	case "GET /v1/me/catchup":
		return get("/v1/me/catchup?since=0")
	case "GET /v1/me/inbox", "GET /v1/me/memory":
		return get(strings.TrimPrefix(route, "GET "))
	case "GET /v1/c/{ch}":
		return get("/v1/c/" + c.name)
	case "GET /v1/c/{ch}/posts/{id}":
		return get("/v1/c/" + c.name + "/posts/" + c.thread.id)
	case "GET /v1/c/{ch}/search":
		return get("/v1/c/" + c.name + "/search?q=" + url.QueryEscape(fmt.Sprintf("%07d", r.IntN(w.numbers+1))))
	case "GET /v1/agents/{ref}":
		return get("/v1/agents/" + near.Name)
	case "POST /v1/c/{ch}/posts/{id}/vote":
		return post(at+"/vote", fields{"v": 1 - 2*r.IntN(2)})
	case "POST /v1/c/{ch}/posts/{id}/react":
		return post(at+"/react", fields{"emoji": []string{"🎉", "🔥", "🌙"}[r.IntN(3)], "on": true})
	case "POST /v1/c/{ch}/posts/{id}/helpful":
		for _, q := range c.posts { // only the thread's author may mark a reply
			if q.root != nil && q.by != q.root.by {
				return w.signs(q.root.by, "POST", "/v1/c/"+q.channel+"/posts/"+q.id+"/helpful", nil)
			}
		}
		return post(at+"/vote", fields{"v": 1})
	case "GET /v1/dm/{ref}":
		return get("/v1/dm/" + near.ID)
	case "POST /v1/dm/{ref}":
		return post("/v1/dm/"+near.ID, fields{"body": w.text(280)})
	case "POST /v1/agents/{ref}/visit":
		return post("/v1/agents/"+near.ID+"/visit", nil)
	case "POST /v1/me/follow":
		return post("/v1/me/follow", fields{"kind": "agent", "target": near.ID, "on": true})
	case "PUT /v1/me/memory":
		m := w.signs(a, "PUT", "/v1/me/memory", nil)
		text := []byte(w.text(1000))
		a.at++
		m.Request = a.Signed("PUT", "/v1/me/memory", text, time.UnixMilli(a.at))
		return m
	case "PATCH /v1/me":
		if variant == "tags" {
			return w.signs(a, "PATCH", "/v1/me", fields{"tags": []string{"go"}})
		}
		return w.signs(a, "PATCH", "/v1/me", fields{"now": w.text(40)})
	case "POST /mcp":
		m := w.anonymous("POST", "/mcp", []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		m.Header.Set("Authorization", "Bearer "+c.token)
		return m
	case "GET /llms.txt":
		return w.anonymous("GET", "/llms.txt", nil)
	case "GET /v1/challenge":
		return w.anonymous("GET", "/v1/challenge", nil)
	case "POST /v1/agents":
		return w.registers()
	case "POST /v1/ideas":
		return w.idea(a, c)
	case "POST /v1/ideas/{id}/support":
		if c.idea == "" {
			return w.idea(near, c)
		}
		return post("/v1/ideas/"+c.idea+"/support", fields{"on": true})
	case "POST /v1/me/origin":
		return post("/v1/me/origin", fields{"email": fmt.Sprintf("human%d@gmail.com", a.n)})
	}
	panic("scale: no request for the habit " + route + " " + variant)
}

// rare lists requests that infra/COST.md leaves out, with their number per agent and day.
// They use keys that all agents share.
var rare = []bench.Habit{
	{Route: "POST /v1/ideas", Times: .1}, {Route: "POST /v1/ideas/{id}/support", Times: .3}, {Route: "PATCH /v1/me", Variant: "tags", Times: .1},
	{Route: "POST /v1/me/origin", Times: .1},
}

func (w *world) idea(a *agent, c *channel) *request {
	w.numbers++
	var words []string // unique, since an idea is compared with all others
	for i := range uint64(8) {
		words = append(words, "w"+strconv.FormatUint(w.dice.N("idea", uint64(w.numbers), i)>>24, 36))
	}
	text := strings.Join(words, " ")
	r := w.signs(a, "POST", "/v1/ideas", fields{"title": text[:40], "body": text})
	r.done = func(got *transcripts.Answer) *request { c.idea = got.Text("id"); return nil }
	return r
}

func (w *world) anonymous(method, target string, body []byte) *request {
	w.strangers++
	return &request{
		Request: &transcripts.Request{Method: method, Target: target, Body: body, Header: map[string][]string{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}},
		addr:    address(1<<23 + w.strangers),
	}
}

func (w *world) registers() *request {
	r := w.anonymous("GET", "", nil)
	a := transcripts.NewAgent(fmt.Sprintf("newcomer%d", w.strangers))
	r.Target = "/v1/challenge?pubkey=" + a.Pub()
	r.done = func(got *transcripts.Answer) *request {
		answer, err := agents.Solve(context.Background(), w.app, got.Text("token"))
		if err != nil {
			w.log.fail(err)
			return nil
		}
		b, _ := json.Marshal(fields{
			"pubkey": a.Pub(), "handle": a.Name, "emoji": "🦊", "token": got.Text("token"), "pow": "0", "answer": answer,
			"sig": a.Sign("register:" + got.Text("nonce") + ":" + a.Name),
		})
		return &request{Request: &transcripts.Request{Method: "POST", Target: "/v1/agents", Body: b}, addr: r.addr}
	}
	return r
}
