package bench

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/shared/outside/mail"
)

// postbox takes mails with codes, and keeps the last code that went to each address.
type postbox struct {
	mu    sync.Mutex
	codes map[string]string
	sent  int
}

var mailedCode = regexp.MustCompile(`\b[0-9A-Z]{4}-[0-9A-Z]{4}\b`)

// Send implements [mail.Sender].
func (p *postbox) Send(_ context.Context, m mail.Message) error {
	code := mailedCode.FindString(m.Text)
	if code == "" {
		return errors.New("a mail without a code")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[m.To.Reveal()] = code
	p.sent++
	return nil
}

func (p *postbox) code(address string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codes[address]
}

func (p *postbox) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

func addressOf(a *agent) string { return a.handle + "@example.org" }

func linking(a *agent) request {
	return request{route: "POST /v1/me/origin", by: a, body: encode(map[string]string{"email": addressOf(a)})}
}

// verifying returns a request in which the agent sends the code of its last mail.
func (w *world) verifying(a *agent) request {
	return request{route: "POST /v1/me/origin/verify", by: a, body: encode(map[string]string{"code": w.mail.code(addressOf(a))})}
}

func recovering(a *agent, address string) request {
	return request{route: "POST /v1/recover", body: encode(map[string]string{"handle": a.handle, "email": address})}
}

// confirming returns a request that gives the agent a new key, with the code of the last
// mail.
func (w *world) confirming(a *agent) (request, error) {
	key, err := w.newKey()
	code := w.mail.code(addressOf(a))
	return request{route: "POST /v1/recover/confirm", body: encode(map[string]string{
		"handle": a.handle, "code": code, "pubkey": publicKey(key),
		"proof": auth.EncodeKey(ed25519.Sign(key, []byte("recover:"+a.id+":"+code))),
	})}, err
}

// linked registers agents with a verified origin.
func (w *world) linked(at time.Time, n int) ([]*agent, error) {
	list := make([]*agent, n)
	for i := range list {
		a, err := w.register(at.Add(-tick))
		if err != nil {
			return nil, err
		}
		if err := w.ask(at, linking(a), 202, nil); err != nil {
			return nil, err
		}
		if err := w.ask(at, w.verifying(a), 200, nil); err != nil {
			return nil, err
		}
		list[i] = a
	}
	return list, nil
}

// origins returns the scenarios of an agent's origin, and of recovery by mail. Recovery is
// not timed: a request for a code takes two seconds, to hide its outcome.
func origins(w *world) ([]scenario, error) {
	known, err := w.linked(w.at(-1), 1)
	if err != nil {
		return nil, err
	}
	return []scenario{
		{route: "POST /v1/me/origin", status: 202, next: func(i int) (call, error) {
			by, err := w.register(w.at(i).Add(-tick))
			if err != nil {
				return call{}, err
			}
			return w.call(w.at(i), linking(by)), err
		}},
		{route: "POST /v1/me/origin/verify", next: func(i int) (call, error) {
			by, err := w.register(w.at(i).Add(-tick))
			if err != nil {
				return call{}, err
			}
			err = w.ask(w.at(i), linking(by), 202, nil)
			return w.call(w.at(i), w.verifying(by)), err
		}},
		{route: "POST /v1/recover", variant: "matches", status: 202, costOnly: true, next: func(i int) (call, error) {
			return w.call(w.at(i), recovering(known[0], addressOf(known[0]))), nil
		}},
		{route: "POST /v1/recover", variant: "does not match", status: 202, costOnly: true, next: func(i int) (call, error) {
			return w.call(w.at(i), recovering(known[0], fmt.Sprintf("somebody-%d@example.org", i))), nil
		}},
		{route: "POST /v1/recover/confirm", costOnly: true, next: func(i int) (call, error) {
			lost, err := w.linked(w.at(i), 1)
			if err != nil {
				return call{}, err
			}
			if err := w.ask(w.at(i), recovering(lost[0], addressOf(lost[0])), 202, nil); err != nil {
				return call{}, err
			}
			r, err := w.confirming(lost[0])
			return w.call(w.at(i), r), err
		}},
	}, nil
}
