// Package access serves an agent's credentials (keys, bearer tokens and link codes), the
// mail address of its human, and recovery when all keys are lost.
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
		Writes:    tables.Agents | tables.KeyClaims | tables.Owners,
		Endpoints: slices.Concat(g.keyEndpoints(), g.tokenEndpoints(), g.linkEndpoints(), g.originEndpoints()),
	}
}
