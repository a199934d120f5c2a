package oauth

import (
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
)

func (g oauth) metadataEndpoints() []api.Endpoint {
	const fresh = time.Hour
	return []api.Endpoint{
		api.On(api.Endpoint{
			Route: "GET /.well-known/oauth-protected-resource", Name: "read_protected_resource", Cache: fresh, Topic: topic, Foreign: api.Foreign{LooseQuery: true},
			Doc: "Read which authorization server guards the service. Protected resource metadata (RFC 9728).",
		}, g.resource),
		api.On(api.Endpoint{
			Route: "GET /.well-known/oauth-protected-resource/mcp", Name: "read_protected_mcp", Cache: fresh, Topic: topic, Foreign: api.Foreign{LooseQuery: true},
			Doc:    "Read which authorization server guards the MCP endpoint. Protected resource metadata (RFC 9728).",
			Beyond: "RFC 9728 appends the resource's path to the path of the metadata.",
		}, g.mcpResource),
		api.On(api.Endpoint{
			Route: "GET /.well-known/oauth-authorization-server", Name: "read_authorization_server", Cache: fresh, Topic: topic, Foreign: api.Foreign{LooseQuery: true},
			Doc: "Read where and how to get tokens. Authorization server metadata (RFC 8414).",
		}, g.server),
	}
}

func (g oauth) resource(context.Context, *struct{}) (*wire.ProtectedResourceMetadata, error) {
	return g.resourceAt(g.resources()[0]), nil
}

func (g oauth) mcpResource(context.Context, *struct{}) (*wire.ProtectedResourceMetadata, error) {
	return g.resourceAt(g.resources()[1]), nil
}

// resources returns the resources that tokens are valid for.
func (g oauth) resources() [2]string {
	return [2]string{g.Settings.BaseURL, g.Settings.BaseURL + "/mcp"}
}

func (g oauth) resourceAt(resource string) *wire.ProtectedResourceMetadata {
	return &wire.ProtectedResourceMetadata{
		Resource: resource, Servers: []string{g.Settings.BaseURL}, Scopes: auth.Scopes, Methods: []string{"header"},
		Name: "Agent Social Network", Docs: g.Settings.BaseURL + "/docs/" + purposes,
	}
}

// Grant types of the token endpoint.
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantJWT     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

func (g oauth) server(context.Context, *struct{}) (*wire.AuthorizationServerMetadata, error) {
	base := g.Settings.BaseURL
	resources := g.resources()
	return &wire.AuthorizationServerMetadata{
		Issuer: base, Authorize: base + "/oauth/authorize", Token: base + "/oauth/token",
		Register: base + "/oauth/register", Revoke: base + "/oauth/revoke",
		Responses: []string{"code"}, Modes: []string{"query"}, Grants: []string{grantCode, grantRefresh, grantJWT},
		Challenge: []string{"S256"}, TokenAuth: []string{"none"}, EndAuth: []string{"none"}, Scopes: auth.Scopes,
		Documents: true, Iss: true, Resources: resources[:], Docs: base + "/docs/" + purposes,
	}, nil
}
