package api

import (
	"context"
	"net/http"

	"agentsocial/tables"
)

// Relayed is what another server answered in a call's stead.
type Relayed struct {
	Status  int
	Header  http.Header
	Body    []byte
	Refusal *Error // nil if it is none
	Proved  bool   // the credential was looked for, and is one
}

// Relay has another server answer a request as a part of this call: with its
// credential, under its request id, from its address. The endpoint judges scopes,
// limits and repetition, and writes a line of its own, which names the tool;
// nothing of it counts for this call.
func (c *Call) Relay(ctx context.Context, to *Server, tool string, r *http.Request) Relayed {
	c.relayed.Store(true)
	ctx, _ = tables.WithUsage(ctx)
	raw, _ := ctx.Value(rawKey{}).(Raw)
	raw.Path, raw.Query = r.URL.Path, r.URL.RawQuery
	rec, call := to.answer(r.WithContext(WithRaw(ctx, raw)), tool)
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	return Relayed{rec.status, rec.header, rec.body.Bytes(), call.fail, call.Agent != nil}
}

// Refused is a refusal as an endpoint of this server would answer it.
func (s *Server) Refused(err error) Relayed {
	e := asError(err)
	rec := &recorder{header: http.Header{}}
	s.writeError(rec, &http.Request{Header: http.Header{}}, e, &Endpoint{})
	return Relayed{Status: rec.status, Header: rec.header, Body: rec.body.Bytes(), Refusal: e}
}
