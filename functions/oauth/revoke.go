package oauth

import (
	"context"
	"errors"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// revoke revokes a token (RFC 7009). The caller needs only the token itself.
// token_type_hint is ignored, because the token's prefix says its type.
func (g oauth) revoke(ctx context.Context, in *tokenIn) (*wire.OAuthRevocationResult, error) {
	a, err := readParams(in.RawBody, wire.TokenRevocationRequest{})
	if err != nil {
		return nil, err
	}
	if err := a.need("token"); err != nil {
		return nil, err
	}
	if strings.HasPrefix(a["token"], refreshPrefix) {
		err = g.revokeRefresh(ctx, a)
	} else {
		err = g.revokeAccess(ctx, a)
	}
	return &wire.OAuthRevocationResult{Written: api.From(ctx).Next()}, err
}

func (g oauth) revokeRefresh(ctx context.Context, a params) error {
	box, err := g.Box(ctx)
	if err != nil {
		return err
	}
	r, err := openRefresh(box, a["token"])
	if err != nil { // not issued by this service, so there is nothing to revoke
		return nil
	}
	if a["client_id"] != "" {
		items, err := g.Table.Get(ctx, tables.Strong, tables.GrantKey(r.Agent, r.Grant))
		if err != nil {
			return err
		}
		if err := a.ofClient(items[0]); err != nil {
			return err
		}
	}
	return g.end(ctx, r.Agent, r.Grant)
}

// ofClient returns an error if the request names a client that the grant does not
// belong to (RFC 7009 2.1).
func (a params) ofClient(grant tables.Item) error {
	if a["client_id"] == "" || grant == nil || grant.Str("client") == clientHash(a["client_id"]) {
		return nil
	}
	return api.Fail(api.InvalidGrant, "token was issued to another client.")
}

func (g oauth) revokeAccess(ctx context.Context, a params) error {
	token, err := auth.ParseToken(a["token"])
	if err != nil {
		return nil
	}
	keys := []tables.Key{tables.TokenKey(token.Agent, token.ID)}
	if token.On.Grant != "" {
		keys = append(keys, tables.GrantKey(token.Agent, token.On.Grant))
	}
	items, err := g.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return err
	}
	var t tables.Token
	if err := tables.Unmarshal(items[0], &t); err != nil {
		return err
	}
	if !token.Is(t.Hash) {
		return nil
	}
	if err := a.ofClient(items[len(items)-1]); t.Grant != "" && err != nil {
		return err
	}
	writes := tables.RevokeToken(token.Agent, token.ID)
	if t.Grant != "" || t.Key != "" {
		writes = writes[:1] // the token is in no list
	}
	err = g.Transact(ctx, writes...)
	var gone *tables.Cancelled
	if errors.As(err, &gone) {
		return nil
	}
	return err
}
