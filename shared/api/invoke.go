package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"agentsocial/tables"
)

// Arguments are what a request gives an endpoint, however it came.
type Arguments struct {
	path   map[string]string
	query  url.Values
	header http.Header
	body   []byte
	target string // path and query, as HTTP has them
}

// text is an argument as it was sent; "" if it was not.
func (a *Arguments) text(p Place) string {
	switch p.In {
	case "path":
		return a.path[p.Name]
	case "query":
		return a.query.Get(p.Name)
	}
	return a.header.Get(p.Name)
}

// pathValues are what stands in a path in the places of a route's, which it matches.
func pathValues(route, path string) map[string]string {
	var values map[string]string
	given := strings.Split(path, "/")
	for i, part := range strings.Split(route, "/") {
		if strings.HasPrefix(part, "{") {
			if values == nil {
				values = map[string]string{}
			}
			values[strings.Trim(part, "{}")] = given[i]
		}
	}
	return values
}

// Answer is what an endpoint answers a tool's call.
type Answer struct {
	Body     json.RawMessage // of a success: an object
	Refusal  *Error          // nil if it is none
	Replayed bool            // it was carried out before
	Proved   bool            // the credential was looked for, and is one
}

// Invoke has another server's endpoint answer a tool's call as a part of this one:
// with its credential, under its request id, from its address. The endpoint judges
// scopes, limits and repetition, and writes a line of its own, which names the tool;
// nothing of it counts for this call.
func (c *Call) Invoke(ctx context.Context, on *Server, t *Tool, a *Arguments) (answer Answer) {
	c.relayed.Store(true)
	ctx, _ = tables.WithUsage(ctx) // apart from this call's
	raw, _ := ctx.Value(rawKey{}).(Raw)
	called := on.newCall(raw)
	called.cred, called.agent, called.tool = c.cred, c.agent, t.Name
	usage := on.carry(ctx, called, func(ctx context.Context) error {
		e := on.endpoints[t.Route]
		called.e = &e.Endpoint
		b := e.bound()
		if err := queryOnce(called.e, b.query, a.query); err != nil {
			return err
		}
		if int64(len(a.body)) > called.e.bodyMost() {
			return called.e.tooLarge()
		}
		out, err := b.invoke(ctx, called, a)
		if err == nil {
			answer.Body, err = t.encode(out, called.header)
		}
		return err
	})
	status := called.e.status()
	if called.fail != nil {
		status = called.fail.Status()
	}
	on.log(ctx, called.e.Method(), called, raw, status, len(answer.Body), usage)
	answer.Refusal, answer.Replayed, answer.Proved = called.fail, called.replay != "", called.Agent != nil
	return answer
}

// carry runs a request's work, whose error or panic becomes its refusal, and counts it.
func (s *Server) carry(ctx context.Context, c *Call, work func(context.Context) error) *tables.Usage {
	counted, usage := tables.WithUsage(context.WithValue(ctx, callKey{}, c))
	func() {
		defer func() {
			if p := recover(); p != nil {
				c.Log.Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				c.fail = Fail(Internal, "Something failed inside the service.")
			}
		}()
		err := s.begin(ctx) // which is not this request's cost
		if err == nil {
			err = work(counted)
		}
		if err != nil {
			c.fail = AsError(err)
		}
	}()
	c.charge(counted)
	return usage
}

// invoke is the one way into an endpoint: its input is made of the arguments, and
// its work is done, or its answer made again of what came of it before, once the
// request may go on and what the input wants to read is read.
func (b *bound) invoke(ctx context.Context, c *Call, a *Arguments) (any, error) {
	e, work := b.e, b.e.work
	if keys := a.header.Values("Idempotency-Key"); keys != nil && e.Writes() && c.cred.kind != credNone {
		if !visibleASCII(keys[0], idempotencyKeyMost) {
			return nil, BadField("Idempotency-Key", "is not 1-64 visible ASCII characters")
		}
		c.idemKey, c.digest = keys[0], requestDigest(e.Method(), a.target, a.body)
	}
	in, err := b.input(a)
	if err != nil {
		return nil, err
	}
	keys := func() []tables.Key {
		switch r := in.(type) {
		case Reader:
			return r.Reads(c.agent)
		case RefReader:
			return c.refReads(r)
		}
		return nil
	}
	if err := c.admit(ctx, keys); err != nil {
		return nil, err
	}
	var out any
	if c.replay == "" {
		out, err = work.do(ctx, in)
	}
	// Reads of several items are no snapshot: what was read of the guard may
	// be older than what the handler saw of its own effect.
	if work.again != nil && c.replay == "" && c.Agent != nil && !c.committed {
		if err == nil {
			return nil, errors.New("api: " + e.Route + " had no effect that was recorded")
		}
		c.lookAgain(ctx, err)
	}
	if c.replay != "" { // done before, or a race lost against the same request
		c.header.Set("Idempotent-Replayed", "true")
		return work.again(ctx, in, c.replay)
	}
	return out, err
}
