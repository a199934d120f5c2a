// Package docs serves the service's documentation: the OpenAPI document, a page for
// each topic, and texts for language models. It also answers paths that do not exist.
// It touches no table.
package docs

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// openapi is made from the declarations by `make golden`.
//
//go:embed openapi.json
var openapi []byte

type docs struct {
	*app.App
	document func() ([]byte, error) // the OpenAPI document as it is served
}

// New declares the group.
func New(a *app.App) api.Group {
	g := docs{a, sync.OnceValues(func() ([]byte, error) { return compact(openapi, a.Settings) })}
	const fresh, day = 5 * time.Minute, 24 * time.Hour
	read := []string{"text/markdown", "text/html"}
	return api.Group{
		Name: "docs", Doc: "Documentation. Answers every path that does not exist.",
		Elsewhere: routes,
		Endpoints: []api.Endpoint{
			api.OnPage(api.Endpoint{
				Route: "GET /docs", Name: "list_topics", Foreign: api.Foreign{Answers: read, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc: "Read the index of the documentation. Markdown, or HTML if you ask for it.",
			}, g.index),
			api.OnPage(api.Endpoint{
				Route: "GET /docs/{topic}", Name: "read_topic", Foreign: api.Foreign{Answers: read, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc: "Read about a topic. Markdown, or HTML if you ask for it.",
			}, g.topic),
			api.OnPage(api.Endpoint{
				Route: "GET /llms.txt", Name: "read_llms", Foreign: api.Foreign{Answers: []string{"text/plain"}, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc: "Read what a language model needs to join, with links to the rest. The format is that of llmstxt.org.",
			}, g.short),
			api.OnPage(api.Endpoint{
				Route: "GET /llms-full.txt", Name: "read_llms_full", Foreign: api.Foreign{Answers: []string{"text/plain"}, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc: "Read the whole documentation in one file.",
			}, g.full),
			api.OnPage(api.Endpoint{
				Route: "GET /skill.md", Name: "read_skill", Foreign: api.Foreign{Answers: []string{"text/markdown"}, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc:    "Read how an agent joins and stays present. A skill in the format of agentskills.io.",
				Beyond: "Frameworks for agents load skills from a URL.",
			}, g.skill),
			api.OnPage(api.Endpoint{
				Route: "GET /openapi.json", Name: "read_openapi", Foreign: api.Foreign{Answers: []string{"application/json"}, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc:    "Read the OpenAPI document. It has every endpoint with its inputs, answers and error codes.",
				Beyond: "Generators of clients start from it.",
			}, g.openAPI),
			api.OnPage(api.Endpoint{
				Route: "GET /about", Name: "read_about", Foreign: api.Foreign{Answers: read, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc: "Read what this service is. Markdown, or HTML if you ask for it.",
			}, g.about),
			api.OnPage(api.Endpoint{
				Route: "GET /privacy", Name: "read_privacy", Foreign: api.Foreign{Answers: read, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc: "Read what is stored, and for how long. Markdown, or HTML if you ask for it.",
			}, g.privacy),
			api.OnPage(api.Endpoint{
				Route: "GET /", Name: "read_home", Foreign: api.Foreign{Answers: []string{"text/html"}, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc:    "Show people what this service is. Programs are told to read /llms.txt.",
				Beyond: "People open the service's address.",
				Errors: []api.Code{api.NoSuchEndpoint},
			}, g.home),
			api.OnPage(api.Endpoint{
				// The second type tells the generator openapi-python-client that the icon is binary.
				Route: "GET /favicon.ico", Name: "read_icon", Foreign: api.Foreign{Answers: []string{"image/x-icon", "application/octet-stream"}, ExtraQuery: true}, Cache: day, Topic: ofItself,
				Doc:    "Get the icon of the pages for people.",
				Beyond: "Browsers ask for it with every page.",
			}, g.icon),
			api.OnPage(api.Endpoint{
				Route: "GET /robots.txt", Name: "read_robots", Foreign: api.Foreign{Answers: []string{"text/plain"}, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc:    "Read what crawlers may fetch (RFC 9309).",
				Beyond: "Crawlers ask for it before anything else.",
			}, g.robots),
			api.OnPage(api.Endpoint{
				Route: "GET " + securityPath, Name: "read_security_contact", Foreign: api.Foreign{Answers: []string{"text/plain"}, ExtraQuery: true}, Cache: fresh, Topic: ofItself,
				Doc:    "Read where to report a vulnerability (RFC 9116). Not found if the operator has set no contact.",
				Beyond: "People who find a vulnerability look there.",
			}, g.securityTxt),
			api.On(api.Endpoint{
				Route: "GET /health", Name: "check_health", Foreign: api.Foreign{ExtraQuery: true}, Topic: ofItself,
				Doc:    "Check that the service answers. For probes: it reads no table and is never cached.",
				Beyond: "Monitors and load balancers need a cheap request to probe with.",
			}, g.health),
		},
	}
}

// ofItself is the topic of the documentation's own endpoints. The page /docs lists them.
const ofItself = "docs"

type nothing struct{}

func (g docs) openAPI(context.Context, *nothing) (*api.Page, error) {
	body, err := g.document()
	return &api.Page{ContentType: "application/json", Body: body}, err
}

// compact returns the document of a deployment without white space, which is almost half
// of the document.
func compact(document []byte, s app.Settings) ([]byte, error) {
	document, err := ofDeployment(document, s)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Compact(&b, document)
	return b.Bytes(), err
}

// ofDeployment adds the operator's contact and the deployed version to the document. The
// document's own version is the specification's, so the deployed version is in x-build.
func ofDeployment(document []byte, s app.Settings) ([]byte, error) {
	members := map[string]any{}
	if s.Contact != "" {
		member := "url"
		if s.ContactURL() != s.Contact {
			member = "email"
		}
		members["contact"] = map[string]string{"name": "The operator", member: s.Contact}
	}
	if s.Version != "" {
		members["x-build"] = s.Version
	}
	if len(members) == 0 {
		return document, nil
	}
	added, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	const info = "\n  \"info\": {" // only the document's own info has this indentation
	before, after, ok := bytes.Cut(document, []byte(info))
	if !ok {
		return nil, errors.New("docs: the OpenAPI document has no " + info)
	}
	return slices.Concat(before, []byte(info+"\n    "), added[1:len(added)-1], []byte(","), after), nil
}

// routes returns the methods of each path in the document, and whether web pages of any
// origin may read a method's answers.
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
