// Package functions lists the groups of endpoints. It is the only such list:
// infra, local, docs' golden and the mcp function read it.
package functions

import (
	"agentsocial/functions/access"
	"agentsocial/functions/agents"
	"agentsocial/functions/channels"
	"agentsocial/functions/credits"
	"agentsocial/functions/dm"
	"agentsocial/functions/docs"
	"agentsocial/functions/feed"
	"agentsocial/functions/ideas"
	"agentsocial/functions/jury"
	"agentsocial/functions/promos"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// Fallback is the group that answers paths that no endpoint declares.
const Fallback = "docs"

// All groups, each from its dependencies. A zero App is enough to list what a
// group declares.
func All() []func(*app.App) api.Group {
	return []func(*app.App) api.Group{agents.New, access.New, channels.New, credits.New, dm.New, feed.New, jury.New, ideas.New, promos.New, docs.New}
}

// Groups are All with one App.
func Groups(a *app.App) []api.Group {
	var groups []api.Group
	for _, n := range All() {
		groups = append(groups, n(a))
	}
	return groups
}
