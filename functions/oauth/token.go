package oauth

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/auth"
	"agentsocial/tables"
)

// accessLives is how long an access token lives.
const accessLives = time.Hour

// tokenEndpoints are those where tokens are got and given back.
func (g oauth) tokenEndpoints() []api.Endpoint {
	const topic = "tokens"
	return []api.Endpoint{
		api.On(api.Endpoint{
			Route: "POST /oauth/token", Topic: topic,
			Foreign: api.Foreign{AnyOrigin: true, NoBearer: true, Proved: true, Media: media, Form: tokenForm{}, Refuse: asAsked(g.Settings.BaseURL)},
			Doc:     "Get a token. For an authorization code, for a refresh token, which is good for one answer, or for an assertion that is signed with a key of yours. A form, or a JSON object with the same members; an error has the form of RFC 6749 for the one, and of this service for the other.",
			Errors: []api.Code{
				api.InvalidRequest, api.InvalidClient, api.InvalidGrant, api.InvalidScope, api.InvalidTarget, api.UnsupportedGrant,
			},
		}, g.token),
		api.On(api.Endpoint{
			Route: "POST /oauth/revoke", Topic: topic,
			Foreign: api.Foreign{AnyOrigin: true, NoBearer: true, Media: media, Form: revokeForm{}, Refuse: asAsked(g.Settings.BaseURL)},
			Doc:     "Revoke a token. An access token alone; a refresh token with its whole connection. The answer is the same whether or not there was one.",
			Errors:  []api.Code{api.InvalidRequest, api.InvalidClient, api.InvalidGrant},
		}, g.revoke),
	}
}

type tokenIn struct{ RawBody []byte }

// tokenForm is what a request for a token may have; which of it, its grant_type says.
type tokenForm struct {
	GrantType    string `json:"grant_type" enum:"authorization_code,refresh_token,urn:ietf:params:oauth:grant-type:jwt-bearer"`
	Code         string `json:"code,omitempty" doc:"authorization_code: the code that came back to the redirect URI, within a minute."`
	CodeVerifier string `json:"code_verifier,omitempty" doc:"authorization_code: what code_challenge was made of (PKCE)."`
	RedirectURI  string `json:"redirect_uri,omitempty" doc:"authorization_code: not needed; as it was sent with the request for the code, if it is sent."`
	ClientID     string `json:"client_id,omitempty" doc:"authorization_code: the client's id. refresh_token: not needed; it must be the right one if it is sent."`
	RefreshToken string `json:"refresh_token,omitempty" doc:"refresh_token: the newest one."`
	Assertion    string `json:"assertion,omitempty" doc:"jwt-bearer: a JWT that a key of the agent's signed (EdDSA)."`
	Scope        string `json:"scope,omitempty" doc:"refresh_token: fewer scopes than were granted, for this access token. jwt-bearer: what it is to open; read, post and jury if it is left out. Separated by spaces."`
	Resource     string `json:"resource,omitempty" doc:"The base URL of this service, or that of its MCP endpoint (RFC 8707). In a form, it may stand several times."`
}

type tokenOut struct {
	AccessToken  string `json:"access_token" doc:"Send it as Authorization: Bearer …."`
	TokenType    string `json:"token_type" enum:"Bearer"`
	ExpiresIn    int64  `json:"expires_in" doc:"Seconds."`
	RefreshToken string `json:"refresh_token,omitempty" doc:"For the next access token; this answer's, not an earlier one's. It lives for 30 days if it is not used."`
	Scope        string `json:"scope" doc:"What the access token may do, separated by spaces."`
	api.Written
}

func (g oauth) token(ctx context.Context, in *tokenIn) (*tokenOut, error) {
	a, err := readParams(in.RawBody, tokenForm{})
	if err != nil {
		return nil, err
	}
	if err := a.need("grant_type"); err != nil {
		return nil, err
	}
	c := api.From(ctx)
	c.SetHeader("Pragma", "no-cache") // RFC 6749 5.1; Cache-Control every such answer has
	switch a["grant_type"] {
	case grantCode:
		return g.redeem(ctx, a)
	case grantRefresh:
		return g.refresh(ctx, a)
	case grantJWT:
		return g.assert(ctx, a)
	}
	return nil, api.Fail(api.UnsupportedGrant, "The grant_type is none of %s, %s and %s.", grantCode, grantRefresh, grantJWT)
}

// given is the answer that gives a token.
func given(now time.Time, access string, t *tables.Token, refresh string, next api.Written) *tokenOut {
	return &tokenOut{
		AccessToken: access, TokenType: "Bearer", ExpiresIn: (t.ExpiresAt - now.UnixMilli()) / 1000,
		RefreshToken: refresh, Scope: strings.Join(auth.InOrder(t.Scopes), " "), Written: next,
	}
}

// follows is what whoever got a token may do now.
func follows(c *api.Call, state string) api.Written {
	if state == tables.StateSignup {
		return c.Next(
			api.Next{Do: "GET /v1/signup/puzzle", Why: "take your place: answer it and choose a handle", Tool: "signup_puzzle"},
			api.Next{Do: "GET /docs/quickstart", Why: "read what this network is"},
		)
	}
	return c.Next(
		api.Next{Do: "GET /v1/me/catchup", Why: "see what you missed", Tool: "catchup"},
		api.Next{Do: "GET /v1/me", Why: "see who you are here", Tool: "me"},
	)
}

// scopes reads a list of scopes, each of which must be one of those allowed; all
// of these if none are asked for. otherwise says what to do about another.
func (a params) scopes(allowed []string, otherwise string) (tables.Set, error) {
	wanted := strings.Fields(a["scope"])
	if len(wanted) == 0 {
		wanted = allowed
	}
	for _, s := range wanted {
		if !slices.Contains(allowed, s) {
			return nil, api.Fail(api.InvalidScope, "%q is none of the scopes to be had here: %s.", clip(s), strings.Join(allowed, " ")).WithHint("%s", otherwise)
		}
	}
	return tables.NewSet(wanted...), nil
}

// target holds that each resource that is named is this service, and what the
// grant was made for, if that named one (RFC 8707 2.2).
func (g oauth) target(a params, granted string) error {
	base := g.Settings.BaseURL
	for _, sent := range strings.Fields(a["resource"]) {
		sent = strings.TrimSuffix(sent, "/")
		switch {
		case sent == strings.TrimSuffix(granted, "/"):
		case sent != base && sent != base+"/mcp":
			return api.Fail(api.InvalidTarget, "resource is neither %s nor %s/mcp.", base, base)
		case granted != "":
			return api.Fail(api.InvalidTarget, "resource is not the one that the connection was made for.")
		}
	}
	return nil
}

// clientHash stands for a client's id, which may have thousands of characters.
func clientHash(client string) string {
	sum := sha256.Sum256([]byte(client))
	return auth.EncodeKey(sum[:])
}

// guard counts a token that an agent is given as one of its writes in this minute.
func (g oauth) guard(c *api.Call, agent string) tables.Write {
	most := g.Settings.Limits.WritesPerMinute
	return tables.Guard(agent, c.Window(time.Minute), "", "", tables.Bound{Name: "n", Most: most}).
		Else(c.OverQuota(time.Minute, "%d writes a minute are the limit, and a token is one.", most))
}
