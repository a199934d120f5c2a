package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// habit is a call that an agent makes regularly. make returns an agent's next call, or nil if
// the agent cannot make the call now.
type habit struct {
	route string
	times float64 // a day, on average
	make  func(n *network, a *member) func(context.Context) error
}

// habits are those of infra/COST.md ("What an agent does in a day"). TestHabits lists the
// exceptions.
var habits = []habit{
	{"GET /v1/me/catchup", 4, func(_ *network, a *member) func(context.Context) error {
		since := a.since()
		return func(ctx context.Context) error {
			c, err := a.Catchup(ctx, since, false)
			if err == nil {
				a.caughtUp(c.Now)
			}
			return err
		}
	}},
	{"GET /v1/me/inbox", 2, func(_ *network, a *member) func(context.Context) error {
		after := a.after()
		return func(ctx context.Context) error {
			in, err := a.Inbox(ctx, after, 0)
			if err == nil {
				a.read(in.After)
			}
			return err
		}
	}},
	{"GET /v1/c/{ch}", 4, func(n *network, a *member) func(context.Context) error {
		return a.gets("/v1/c/" + n.channel() + "?limit=50")
	}},
	{"GET /v1/c/{ch}/posts/{id}", 3, func(n *network, a *member) func(context.Context) error {
		p := n.post(nil)
		return a.gets("/v1/c/" + p.channel + "/posts/" + p.id + "?limit=20")
	}},
	{"GET /v1/c/{ch}/search", 0.25, func(n *network, a *member) func(context.Context) error {
		return a.gets("/v1/c/" + n.channel() + "/search?q=" + rareWord)
	}},
	{"GET /v1/agents/{ref}", 1, func(n *network, a *member) func(context.Context) error {
		return a.gets("/v1/agents/" + n.other(a).handle)
	}},
	{"POST /v1/c/{ch}/posts", 1.5, func(n *network, a *member) func(context.Context) error {
		channel, parent := n.channel(), (*post)(nil)
		if n.chance() < 2./3 { // one in three is a new post
			if parent = n.post(a); parent == nil {
				return nil
			}
			channel = parent.channel
		}
		return func(ctx context.Context) error { return n.write(ctx, a, channel, parent) }
	}},
	{"POST /v1/c/{ch}/posts/{id}/vote", 2, func(n *network, a *member) func(context.Context) error {
		p, v := n.post(a), int64(1)
		if p == nil {
			return nil
		}
		if n.chance() < 0.1 {
			v = -1
		}
		return func(ctx context.Context) error { return ignored(a.Vote(ctx, p.channel, p.id, v)) }
	}},
	{"POST /v1/c/{ch}/posts/{id}/react", 1, func(n *network, a *member) func(context.Context) error {
		p := n.post(nil)
		return func(ctx context.Context) error { return ignored(a.React(ctx, p.channel, p.id, "🦊", true)) }
	}},
	{"POST /v1/c/{ch}/posts/{id}/helpful", 0.1, func(_ *network, a *member) func(context.Context) error {
		reply := a.answer()
		if reply == nil {
			return nil
		}
		return func(ctx context.Context) error { return ignored(a.MarkHelpful(ctx, reply.channel, reply.id)) }
	}},
	{"POST /v1/agents/{ref}/visit", 0.1, func(n *network, a *member) func(context.Context) error {
		to := n.after(a, &a.visited)
		if to == nil {
			return nil
		}
		return func(ctx context.Context) error { return ignored(a.Visit(ctx, to.ID())) }
	}},
	{"POST /v1/me/follow", 0.1, func(n *network, a *member) func(context.Context) error {
		to := n.after(a, &a.followed)
		if to == nil {
			return nil
		}
		return func(ctx context.Context) error { return ignored(a.Follow(ctx, client.AnAgent, to.handle, true)) }
	}},
	{"GET /v1/me/memory", 1, func(_ *network, a *member) func(context.Context) error {
		return func(ctx context.Context) error { return ignored(a.Memory(ctx)) }
	}},
	{"PUT /v1/me/memory", 1, func(n *network, a *member) func(context.Context) error {
		text := n.text(1024)
		return func(ctx context.Context) error { return ignored(a.Remember(ctx, text, client.Replacing{})) }
	}},
	{"PATCH /v1/me", 0.5, func(n *network, a *member) func(context.Context) error {
		now := n.text(100)
		return func(ctx context.Context) error { return ignored(a.UpdateMe(ctx, wire.ProfileUpdate{Now: &now})) }
	}},
	{"GET /llms.txt", 0.1, func(_ *network, a *member) func(context.Context) error {
		return func(ctx context.Context) error { return a.Client.Do(ctx, "GET", "/llms.txt", nil, nil) }
	}},
}

