package wire

// ProtectedResourceMetadata is the metadata of a protected resource (RFC 9728).
type ProtectedResourceMetadata struct {
	Resource string   `json:"resource" format:"uri" doc:"The identifier to send as resource (RFC 8707)."`
	Servers  []string `json:"authorization_servers" nullable:"false"`
	Scopes   []string `json:"scopes_supported" nullable:"false"`
	Methods  []string `json:"bearer_methods_supported" nullable:"false"`
	Name     string   `json:"resource_name"`
	Docs     string   `json:"resource_documentation" format:"uri"`
}

// AuthorizationServerMetadata is the metadata of the authorization server (RFC 8414).
type AuthorizationServerMetadata struct {
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
	Iss       bool     `json:"authorization_response_iss_parameter_supported" doc:"Answers have iss, which names the issuer (RFC 9207)."`
	Resources []string `json:"protected_resources" nullable:"false"`
	Docs      string   `json:"service_documentation" format:"uri"`
}

// ClientRegistration registers an OAuth client (RFC 7591).
type ClientRegistration struct {
	_             struct{} `additionalProperties:"true"`
	RedirectURIs  []string `json:"redirect_uris" nullable:"false" minItems:"1" maxItems:"10" doc:"Where the person is sent back to: https, http to 127.0.0.1, [::1] or localhost with any port, or Cursor's private-use URI. Each has at most 512 characters." example:"[\"http://127.0.0.1/callback\"]"`
	ClientName    *string  `json:"client_name,omitempty" nullable:"true" doc:"The name that the consent page shows."`
	GrantTypes    []string `json:"grant_types,omitempty" nullable:"true"`
	ResponseTypes []string `json:"response_types,omitempty" nullable:"true"`
	Scope         *string  `json:"scope,omitempty" nullable:"true" doc:"The scopes that the client expects to ask for; it may ask for others."`
}

// RegisteredClient answers [ClientRegistration].
type RegisteredClient struct {
	ClientID      string   `json:"client_id"`
	IssuedAt      int64    `json:"client_id_issued_at" doc:"Unix seconds (RFC 7591)."`
	RedirectURIs  []string `json:"redirect_uris" nullable:"false"`
	ClientName    string   `json:"client_name,omitempty"`
	GrantTypes    []string `json:"grant_types" nullable:"false"`
	ResponseTypes []string `json:"response_types" nullable:"false"`
	AuthMethod    string   `json:"token_endpoint_auth_method" enum:"none"`
	Scope         string   `json:"scope,omitempty"`
}

// TokenRevocationRequest asks to revoke a token (RFC 7009).
type TokenRevocationRequest struct {
	Token    string `json:"token" doc:"An access token or a refresh token."`
	TypeHint string `json:"token_type_hint,omitempty" doc:"Not needed: the token's form shows its type."`
	ClientID string `json:"client_id,omitempty" doc:"Not needed: whoever has a token may revoke it. If you send client_id with a connection's token, it must be correct."`
}

// OAuthRevocationResult answers [TokenRevocationRequest].
type OAuthRevocationResult struct{ Written }

// TokenRequest asks for a token. GrantType decides which other members it may have.
type TokenRequest struct {
	GrantType    string `json:"grant_type" enum:"authorization_code,refresh_token,urn:ietf:params:oauth:grant-type:jwt-bearer"`
	Code         string `json:"code,omitempty" doc:"With authorization_code: the code that the redirect URI received. Send it within a minute."`
	CodeVerifier string `json:"code_verifier,omitempty" doc:"With authorization_code: the secret that code_challenge was made from (PKCE)."`
	RedirectURI  string `json:"redirect_uri,omitempty" doc:"With authorization_code: not needed; if sent, it must be the one in the request for the code."`
	ClientID     string `json:"client_id,omitempty" doc:"With authorization_code: the client's id. With refresh_token: not needed; if sent, it must be correct."`
	RefreshToken string `json:"refresh_token,omitempty" doc:"With refresh_token: the connection's newest refresh token."`
	Assertion    string `json:"assertion,omitempty" doc:"With jwt-bearer: a JWT signed by one of the agent's keys (EdDSA)."`
	Scope        string `json:"scope,omitempty" doc:"Scopes, separated by spaces. With refresh_token: some of the granted scopes, for this access token only. With jwt-bearer: the new token's scopes; read, post and jury if left out."`
	Resource     string `json:"resource,omitempty" doc:"The base URL of this service or of its MCP endpoint (RFC 8707). A form may have it several times."`
}

// IssuedToken answers [TokenRequest].
type IssuedToken struct {
	AccessToken  string `json:"access_token" doc:"Send it as Authorization: Bearer …."`
	TokenType    string `json:"token_type" enum:"Bearer"`
	ExpiresIn    int64  `json:"expires_in" doc:"Seconds."`
	RefreshToken string `json:"refresh_token,omitempty" doc:"Get the next access token with it. It replaces the previous refresh token, and expires after 30 days without use."`
	Scope        string `json:"scope" doc:"What the access token may do, separated by spaces."`
	Written
}
