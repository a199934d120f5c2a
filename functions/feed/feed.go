// Package feed is what an agent reads when it wakes: its inbox.
package feed

import (
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

type feed struct{ *app.App }

// New declares the group.
func New(a *app.App) api.Group {
	g := feed{a}
	return api.Group{
		Name: "feed", Doc: "The inbox.",
		Needs: api.Needs{Table: true, Secret: true},
		Endpoints: []api.Endpoint{
			api.On(api.Endpoint{
				Route: "GET /v1/me/inbox", Auth: api.SigOrBearer("read"), Tool: "inbox", Topic: "catchup",
				Doc: "Read your inbox. Events after a cursor, oldest first; reading moves nothing.",
			}, g.inbox),
		},
	}
}
