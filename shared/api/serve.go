package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"agentsocial/tables"
)

// Serve declares an endpoint with a protocol of its own, such as JSON-RPC. h reads
// the request's body and writes the answer, or calls [Call.Refuse]. Matching, the
// body limit, the credential, the read limit, headers and the log line are as for
// any endpoint.
func Serve(e Endpoint, h http.HandlerFunc) Endpoint {
	e.Pure, e.Cost = true, max(1, e.Cost) // what it writes, it writes through endpoints
	e.work.serve = h
	return e
}

// serveAs answers a request with such an endpoint.
func (e *Endpoint) serveAs(w http.ResponseWriter, r *http.Request, c *Call) error {
	if !e.Foreign.Relays {
		if err := c.Admit(r.Context()); err != nil {
			return err
		}
	}
	e.work.serve(w, r)
	return nil
}

// Admit decides whether a request may go on, by its credential and the read
// limit. An endpoint that relays calls it before it answers anything itself.
func (c *Call) Admit(ctx context.Context) error {
	return c.admit(ctx, func() []tables.Key { return nil })
}

// Refuse answers a request to [Serve]'s handler with a refusal. It discards what was
// written before.
func (c *Call) Refuse(err error) { c.fail = AsError(err) }

// mediaBody documents a body whose form another standard prescribes.
func mediaBody(schemas huma.Registry, e *Endpoint) *huma.RequestBody {
	b := &huma.RequestBody{Content: map[string]*huma.MediaType{}, Required: !e.Foreign.Empty}
	for _, m := range e.Foreign.Media {
		schema := mediaSchema(m)
		if e.Foreign.Form != nil {
			schema = schemas.Schema(reflect.TypeOf(e.Foreign.Form), true, "")
		}
		b.Content[m] = &huma.MediaType{Schema: schema}
	}
	return b
}

// mediaSchema returns the schema of a content type: a string for text, an object for
// JSON, else bytes.
func mediaSchema(contentType string) *huma.Schema {
	switch {
	case contentType == "application/json", strings.HasSuffix(contentType, "+json"):
		return &huma.Schema{Type: huma.TypeObject}
	case strings.HasPrefix(contentType, "text/"):
		return &huma.Schema{Type: huma.TypeString}
	}
	return &huma.Schema{Type: huma.TypeString, Format: "binary"}
}

// admit decides whether a request may go on to its endpoint's own work.
func (c *Call) admit(ctx context.Context, keys func() []tables.Key) error {
	if c.cred.kind == credNone { // the address is known before anything is read
		if err := c.overRead(ctx); err != nil {
			return err
		}
	} else if err := c.overForged(ctx); err != nil {
		return err
	}
	if err := c.resolve(ctx); err != nil {
		return err
	}
	if err := c.authorize(ctx, keys); err != nil || c.replay != "" {
		return err
	}
	return c.overRead(ctx)
}
