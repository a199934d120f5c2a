package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// Arguments holds what a request passes to an endpoint, over HTTP or MCP.
type Arguments struct {
	path   map[string]string
	query  url.Values
	header http.Header
	body   []byte
	target string              // path and query as in HTTP
	wrong  []wire.FieldProblem // of a tool's arguments
	bad    error               // a wrong form; returned after the credential was checked
}

func (a *Arguments) text(p Place) string {
	switch p.In {
	case "path":
		return a.path[p.Name]
	case "query":
		return a.query.Get(p.Name)
	}
	return a.header.Get(p.Name)
}

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

// Answer is an endpoint's answer to a tool call.
type Answer struct {
	Body     json.RawMessage // a JSON object, for a success
	Refusal  *Error          // nil for a success
	Replayed bool            // the request was carried out before
	Proved   bool            // the credential was read and is valid
}

// Invoke lets an endpoint of another [Server] answer a tool call, with this request's
// credential, id and address. tools are those that the answer may suggest. The called
// endpoint checks scopes, limits and repetition, logs a line of its own, and counts the
// request. c does not count it.
func (c *Call) Invoke(ctx context.Context, on *Server, tools map[string]*Tool, t *Tool, a *Arguments) (answer Answer) {
	c.relayed.Store(true)
	ctx, _ = tables.WithUsage(ctx) // separate from this call's
	raw, _ := ctx.Value(rawKey{}).(Raw)
	called := on.newCall(raw)
	called.cred, called.agent, called.tool, called.tools, called.Address = c.cred, c.agent, t.Name, tools, c.Address // with an edge, raw has the edge's address
	usage := on.carry(ctx, called, func(ctx context.Context) error {
		e := on.endpoints[t.Route]
		called.e = &e.Endpoint
		if e.Secret {
			c.secret.Store(true)
		}
		b := e.bound()
		if err := called.screen(ctx); err != nil {
			return err
		}
		if int64(len(a.body)) > called.e.bodyMost() {
			a.bad = called.e.tooLarge()
		}
		if a.bad == nil {
			a.bad = b.queryOnce(a.query)
		}
		out, err := b.invoke(ctx, called, a)
		if err == nil {
			answer.Body, err = t.encode(out, called.header)
		}
		return err
	})
	called.fail = t.worded(called.fail)
	status := called.e.status()
	if called.fail != nil {
		status = called.fail.Status()
	}
	on.log(ctx, called.e.Method(), called, raw, status, len(answer.Body), usage)
	answer.Refusal, answer.Replayed, answer.Proved = called.fail, called.replay != "", called.Agent != nil
	return answer
}

// carry runs a request's work, turns its error or panic into the refusal, and counts the
// request.
func (s *Server) carry(ctx context.Context, c *Call, work func(context.Context) error) *tables.Usage {
	counted, usage := tables.WithUsage(context.WithValue(ctx, callKey{}, c))
	func() {
		defer func() {
			if p := recover(); p != nil {
				c.Log.Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				c.fail = Fail(Internal, "Something failed inside the service.")
			}
		}()
		err := s.begin(ctx) // not part of this request's cost
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

func (b *bound) judge(c *Call, a *Arguments) (any, error) {
	if a.bad != nil {
		return nil, a.bad
	}
	if keys := a.header.Values("Idempotency-Key"); keys != nil && b.e.Writes() && c.cred.kind != credNone {
		if !visibleASCII(keys[0], idempotencyKeyMost) {
			return nil, BadField("Idempotency-Key", "is not 1-64 visible ASCII characters")
		}
		c.idemKey, c.digest = keys[0], requestDigest(b.e.Method(), a.target, a.body)
	}
	return b.input(a)
}

// invoke makes an endpoint's input from the arguments, admits the request, and runs the
// handler. It checks the credential and the limits before it refuses bad arguments.
func (b *bound) invoke(ctx context.Context, c *Call, a *Arguments) (any, error) {
	e, work := b.e, b.e.work
	if c.Behind != nil && e.Writes() && c.Behind() {
		return nil, Fail(Unavailable, "The service is behind with its work, so this write was refused. Nothing was written.")
	}
	in, bad := b.judge(c, a)
	keys := func() []tables.Key { // none for a refused input
		switch r := in.(type) {
		case Reader:
			return r.Reads(c.agent)
		case RefReader:
			return c.refReads(r)
		}
		return nil
	}
	if r, ok := in.(CrowdReader); ok {
		c.crowded = r.Crowded()
	}
	if err := cmp.Or(c.admit(ctx, keys), bad); err != nil {
		return nil, err
	}
	var out any
	var err error
	if c.replay == "" {
		out, err = work.do(c.remembering(ctx), in)
	}
	// Reading several items takes no snapshot. Another copy of this request may have been
	// carried out during the read, and the handler may have refused because of the copy's
	// effect. So read the record once more.
	if work.again != nil && c.replay == "" && c.Agent != nil && !c.committed {
		if err == nil {
			return nil, errors.New("api: " + e.Route + " succeeded without committing its outcome")
		}
		c.lookAgain(ctx, err)
	}
	if c.replay != "" {
		c.header.Set("Idempotent-Replayed", "true")
		return work.again(ctx, in, c.replay)
	}
	return out, err
}
