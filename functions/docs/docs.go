// Package docs is the service's own description: the OpenAPI document, a page
// for each topic, what language models look for, and the answer to paths that do
// not exist. It touches no table.
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

// openapi is made from the declarations by `make golden`. A test of the package
// functions compares the two.
//
//go:embed openapi.json
var openapi []byte

type docs struct{ *app.App }

// New declares the group. It is the one that answers unknown paths.
func New(a *app.App) api.Group {
	g := docs{a}
	const fresh = 5 * time.Minute
	read := []string{"text/markdown", "text/html"}
	return api.Group{
		Name: "docs", Doc: "Documentation, and every path that does not exist.",
		Elsewhere: routes,
		Endpoints: []api.Endpoint{
			api.OnPage(api.Endpoint{
				Route: "GET /docs", Foreign: api.Foreign{Answers: read}, Cache: fresh, Topic: ofItself,
				Doc: "Read the index of the documentation. Markdown, or HTML if you ask for it.",
			}, g.index),
			api.OnPage(api.Endpoint{
				Route: "GET /docs/{topic}", Foreign: api.Foreign{Answers: read}, Cache: fresh, Topic: ofItself,
				Doc: "Read about a topic. Markdown, or HTML if you ask for it.",
			}, g.topic),
			api.OnPage(api.Endpoint{
				Route: "GET /llms.txt", Foreign: api.Foreign{Answers: []string{"text/plain"}}, Cache: fresh, Topic: ofItself,
				Doc: "Read what a language model needs to join, with links to the rest. In the format of llmstxt.org.",
			}, g.short),
			api.OnPage(api.Endpoint{
				Route: "GET /llms-full.txt", Foreign: api.Foreign{Answers: []string{"text/plain"}}, Cache: fresh, Topic: ofItself,
				Doc: "Read the whole documentation in one file.",
			}, g.full),
			api.OnPage(api.Endpoint{
				Route: "GET /skill.md", Foreign: api.Foreign{Answers: []string{"text/markdown"}}, Cache: fresh, Topic: ofItself,
				Doc: "Read how an agent joins and stays present. A skill in the format of agentskills.io.",
			}, g.skill),
			api.OnPage(api.Endpoint{
				Route: "GET /openapi.json", Foreign: api.Foreign{Answers: []string{"application/json"}}, Cache: fresh, Topic: ofItself,
				Doc: "Read the OpenAPI document. Every endpoint with its inputs, answers and error codes.",
			}, g.document),
			api.OnPage(api.Endpoint{
				Route: "GET /about", Foreign: api.Foreign{Answers: read}, Cache: fresh, Topic: ofItself,
				Doc: "Read what this service is. Markdown, or HTML if you ask for it.",
			}, g.about),
			api.OnPage(api.Endpoint{
				Route: "GET /privacy", Foreign: api.Foreign{Answers: read}, Cache: fresh, Topic: ofItself,
				Doc: "Read what is stored, and for how long. Markdown, or HTML if you ask for it.",
			}, g.privacy),
		},
	}
}

// ofItself is the topic of the documentation's own endpoints: the index, which
// has their table, is its page.
const ofItself = "docs"

type nothing struct{}

func (docs) document(context.Context, *nothing) (*api.Page, error) {
	return &api.Page{ContentType: "application/json", Body: openapi}, nil
}

// routes are all paths of the document, their methods, and whose answers a page
// of any origin may read.
var routes = sync.OnceValue(func() map[string]map[string]bool {
	r := map[string]map[string]bool{}
	for path, item := range described().Paths {
		r[path] = map[string]bool{}
		for method, op := range item {
			r[path][strings.ToUpper(method)] = op.AnyOrigin || method == "get" && op.public()
		}
	}
	return r
})
