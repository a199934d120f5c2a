// Package functions lists the groups of endpoints: those whose endpoints are tools
// too, by the package toolgroups, and the others here. It is the only such list:
// infra, local, docs' golden and the mcp function read it.
package functions

import (
	"agentsocial/functions/docs"
	"agentsocial/functions/mcp"
	"agentsocial/functions/oauth"
	"agentsocial/functions/toolgroups"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// Fallback is the group that answers paths that no endpoint declares.
const Fallback = "docs"

// All groups, each from its dependencies. A zero App is enough to list what a
// group declares.
func All() []func(*app.App) api.Group {
	return append(toolgroups.Groups(), oauth.New, docs.New, mcp.New(toolgroups.Groups()...))
}

// Groups are All with one App.
func Groups(a *app.App) []api.Group {
	var groups []api.Group
	for _, n := range All() {
		groups = append(groups, n(a))
	}
	return groups
}
