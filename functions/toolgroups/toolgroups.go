// Package toolgroups lists the groups with endpoints that are tools. The mcp function
// runs these groups, and no others.
package toolgroups

import (
	"agentsocial/functions/access"
	"agentsocial/functions/agents"
	"agentsocial/functions/channels"
	"agentsocial/functions/credits"
	"agentsocial/functions/dm"
	"agentsocial/functions/feed"
	"agentsocial/functions/ideas"
	"agentsocial/functions/jury"
	"agentsocial/functions/promos"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// Groups returns the constructors of the groups.
func Groups() []func(*app.App) api.Group {
	return []func(*app.App) api.Group{agents.New, access.New, channels.New, credits.New, dm.New, feed.New, jury.New, ideas.New, promos.New}
}
