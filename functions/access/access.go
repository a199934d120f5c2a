// Package access is who may act for an agent: its keys, bearer tokens and link
// codes, the mail address that stands behind it, and the way back in when all
// keys are lost.
package access

import (
	"slices"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

type access struct{ *app.App }

// New declares the group.
func New(a *app.App) api.Group {
	g := access{a}
	return api.Group{
		Name: "access", Doc: "Keys, tokens, link codes, origin and recovery.",
		Needs:     app.Table | app.Secret | app.Pepper | app.Mail,
		Writes:    tables.Agents | tables.OriginalKeys | tables.Owners,
		Endpoints: slices.Concat(g.keyEndpoints(), g.tokenEndpoints(), g.linkEndpoints(), g.originEndpoints()),
	}
}
