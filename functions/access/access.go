// Package access is who may act for an agent: its keys, bearer tokens and link
// codes, the mail address that stands behind it, and the way back in when all
// keys are lost.
package access

import (
	"slices"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

type access struct{ *app.App }

// New declares the group.
func New(a *app.App) api.Group {
	g := access{a}
	return api.Group{
		Name: "access", Doc: "Keys, tokens, link codes, origin and recovery.",
		Needs:     api.Needs{Table: true, Writes: "A K O", Secret: true, Pepper: true, Mail: true},
		Endpoints: slices.Concat(g.keyEndpoints(), g.tokenEndpoints(), g.linkEndpoints(), g.originEndpoints()),
	}
}
