package api

import (
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// served is an endpoint of a server. It is bound when it is first asked for: huma
// takes a tenth of a millisecond to look through its types, and a function that
// starts for one request should not wait for those of all that it could be asked.
type served struct {
	Endpoint
	bound func() *bound
}

func newServed(group string, e Endpoint) *served {
	s := &served{Endpoint: e}
	s.bound = sync.OnceValue(func() *bound { return bind(group, &s.Endpoint) })
	return s
}

// bound is what huma made of an endpoint's types. Each endpoint has schemas of
// its own, so that one can be bound while others are served.
type bound struct {
	schemas   huma.Registry // of its input
	params    []string      // its query members
	takesBody bool
	serve     http.HandlerFunc
}

func bind(group string, e *Endpoint) *bound {
	var b bound
	a := huma.NewAPI(config(&group), &b)
	e.register(a, e)
	op := operationOf(a.OpenAPI(), e)
	b.schemas, b.params, b.takesBody = a.OpenAPI().Components.Schemas, queryMembers(op), op.RequestBody != nil
	return &b
}

// Handle implements huma.Adapter.
func (b *bound) Handle(op *huma.Operation, h func(huma.Context)) {
	b.serve = func(w http.ResponseWriter, r *http.Request) { h(humago.NewContext(op, r, w)) }
}

// ServeHTTP implements huma.Adapter. The server's own mux has found the endpoint,
// and the values of the path.
func (b *bound) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.serve(w, r) }
