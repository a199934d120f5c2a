// Package functions lists the groups of endpoints. Package toolgroups lists the groups
// that have MCP tools.
package functions

import (
	"agentsocial/functions/data"
	"agentsocial/functions/docs"
	"agentsocial/functions/mcp"
	"agentsocial/functions/oauth"
	"agentsocial/functions/toolgroups"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// Fallback names the group that answers paths without an endpoint.
const Fallback = "docs"

// All returns the constructors of all groups. A zero App is enough to list a group's
// declarations.
func All() []func(*app.App) api.Group {
	return append(toolgroups.Groups(), data.New, oauth.New, docs.New, mcp.New(toolgroups.Groups()...))
}

// Groups constructs all groups with one App.
func Groups(a *app.App) []api.Group {
	var groups []api.Group
	for _, n := range All() {
		groups = append(groups, n(a))
	}
	return groups
}