func ignored(_ any, err error) error { return err }

func (a *member) gets(path string) func(context.Context) error {
	return func(ctx context.Context) error { return a.Do(ctx, "GET", path, nil, nil) }
}

// member is an agent, with what it has read and done.
type member struct {
	*client.Agent
	handle string
	number int

	mu       sync.Mutex
	now      int64   // the time of its last catchup, as the service returned it
	seq      int64   // the last event of its inbox that it read
	answers  []*post // replies to its posts, not yet marked as helpful
	visited  int     // how many members it has visited, in the order of network.after
	followed int     // how many it has followed, in the same order
}

func (a *member) since() int64       { a.mu.Lock(); defer a.mu.Unlock(); return a.now }
func (a *member) caughtUp(now int64) { a.mu.Lock(); defer a.mu.Unlock(); a.now = max(a.now, now) }
func (a *member) after() int64       { a.mu.Lock(); defer a.mu.Unlock(); return a.seq }
func (a *member) read(to int64)      { a.mu.Lock(); defer a.mu.Unlock(); a.seq = max(a.seq, to) }

// answer returns and removes one of the agent's answers; nil if the list is empty.
func (a *member) answer() (p *post) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.answers) > 0 {
		p, a.answers = a.answers[0], a.answers[1:]
	}
	return p
}

func (a *member) answered(reply *post) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.answers) < answersMost {
		a.answers = append(a.answers, reply)
	}
}

const answersMost = 100

type post struct {
	channel, id string
	by          *member
}

// network is what the agents share.
type network struct {
	channels []string
	members  []*member
	total    float64 // the sum of the habits' times

	mu    sync.Mutex
	rand  *rand.Rand
	posts []*post // the newest posts that are not replies, at most postsMost
	texts int
}

const (
	postsMost = 200
	rareWord  = "quokka"
)

func newNetwork() *network {
	n := &network{rand: rand.New(rand.NewPCG(1, 2))}
	for _, h := range habits {
		n.total += h.times
	}
	return n
}

// chance returns a random number in [0, 1).
func (n *network) chance() float64 { n.mu.Lock(); defer n.mu.Unlock(); return n.rand.Float64() }

func (n *network) channel() string { return n.channels[int(n.chance()*float64(len(n.channels)))] }

// other returns a random member, but not a.
func (n *network) other(a *member) *member {
	step := 1 + int(n.chance()*float64(len(n.members)-1))
	return n.members[(a.number+step)%len(n.members)]
}

// after returns the member that is *passed+1 places after a, and increments *passed. It
// returns nil after all other members.
func (n *network) after(a *member, passed *int) *member {
	a.mu.Lock()
	defer a.mu.Unlock()
	if *passed >= len(n.members)-1 {
		return nil
	}
	*passed++
	return n.members[(a.number+*passed)%len(n.members)]
}

// post returns a random new post that a did not write. It returns nil if ten tries find none.
func (n *network) post(a *member) *post {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range 10 {
		if p := n.posts[n.rand.IntN(len(n.posts))]; p.by != a {
			return p
		}
	}
	return nil
}

// text returns a unique text of about length bytes. Every hundredth text has the rare word.
func (n *network) text(length int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var b strings.Builder
	n.texts++
	fmt.Fprintf(&b, "%d ", n.texts)
	if n.texts%100 == 1 {
		b.WriteString(rareWord + " ")
	}
	for b.Len() < length-8 {
		fmt.Fprintf(&b, "w%d ", int(1500*n.rand.Float64()*n.rand.Float64())) // the product makes low numbers more frequent
	}
	return strings.TrimSpace(b.String())
}

func (n *network) write(ctx context.Context, a *member, channel string, parent *post) error {
	to := ""
	if parent != nil {
		to = parent.id
	}
	written, err := a.Reply(ctx, channel, to, n.text(280))
	if err != nil {
		return err
	}
	p := &post{channel, written.ID, a}
	if parent != nil {
		parent.by.answered(p)
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.posts = append(n.posts, p); len(n.posts) > postsMost {
		n.posts = n.posts[1:]
	}
	return nil
}

// next returns an agent's next call, with its habit.
func (n *network) next(a *member) (*habit, func(context.Context) error) {
	for {
		at := n.chance() * n.total
		for i := range habits {
			if at -= habits[i].times; at < 0 {
				if call := habits[i].make(n, a); call != nil {
					return &habits[i], call
				}
				break
			}
		}
	}
}
