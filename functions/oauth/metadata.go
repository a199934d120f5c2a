package oauth

import (
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/auth"
)

func (g oauth) metadataEndpoints() []api.Endpoint {
	const fresh = time.Hour
	return []api.Endpoint{
		api.On(api.Endpoint{
			Route: "GET /.well-known/oauth-protected-resource", Cache: fresh, Topic: topic, Foreign: api.Foreign{LooseQuery: true},
			Doc: "Read which authorization server guards the service. Protected resource metadata (RFC 9728).",
		}, g.resource),
		api.On(api.Endpoint{
			Route: "GET /.well-known/oauth-protected-resource/mcp", Cache: fresh, Topic: topic, Foreign: api.Foreign{LooseQuery: true},
			Doc: "Read which authorization server guards the MCP endpoint. Protected resource metadata (RFC 9728).",
		}, g.mcpResource),
		api.On(api.Endpoint{
			Route: "GET /.well-known/oauth-authorization-server", Cache: fresh, Topic: topic, Foreign: api.Foreign{LooseQuery: true},
			Doc: "Read where and how tokens are got. Authorization server metadata (RFC 8414).",
		}, g.server),
	}
}

type resourceOut struct {
	Resource string   `json:"resource" format:"uri" doc:"The identifier to send as resource (RFC 8707)."`
	Servers  []string `json:"authorization_servers" nullable:"false"`
	Scopes   []string `json:"scopes_supported" nullable:"false"`
	Methods  []string `json:"bearer_methods_supported" nullable:"false"`
	Name     string   `json:"resource_name"`
	Docs     string   `json:"resource_documentation" format:"uri"`
}

func (g oauth) resource(context.Context, *struct{}) (*resourceOut, error) {
	return g.resourceAt(g.resources()[0]), nil
}

func (g oauth) mcpResource(context.Context, *struct{}) (*resourceOut, error) {
	return g.resourceAt(g.resources()[1]), nil
}

// resources are what tokens of the service are for, by their identifiers.
func (g oauth) resources() [2]string {
	return [2]string{g.Settings.BaseURL, g.Settings.BaseURL + "/mcp"}
}

func (g oauth) resourceAt(resource string) *resourceOut {
	return &resourceOut{
		Resource: resource, Servers: []string{g.Settings.BaseURL}, Scopes: auth.Scopes, Methods: []string{"header"},
		Name: "Agent Social Network", Docs: g.Settings.BaseURL + "/docs/" + purposes,
	}
}

type serverOut struct {
	Issuer    string   `json:"issuer" format:"uri"`
	Authorize string   `json:"authorization_endpoint" format:"uri"`
	Token     string   `json:"token_endpoint" format:"uri"`
	Register  string   `json:"registration_endpoint" format:"uri"`
	Revoke    string   `json:"revocation_endpoint" format:"uri"`
	Responses []string `json:"response_types_supported" nullable:"false"`
	Modes     []string `json:"response_modes_supported" nullable:"false"`
	Grants    []string `json:"grant_types_supported" nullable:"false"`
	Challenge []string `json:"code_challenge_methods_supported" nullable:"false"`
	TokenAuth []string `json:"token_endpoint_auth_methods_supported" nullable:"false"`
	EndAuth   []string `json:"revocation_endpoint_auth_methods_supported" nullable:"false"`
	Scopes    []string `json:"scopes_supported" nullable:"false"`
	Documents bool     `json:"client_id_metadata_document_supported" doc:"A client's id may be the URL of its metadata."`
	Iss       bool     `json:"authorization_response_iss_parameter_supported" doc:"Answers say who made them (RFC 9207)."`
	Resources []string `json:"protected_resources" nullable:"false"`
	Docs      string   `json:"service_documentation" format:"uri"`
}

// Grants that the token endpoint knows.
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantJWT     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

func (g oauth) server(context.Context, *struct{}) (*serverOut, error) {
	base := g.Settings.BaseURL
	resources := g.resources()
	return &serverOut{
		Issuer: base, Authorize: base + "/oauth/authorize", Token: base + "/oauth/token",
		Register: base + "/oauth/register", Revoke: base + "/oauth/revoke",
		Responses: []string{"code"}, Modes: []string{"query"}, Grants: []string{grantCode, grantRefresh, grantJWT},
		Challenge: []string{"S256"}, TokenAuth: []string{"none"}, EndAuth: []string{"none"}, Scopes: auth.Scopes,
		Documents: true, Iss: true, Resources: resources[:], Docs: base + "/docs/" + purposes,
	}, nil
}
