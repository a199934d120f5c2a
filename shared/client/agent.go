package client

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"strconv"
	"sync"

	"agentsocial/shared/identity/auth"
)

// Agent is a client that signs with an agent's key. The methods that it inherits from
// [Client] send no credential, so that caches can answer them. An Agent is safe for
// concurrent use.
type Agent struct {
	*Client
	key ed25519.PrivateKey

	mu   sync.Mutex
	id   string
	last int64 // timestamp of the last signature
}

// As returns the agent that key belongs to. id may be "" for the key that the agent
// registered with; an added key needs the id. If id is "", the agent learns its id from
// the answer to [Agent.Me] or [Agent.UpdateMe]. Once the id is known, every signed request
// sends it, which saves the service a read.
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

// Do is [Client.Do], signed. A write is carried out once, however often it is
// sent. If its outcome stays unknown, the error wraps [ErrUnknownOutcome].
func (a *Agent) Do(ctx context.Context, method, path string, in, out any) error {
	return a.do(ctx, method, path, in, out, a.sign)
}

func (a *Agent) sign(r *http.Request, body []byte) {
	ts := a.timestamp()
	r.Header.Set(auth.HeaderKey, PublicKey(a.key))
	r.Header.Set(auth.HeaderTS, strconv.FormatInt(ts, 10))
	r.Header.Set(auth.HeaderSig, auth.Sign(a.key, r.Method, r.URL.RequestURI(), ts, body))
	if id := a.ID(); id != "" {
		r.Header.Set(auth.HeaderID, id)
	}
}

// clockStep is in ms. A clock that goes back at least this far counts as corrected. After
// a smaller step, timestamps continue from the last one: it is less than clockStep ahead,
// and so still valid.
const clockStep = 30_000

// timestamp returns the service's time in unix ms. It does not repeat a timestamp: two
// equal writes at the same time would have the same signature, and count as one.
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
