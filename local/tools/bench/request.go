package bench

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/functions/agents"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/lambda/host"
	"agentsocial/tables"
)

type agent struct {
	id, handle, pub string
	key             ed25519.PrivateKey
}

// request is a scenario's request before it is signed.
type request struct {
	route   string
	path    string // "": the path of the route
	query   string
	body    string
	by      *agent // nil: anonymous
	id      string // x-agent-id; "": the id of the agent in by
	noID    bool   // leave x-agent-id out
	address string
	headers map[string]string
}

// call is a request that is ready to be sent, at its own time.
type call struct {
	at      time.Time
	event   events.APIGatewayV2HTTPRequest
	handler host.GatewayHandler
	undo    []tables.Write // writes to make afterwards, so that the world stays as it was
}

// call makes the gateway's event of a request, and signs it unless it is anonymous.
func (w *world) call(at time.Time, r request) call {
	method, path, _ := strings.Cut(r.route, " ")
	if r.path != "" {
		path = r.path
	}
	headers := map[string]string{"host": "bench.example", "accept": "application/json"}
	if r.body != "" {
		headers["content-type"] = "application/json"
	}
	if r.by != nil {
		ts, signed := at.UnixMilli(), path
		if r.query != "" {
			signed += "?" + r.query
		}
		headers[auth.HeaderKey] = r.by.pub
		headers[auth.HeaderTS] = strconv.FormatInt(ts, 10)
		headers[auth.HeaderSig] = auth.Sign(r.by.key, method, signed, ts, []byte(r.body))
		if !r.noID {
			headers[auth.HeaderID] = r.by.id
			if r.id != "" {
				headers[auth.HeaderID] = r.id
			}
		}
	}
	maps.Copy(headers, r.headers)
	if r.address == "" {
		r.address = "192.0.2.1"
	}
	return call{at: at, handler: w.handlers[r.route], event: events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: r.route, RawPath: path, RawQueryString: r.query, Headers: headers, Body: r.body,
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RequestID: "bench", Stage: "$default",
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: method, Path: path, Protocol: "HTTP/1.1", SourceIP: r.address,
			},
		},
	}}
}

type response = events.APIGatewayV2HTTPResponse

// send sends a call and compares its answer's status with the expected one.
func (w *world) send(c call, status int) (response, error) {
	w.clock.Store(c.at.UnixMilli())
	res, err := c.handler(context.Background(), c.event)
	if err == nil && res.StatusCode != status {
		err = fmt.Errorf("%s answered %d, want %d: %s", c.event.RouteKey, res.StatusCode, status, res.Body)
	}
	return res, err
}

// ask sends a request and reads its answer into out, unless that is nil.
func (w *world) ask(at time.Time, r request, status int, out any) error {
	res, err := w.send(w.call(at, r), status)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal([]byte(res.Body), out)
}

// tidy undoes what a call left behind.
func (w *world) tidy(c call) error {
	if len(c.undo) == 0 {
		return nil
	}
	return w.feed.Commit(context.Background(), tables.Tx{Writes: c.undo})
}

// newKey makes a key with the world's own randomness.
func (w *world) newKey() (ed25519.PrivateKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	_, err := io.ReadFull(w.app.Rand, seed)
	return ed25519.NewKeyFromSeed(seed), err
}

func publicKey(key ed25519.PrivateKey) string {
	return auth.EncodeKey(key.Public().(ed25519.PublicKey))
}

// registration solves a challenge, and returns the request that registers with it. The
// agent has no id yet.
func (w *world) registration(at time.Time) (request, *agent, error) {
	w.agents++
	n := w.agents
	a := &agent{handle: fmt.Sprintf("agent-%06d", n)}
	var err error
	if a.key, err = w.newKey(); err != nil {
		return request{}, nil, err
	}
	a.pub = publicKey(a.key)
	var ch struct{ Nonce, Token string }
	if err := w.ask(at, request{route: "GET /v1/challenge", query: "pubkey=" + a.pub}, 200, &ch); err != nil {
		return request{}, nil, err
	}
	answer, err := agents.Solve(context.Background(), w.app, ch.Token)
	if err != nil {
		return request{}, nil, err
	}
	proof := ed25519.Sign(a.key, []byte("register:"+ch.Nonce+":"+a.handle))
	return request{
		route:   "POST /v1/agents",
		address: fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255), // limits are per address
		body: encode(map[string]any{
			"pubkey": a.pub, "handle": a.handle, "emoji": "🦊", "bio": "An agent of the bench.",
			"token": ch.Token, "pow": "0", "answer": answer, "sig": auth.EncodeKey(proof),
		}),
	}, a, nil
}

func (w *world) register(at time.Time) (*agent, error) {
	r, a, err := w.registration(at)
	if err != nil {
		return nil, err
	}
	var out struct{ ID string }
	err = w.ask(at, r, 201, &out)
	a.id = out.ID
	return a, err
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot fail: v has only types that JSON has
	}
	return string(b)
}
