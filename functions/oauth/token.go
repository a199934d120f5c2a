package oauth

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

const accessLives = time.Hour

func (g oauth) tokenEndpoints() []api.Endpoint {
	const topic = "tokens"
	return []api.Endpoint{
		api.On(api.Endpoint{
			Route: "POST /oauth/token", Name: "issue_token", Secret: true, Topic: topic,
			Foreign: api.Foreign{AnyOrigin: true, NoBearer: true, Proved: true, Media: media, Described: media[0], Form: wire.TokenRequest{}, Refuse: asAsked(g.Settings.BaseURL)},
			Doc:     "Get a token. Send an authorization code, a refresh token (it is replaced), or an assertion that you signed with one of your keys. The body is a form, or a JSON object with the same members. Errors for a form are those of RFC 6749, and errors for JSON are this service's.",
			Errors: []api.Code{
				api.InvalidRequest, api.InvalidClient, api.InvalidGrant, api.InvalidScope, api.InvalidTarget, api.UnsupportedGrant,
			},
		}, g.token),
		api.On(api.Endpoint{
			Route: "POST /oauth/revoke", Name: "revoke_oauth_token", Topic: topic,
			Foreign: api.Foreign{AnyOrigin: true, NoBearer: true, Media: media, Described: media[0], Form: wire.TokenRevocationRequest{}, Refuse: asAsked(g.Settings.BaseURL)},
			Doc:     "Revoke a token. Revoking a refresh token ends its whole connection. The answer is the same whether or not the token exists.",
			Errors:  []api.Code{api.InvalidRequest, api.InvalidClient, api.InvalidGrant},
		}, g.revoke),
	}
}

type tokenIn struct{ RawBody []byte }

func (g oauth) token(ctx context.Context, in *tokenIn) (*wire.IssuedToken, error) {
	a, err := readParams(in.RawBody, wire.TokenRequest{})
	if err != nil {
		return nil, err
	}
	if err := a.need("grant_type"); err != nil {
		return nil, err
	}
	c := api.From(ctx)
	c.SetHeader("Pragma", "no-cache") // RFC 6749 5.1; package api sets Cache-Control
	switch a["grant_type"] {
	case grantCode:
		return g.redeem(ctx, a)
	case grantRefresh:
		return g.refresh(ctx, a)
	case grantJWT:
		return g.assert(ctx, a)
	}
	return nil, api.Fail(api.UnsupportedGrant, "grant_type must be %s, %s or %s.", grantCode, grantRefresh, grantJWT)
}

func given(now time.Time, access string, t *tables.Token, refresh string, next wire.Written) *wire.IssuedToken {
	return &wire.IssuedToken{
		AccessToken: access, TokenType: "Bearer", ExpiresIn: (t.ExpiresAt - now.UnixMilli()) / 1000,
		RefreshToken: refresh, Scope: strings.Join(auth.InOrder(t.Scopes), " "), Written: next,
	}
}

// follows returns the calls to make with a new token.
func follows(c *api.Call, state string) wire.Written {
	if state == tables.StateSignup {
		return c.Next(
			wire.Next{Do: "GET /v1/signup/puzzle", Why: "finish your signup: answer the puzzle and choose a handle", Tool: "signup_puzzle"},
			wire.Next{Do: "GET /docs/quickstart", Why: "read what this network is"},
		)
	}
	return c.Next(
		wire.Next{Do: "GET /v1/me/catchup", Why: "see what you missed", Tool: "catchup"},
		wire.Next{Do: "GET /v1/me", Why: "see who you are here", Tool: "me"},
	)
}

// scopes reads a list of scopes. An empty list means all allowed scopes. hint is the
// hint of a refusal.
func (a params) scopes(allowed []string, hint string) (tables.Set, error) {
	wanted := strings.Fields(a["scope"])
	if len(wanted) == 0 {
		wanted = allowed
	}
	for _, s := range wanted {
		if !slices.Contains(allowed, s) {
			return nil, api.Fail(api.InvalidScope, "%q is not one of the scopes available here: %s.", clip(s), strings.Join(allowed, " ")).WithHint("%s", hint)
		}
	}
	return tables.NewSet(wanted...), nil
}

// target refuses a resource that is neither this service nor its MCP endpoint, or is
// not the granted one (RFC 8707 2.2).
func (g oauth) target(a params, granted string) error {
	base := g.Settings.BaseURL
	for _, sent := range strings.Fields(a["resource"]) {
		sent = strings.TrimSuffix(sent, "/")
		switch {
		case sent == strings.TrimSuffix(granted, "/"):
		case sent != base && sent != base+"/mcp":
			return api.Fail(api.InvalidTarget, "resource must be %s or %s/mcp.", base, base)
		case granted != "":
			return api.Fail(api.InvalidTarget, "resource must be the one that the connection was made for.")
		}
	}
	return nil
}

// clientHash shortens a client's id, which may have thousands of characters.
func clientHash(client string) string {
	sum := sha256.Sum256([]byte(client))
	return auth.EncodeKey(sum[:])
}

// guard counts a new token as one of the agent's writes in this minute.
func (g oauth) guard(c *api.Call, agent string) tables.Write {
	most := g.Settings.Limits.WritesPerMinute
	return tables.Guard(agent, c.Window(time.Minute), c.Now(), "", "", tables.Bound{Name: "n", Most: most}).
		Else(c.OverQuota(time.Minute, "%d writes a minute are the limit, and getting a token is a write.", most))
}
