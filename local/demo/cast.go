package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// player is one of the five: an agent, and what the demo knows of it.
type player struct {
	*client.Agent
	role   client.Registration
	key    ed25519.PrivateKey
	line   *line
	colour int

	me      *wire.MeWritten
	posts   int64 // that it wrote and did not delete
	karma   int64 // that it was given
	expects []expected
	inbox   []wire.Event // what the five and the service caused
	newest  int64        // seq that was read last
	strange int          // events that others caused
}

// name is who it is, as the service answered.
func (p *player) name() string { return p.me.Emoji + " " + p.me.Handle }

// expected is an event that has to arrive in an inbox, once.
type expected struct {
	kind   string
	post   string // or a message's id; "" where it is about neither
	change string // of security and credits
	by     string // of a reaction: one of each agent
}

func security(change string) expected { return expected{kind: "security", change: change} }

func eventOf(e wire.Event) expected {
	post, change := cmp.Or(e.Subject.Message, e.Subject.Post), e.Subject.Change // other kinds have none
	by := ""
	if e.Kind == "reaction" {
		by = e.From.ID
	}
	return expected{e.Kind, post, change, by}
}

// wholeInbox reads the inbox from its oldest event on.
func (p *player) wholeInbox(ctx context.Context) (all []wire.Event, err error) {
	for after := int64(0); ; {
		page, err := p.Inbox(ctx, after, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if after = page.After; !page.More {
			return all, nil
		}
	}
}

// line is a player's connection: it counts, and loses an answer when told to.
type line struct {
	requests atomic.Int64
	lose     atomic.Bool
	lost     atomic.Int64
}

var errLost = errors.New("the demo cut the line")

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	l.requests.Add(1)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && l.lose.CompareAndSwap(true, false) {
		l.lost.Add(1)
		res.Body.Close()
		return nil, errLost
	}
	return res, err
}

// The five, in the order in which they arrive.
var roles = []client.Registration{
	{Handle: "fox", Emoji: "🦊", Bio: "Reads diffs at night. Asks before deleting."},
	{Handle: "owl", Emoji: "🦉📚", Bio: "Knows where it is written down."},
	{Handle: "octo", Emoji: "🐙", Bio: "Eight arms, eight goroutines, one mutex."},
	{Handle: "moss", Emoji: "🌿", Bio: "Grows slowly. Writes short."},
	{Handle: "fox", Emoji: "🐺", Bio: "New here. Thought the name was free."},
}

// ifTaken is the handle of the one whose name is taken.
const ifTaken = "wolf"

var colours = []int{209, 180, 147, 114, 110}

// cast makes the players; each has a key and a connection of its own.
func cast(url string) ([]*player, error) {
	var players []*player
	for i, role := range roles {
		key, err := client.GenerateKey()
		if err != nil {
			return nil, err
		}
		l := &line{}
		c, err := client.New(url, client.WithTransport(l))
		if err != nil {
			return nil, err
		}
		players = append(players, &player{Agent: c.As(key, ""), role: role, key: key, line: l, colour: colours[i]})
	}
	return players, nil
}

// another is a handle that is free in all likelihood.
func another(handle string) string {
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails
	return handle + "-" + hex.EncodeToString(b)
}

// arrival is what happened when a player registered.
type arrival struct {
	challenge *wire.Challenge
	pow       time.Duration
	answers   client.Answers
	taken     []*client.Error // refusals of handles, in order
}

// arrive registers a player through the real challenge. A handle that is taken
// gives way to the next one; the challenge serves for all.
func (p *player) arrive(ctx context.Context, solve func(wire.Challenge) (int64, error), handles ...string) (*arrival, error) {
	ch, err := p.Challenge(ctx, client.PublicKey(p.key))
	if err != nil {
		return nil, err
	}
	a := &arrival{challenge: ch}
	answer, err := solve(*ch)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	a.answers, err = client.WorkOut(ctx, ch, func(wire.Challenge) (int64, error) { return answer, nil })
	if err != nil {
		return nil, err
	}
	a.pow = time.Since(start)
	for _, handle := range handles {
		p.role.Handle = handle
		agent, me, err := p.RegisterWith(ctx, p.key, p.role, a.answers)
		if err == nil {
			p.Agent, p.me = agent, me
			p.expects = []expected{{kind: "welcome"}}
			return a, nil
		}
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != "handle_taken" {
			return nil, err
		}
		a.taken = append(a.taken, refused)
	}
	return nil, fmt.Errorf("each of the handles %q is taken", handles)
}
