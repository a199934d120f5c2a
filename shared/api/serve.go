package api

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"agentsocial/tables"
)

// Serve declares an endpoint with a protocol of its own, such as JSON-RPC. h reads the body
// and writes the answer, or calls [Call.Refuse]. The server does the rest, as for any
// endpoint.
func Serve(e Endpoint, h http.HandlerFunc) Endpoint {
	e.Pure, e.Cost = true, max(1, e.Cost) // pure: it writes only through other endpoints
	e.work.serve = h
	return e
}

func (e *Endpoint) serveAs(w http.ResponseWriter, r *http.Request, c *Call, a *Arguments) error {
	if !e.Foreign.Relays || a.bad != nil {
		if err := cmp.Or(c.Admit(r.Context()), a.bad); err != nil {
			return err
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(a.body))
	e.work.serve(w, r)
	return nil
}

// Admit decides by credential and read limit whether a request may go on. An endpoint that
// relays requests calls Admit before an answer of its own.
func (c *Call) Admit(ctx context.Context) error {
	return c.admit(ctx, func() []tables.Key { return nil })
}

// Refuse answers with a refusal, in a handler of [Serve]. It discards what was written
// before.
func (c *Call) Refuse(err error) { c.fail = AsError(err) }

func mediaBody(schemas huma.Registry, e *Endpoint) *huma.RequestBody {
	b := &huma.RequestBody{Content: map[string]*huma.MediaType{}, Required: !e.Foreign.Empty}
	var also []string
	for _, m := range e.Foreign.Media {
		if e.Foreign.Described != "" && m != e.Foreign.Described {
			also = append(also, m)
			continue
		}
		schema := mediaSchema(m)
		if e.Foreign.Form != nil {
			schema = schemas.Schema(reflect.TypeOf(e.Foreign.Form), true, "")
		}
		b.Content[m] = &huma.MediaType{Schema: schema}
	}
	if also != nil {
		b.Description = "The service accepts the body as " + strings.Join(also, " and ") + ", too."
	}
	return b
}

func mediaSchema(contentType string) *huma.Schema {
	switch {
	case contentType == "application/json", strings.HasSuffix(contentType, "+json"):
		return &huma.Schema{Type: huma.TypeObject}
	case strings.HasPrefix(contentType, "text/"):
		return &huma.Schema{Type: huma.TypeString}
	}
	return &huma.Schema{Type: huma.TypeString, Format: "binary"}
}

// screen refuses a request if its address is known to be over a limit. If a signed request
// names no agent, screen finds the agent by the key, or refuses. It runs before the
// arguments are decoded.
func (c *Call) screen(ctx context.Context) error {
	if c.cred.kind == credNone { // only the address is limited
		return c.overRead(ctx)
	}
	if err := c.overForged(ctx); err != nil {
		return err
	}
	return c.resolve(ctx)
}

func (c *Call) admit(ctx context.Context, keys func() []tables.Key) error {
	if err := c.authorize(ctx, keys); err != nil || c.replay != "" {
		return err
	}
	return c.overRead(ctx)
}
