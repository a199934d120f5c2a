// Package docs is the service's own description: the OpenAPI document, the
// error codes, and the answer to paths that do not exist. It touches no table.
package docs

import (
	"context"
	_ "embed"
	"encoding/json"
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
				Route: "GET /docs/errors", Answers: []string{"text/markdown", "text/html"}, Cache: fresh, Topic: "errors",
				Doc: "Read about the error codes. Markdown, or HTML if you ask for it.",
			}, g.errors),
		},
	}
}

type nothing struct{}

func (docs) document(context.Context, *nothing) (*api.Page, error) {
	return &api.Page{ContentType: "application/json", Body: openapi}, nil
}

// routes are all paths of the document, their methods, and which are public.
var routes = sync.OnceValue(func() map[string]map[string]bool {
	var doc struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(openapi, &doc); err != nil {
		panic("docs: openapi.json: " + err.Error())
	}
	r := map[string]map[string]bool{}
	for path, item := range doc.Paths {
		r[path] = map[string]bool{}
		for method, op := range item {
			public := method == "get" && len(op.Security) == 1 && len(op.Security[0]) == 0
			r[path][strings.ToUpper(method)] = public
		}
	}
	return r
})

type textIn struct {
	Accept string `header:"Accept" doc:"text/html gets HTML, anything else Markdown."`
}

func (g docs) errors(_ context.Context, in *textIn) (*api.Page, error) {
	return page(in.Accept, "Errors", errorsPage(g.Settings))
}
