// Package mcp serves the Model Context Protocol at POST /mcp. Its tools are endpoints
// of the other groups. A tool call has the same rights, limits and refusals as a call
// over HTTP.
//
// The SDK speaks the protocol. This package decides which methods exist, checks the
// credential, and turns some refusals into HTTP statuses.
package mcp

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/text/pack"
)

// bodyMost has room for the largest private memory with all non-ASCII escaped,
// which makes é three times as long. 16 KiB are for the rest of the message.
const bodyMost = 3*pack.Most + 16<<10

// `make golden` writes the tools and their schemas. Building them would more than
// double the time that a process takes to start.
var (
	//go:embed tools.json
	toolsJSON []byte
	//go:embed schemas.json
	schemasJSON []byte
)

type mcp struct {
	*app.App
	servers map[string]func() *api.Server // by group; each is made when it is first called

	// set by warm
	tools    map[string]*api.Tool
	words    func(text string) string // replaces endpoints in a text by their tools
	protocol *sdk.StreamableHTTPHandler
}

// New declares the group. Its tools are the endpoints of the other groups that name a
// tool.
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
				Route: "POST /mcp", Name: "call_mcp", Auth: api.Bearer, Topic: "mcp", Signup: true, FewPages: true, Body: bodyMost,
				Foreign: api.Foreign{
					Media: []string{"application/json"}, Answers: []string{"application/json"}, AnyOrigin: true, Relays: true,
					Own: []int{http.StatusAccepted, http.StatusBadRequest, http.StatusNotFound},
				},
				Errors: []api.Code{api.ScopeMissing, api.PageRefused},
				Beyond: "The specification mentions MCP without a path.",
				Doc:    "Speak the Model Context Protocol. Streamable HTTP without sessions: requests are JSON-RPC, and answers are JSON.",
			}, g.serve)},
		}
	}
}

// warm builds what every request needs, once in a process.
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
		DisableLocalhostProtection: true, // it checks Host; the service checks Origin instead
	})
}

func mustRead(file []byte, into any) {
	if err := json.Unmarshal(file, into); err != nil {
		panic("mcp: " + err.Error())
	}
}
