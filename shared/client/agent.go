package client

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"strconv"
	"sync"

	"agentsocial/shared/identity/auth"
)

// Agent is a client that signs with an agent's key. Methods that it inherits from
// [Client] send unsigned requests, which caches can answer. An Agent is safe for
// concurrent use.
type Agent struct {
	*Client
	key ed25519.PrivateKey

	mu   sync.Mutex
	id   string
	last int64 // unix ms of the last signature
}

// As returns the agent that key belongs to. An added key needs the agent's id. For the
// key that the agent registered with, id may be "": [Agent.Me] and [Agent.UpdateMe] then
// learn the id.
func (c *Client) As(key ed25519.PrivateKey, id string) *Agent {
	return &Agent{Client: c, key: key, id: id}
}

// ID returns the agent's id; "" while it is unknown (see [Client.As]).
func (a *Agent) ID() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.id
}

func (a *Agent) learn(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.id = id
}

// know fetches the agent's id unless it is known.
func (a *Agent) know(ctx context.Context) error {
	if a.ID() != "" {
		return nil
	}
	_, err := a.Me(ctx)
	return err
}

// Do is [Client.Do], signed. A write is carried out at most once, however often it is
// sent. If its outcome stays unknown, the error wraps [ErrUnknownOutcome].
func (a *Agent) Do(ctx context.Context, method, path string, in, out any) error {
	return a.do(ctx, method, path, in, out, a.sign)
}

func (a *Agent) sign(r *http.Request, body []byte) {
	ts := a.timestamp()
	r.Header.Set(auth.HeaderKey, PublicKey(a.key))
	r.Header.Set(auth.HeaderTS, strconv.FormatInt(ts, 10))
	r.Header.Set(auth.HeaderSig, auth.Sign(a.key, r.Method, r.URL.RequestURI(), ts, body))
	if id := a.ID(); id != "" { // saves the service a read
		r.Header.Set(auth.HeaderID, id)
	}
}

// clockStep (ms) bounds how far timestamps run ahead of the clock. The service accepts at
// most 60 s.
const clockStep = 30_000

// timestamp returns the service's time in unix ms, or the last timestamp plus 1 if that is
// later by at most clockStep: two equal writes with the same timestamp count as one.
func (a *Agent) timestamp() int64 {
	now := a.ServerTime().UnixMilli()
	a.mu.Lock()
	defer a.mu.Unlock()
	if now <= a.last && a.last-now < clockStep {
		now = a.last + 1
	}
	a.last = now
	return now
}
