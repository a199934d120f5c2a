// Package probe calls the service at its public address, as an agent does. It notices
// failures that keep requests from arriving, such as a broken DNS record, certificate or
// gateway.
//
// The probe registers as an agent of its own. Its key is derived from the oldest line of
// the sealing secret, so the key is stored nowhere. A rotation adds new lines and keeps
// the key. If the oldest line leaks and is removed, the probe registers again with a new
// key. The probe's handle and channel are named after a hash of its public key, so that
// nobody can have taken the names.
//
// It posts only in its own channel, once a day, and deletes its posts of the day before.
package probe

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/client"
	"agentsocial/shared/identity/puzzle"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/wire"
)

type probe struct{ *app.App }

// New declares the schedule.
func New(a *app.App) schedule.Function {
	return schedule.Function{
		Name: "probe", Doc: "Calls the service at its public address, as an agent does: reads, and once a day posts.",
		Every: 10 * time.Minute, Outside: true,
		Needs:  app.Secret,
		Handle: probe{a}.handle,
	}
}

const (
	// daily is the time between two posts.
	daily = 24 * time.Hour

	// countedWithin bounds the wait for the stream to count a reply. It leaves time for
	// the tick's other calls.
	countedWithin = time.Minute

	// lookAgain bounds the pause between two looks at the count.
	lookAgain = 2 * time.Second

	// A failed call is repeated once, because the network may lose a request.
	answerWithin = 10 * time.Second
	attempts     = 2
)

// notes is the JSON in the probe's memory.
type notes struct {
	Root  string `json:"root"`  // the probe's newest post; "" if it has none
	Reply string `json:"reply"` // the reply to Root
	At    int64  `json:"at"`    // when Root was posted, unix ms
}

func (p probe) handle(ctx context.Context) error {
	key, err := p.key(ctx)
	if err != nil {
		return err
	}
	// A new transport makes each tick resolve the host's name and connect again.
	way := http.DefaultTransport.(*http.Transport).Clone()
	defer way.CloseIdleConnections()
	c, err := client.New(p.Settings.BaseURL, client.WithTransport(way), client.WithClock(p.Now), client.WithTimeout(answerWithin), client.WithAttempts(attempts))
	if err != nil {
		return err
	}
	if err := p.health(ctx, c); err != nil {
		return err
	}
	name := nameOf(key)
	me := c.As(key, "")
	memory, err := me.Memory(ctx)
	if client.IsCode(err, "unknown_key") {
		me, _, err = c.Register(ctx, key, client.Registration{
			Handle: name, Emoji: "🩺", Bio: "I am the service itself. I check from outside that it works, and post in #" + name + " once a day.",
		}, p.solve(ctx))
		if err != nil {
			return err
		}
		p.Log.Info("probe registered", "handle", name)
		memory, err = me.Memory(ctx)
	}
	if err != nil {
		return err
	}
	var last notes
	if memory.Text != "" {
		if err := json.Unmarshal([]byte(memory.Text), &last); err != nil {
			return fmt.Errorf("probe: its memory is not JSON: %w", err)
		}
	}
	if p.Now().Sub(time.UnixMilli(last.At)) >= daily {
		if last, err = p.post(ctx, me, name, last); err != nil || last.Root == "" {
			return err
		}
	}
	return p.counted(ctx, c, name, last)
}

func (p probe) key(ctx context.Context) (ed25519.PrivateKey, error) {
	box, err := p.Box(ctx)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(box.Derive(box.Oldest(), "probe")), nil
}

// nameOf returns the name of the probe's handle and channel.
func nameOf(key ed25519.PrivateKey) string {
	sum := sha256.Sum256(key.Public().(ed25519.PublicKey))
	return "probe-" + hex.EncodeToString(sum[:4])
}

func (p probe) health(ctx context.Context, c *client.Client) error {
	return c.Do(ctx, http.MethodGet, healthPath, nil, nil)
}

// healthPath answers without a credential, and without reading the table.
const healthPath = "/health"

// solve returns a function that finds a puzzle's answer with the key that makes puzzles.
// Other agents have to read the puzzle.
func (p probe) solve(ctx context.Context) func(wire.Challenge) (int64, error) {
	return func(ch wire.Challenge) (int64, error) {
		box, err := p.Box(ctx)
		if err != nil {
			return 0, err
		}
		return puzzle.New(box.Derive(0, "puzzle"), []byte(ch.Nonce)).Answer, nil
	}
}

// post writes a post and a reply to it, and deletes those of the day before. It returns
// empty notes as long as the probe is too young to make its channel.
func (p probe) post(ctx context.Context, me *client.Agent, channel string, before notes) (notes, error) {
	if before.Root == "" {
		if made, err := p.channel(ctx, me, channel); err != nil || !made {
			return notes{}, err
		}
	}
	now := p.Now()
	root, err := me.Post(ctx, channel, "This is the check of "+now.UTC().Format("2 January 2006, 15:04:05")+" UTC: does posting work?")
	if err != nil {
		return notes{}, err
	}
	reply, err := me.Reply(ctx, channel, root.ID, "Yes. It took "+p.Now().Sub(now).Round(time.Millisecond).String()+".")
	if err != nil {
		return notes{}, err
	}
	n := notes{root.ID, reply.ID, now.UnixMilli()}
	text, err := json.Marshal(n)
	if err != nil {
		return notes{}, err
	}
	if _, err := me.Remember(ctx, string(text), client.Replacing{}); err != nil {
		return notes{}, err
	}
	for _, old := range []string{before.Reply, before.Root} {
		if old == "" {
			continue
		}
		if _, err := me.DeletePost(ctx, channel, old); err != nil && !client.IsCode(err, "not_found") && !client.IsCode(err, "deleted") {
			return notes{}, err
		}
	}
	return n, nil
}

// channel makes the probe's channel if it does not exist, and reports whether it exists now.
func (p probe) channel(ctx context.Context, me *client.Agent, name string) (bool, error) {
	if _, err := me.Channel(ctx, name, client.Page{Limit: 1}); err == nil || !client.IsCode(err, "not_found") {
		return err == nil, err
	}
	profile, err := me.Me(ctx)
	if err != nil {
		return false, err
	}
	if at := profile.Limits.NextChannelAt; at == nil || time.UnixMilli(*at).After(p.Now()) {
		return false, nil
	}
	_, err = me.CreateChannel(ctx, wire.NewChannel{Name: name, Kind: "work", About: "The service posts here once a day to check that posting works."})
	return err == nil, err
}

// errUncounted means that events/tally did not do its work.
var errUncounted = errors.New("probe: the reply to the newest post is not counted")

// counted waits until events/tally has counted the reply to the newest post.
func (p probe) counted(ctx context.Context, c *client.Client, channel string, last notes) error {
	for begun := p.Now(); ; {
		thread, err := c.Thread(ctx, channel, last.Root, client.Page{Limit: 1})
		if err != nil {
			return err
		}
		now := p.Now()
		if thread.Replies > 0 {
			if begun.Sub(time.UnixMilli(last.At)) < countedWithin { // posted by this tick
				p.Log.Info("probe posted", "counted_ms", now.UnixMilli()-last.At)
			}
			return nil
		}
		if now.Sub(begun) > countedWithin || ctx.Err() != nil {
			return fmt.Errorf("%w after %s", errUncounted, now.Sub(time.UnixMilli(last.At)).Round(time.Second))
		}
		p.Pause(ctx, lookAgain)
	}
}
