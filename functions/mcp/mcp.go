// Package mcp is the service for agents that speak the Model Context Protocol:
// POST /mcp, whose tools are endpoints of the other groups. A call of a tool is a
// call of its endpoint, in this process: what the endpoint takes, allows, limits,
// repeats and refuses is what it does over HTTP.
//
// The protocol is the SDK's; what stands around it is here: which methods there
// are, who may ask, and what becomes of an answer that HTTP has a status for.
// Nothing is kept between two requests.
package mcp

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// bodyMost holds a private memory with each of its characters escaped.
const bodyMost = 768 << 10

// The tools and their schemas are made from the declarations by a test of the
// package functions, and compared with them by it: `make golden`.
// To make them anew in each process would take longer than all else at its start.
var (
	//go:embed tools.json
	toolsJSON []byte
	//go:embed schemas.json
	schemasJSON []byte
)

type mcp struct {
	*app.App
	servers map[string]func() *api.Server // of the other groups, each made when it is first called

	// made by warm
	tools    map[string]*api.Tool
	words    func(text string) string // names tools where it names their endpoints
	protocol *sdk.StreamableHTTPHandler
}

// New declares the group, whose tools are those endpoints of the others that
// name one. Its function does what theirs do, and needs what they need.
func New(others ...func(*app.App) api.Group) func(*app.App) api.Group {
	return func(a *app.App) api.Group {
		g := &mcp{App: a, servers: map[string]func() *api.Server{}}
		var all api.Group
		for _, declare := range others {
			group := declare(a)
			g.servers[group.Name] = sync.OnceValue(func() *api.Server { return api.NewServer(a, group) })
			all.Needs, all.Reads, all.Writes = all.Needs|group.Needs, all.Reads|group.Reads, all.Writes|group.Writes
		}
		return api.Group{
			Name: "mcp", Doc: "The Model Context Protocol: tools that are endpoints of the other groups.",
			Needs: all.Needs, Reads: all.Reads, Writes: all.Writes, Warm: g.warm,
			Endpoints: []api.Endpoint{api.Serve(api.Endpoint{
				Route: "POST /mcp", Auth: api.Bearer, Topic: "mcp", Signup: true, FewPages: true, Body: bodyMost,
				Foreign: api.Foreign{
					Media: []string{"application/json"}, Answers: []string{"application/json"}, AnyOrigin: true, Relays: true,
					Own: []int{http.StatusAccepted, http.StatusBadRequest, http.StatusNotFound},
				},
				Errors: []api.Code{api.ScopeMissing, api.PageRefused},
				Doc:    "Speak the Model Context Protocol. Streamable HTTP without sessions: each request is a JSON-RPC message, and its answer is JSON.",
			}, g.serve)},
		}
	}
}

// warm makes what every request needs, once in a process.
func (g *mcp) warm() {
	var tools []api.Tool
	mustRead(toolsJSON, &tools)
	g.tools = make(map[string]*api.Tool, len(tools))
	routes := make(map[string]string, len(tools))
	for i := range tools {
		g.tools[tools[i].Name], routes[tools[i].Name] = &tools[i], tools[i].Route
	}
	g.words = api.ToolWords(routes)
	server := g.newServer(tools)
	g.protocol = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		MaxRequestBodyBytes:        bodyMost,
		DisableLocalhostProtection: true, // it looks at Host; that pages of others cannot call, the header Origin tells
	})
}

// mustRead reads one of the files that a test wrote.
func mustRead(file []byte, into any) {
	if err := json.Unmarshal(file, into); err != nil {
		panic("mcp: " + err.Error())
	}
}
