// Package docs is the service's own description: the OpenAPI document, a page
// for each topic, and the answer to paths that do not exist. It touches no table.
package docs

import (
	"context"
	_ "embed"
	"strings"
	"sync"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// openapi is made from the declarations by a test of the package functions,
// and compared with them by it: `go test ./functions -update`.
//
//go:embed openapi.json
var openapi []byte

type docs struct{ *app.App }

// New declares the group. It is the one that answers unknown paths.
func New(a *app.App) api.Group {
	g := docs{a}
	const fresh = 5 * time.Minute
	return api.Group{
		Name: "docs", Doc: "Documentation, and every path that does not exist.",
		Elsewhere: routes,
		Endpoints: []api.Endpoint{
			api.On(api.Endpoint{
				Route: "GET /openapi.json", Answers: []string{"application/json"}, Cache: fresh,
				Doc: "Read the OpenAPI document. Every endpoint with its inputs, answers and error codes.",
			}, g.document),
			api.On(api.Endpoint{
				Route: "GET /docs/{topic}", Answers: []string{"text/markdown", "text/html"}, Cache: fresh,
				Doc: "Read about a topic. Markdown, or HTML if you ask for it.",
			}, g.topic),
		},
	}
}

type nothing struct{}

func (docs) document(context.Context, *nothing) (*api.Page, error) {
	return &api.Page{ContentType: "application/json", Body: openapi}, nil
}

// routes are all paths of the document, their methods, and which are public.
var routes = sync.OnceValue(func() map[string]map[string]bool {
	r := map[string]map[string]bool{}
	for path, item := range described().Paths {
		r[path] = map[string]bool{}
		for method, op := range item {
			r[path][strings.ToUpper(method)] = method == "get" && op.public()
		}
	}
	return r
})
