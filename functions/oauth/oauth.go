// Package oauth is how a program that a person uses comes to act for an agent:
// it registers, sends the person to a page that asks for consent, and is given
// tokens for the code that it brings back (OAuth 2.1, with the parts of it that
// MCP clients need).
package oauth

import (
	"slices"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

type oauth struct{ *app.App }

// New declares the group.
func New(a *app.App) api.Group {
	g := oauth{a}
	return api.Group{
		Name: "oauth", Doc: "OAuth: discovery, registration of clients, consent, tokens.",
		Needs:     api.Needs{Table: true, Secret: true, Pepper: true, Mail: true, Fetch: true},
		Endpoints: slices.Concat(g.metadataEndpoints(), g.clientEndpoints(), g.consentEndpoints(), g.tokenEndpoints()),
	}
}

// Topics of the documentation: how it is done, and what for.
const (
	topic    = "tokens"
	purposes = "mcp"
)
