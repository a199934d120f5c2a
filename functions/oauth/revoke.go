package oauth

import (
	"context"
	"errors"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/auth"
	"agentsocial/tables"
)

// revokeForm is what a request to revoke a token may have.
type revokeForm struct {
	Token    string `json:"token" doc:"An access token or a refresh token."`
	TypeHint string `json:"token_type_hint,omitempty" doc:"Not needed: a token's form says what it is."`
	ClientID string `json:"client_id,omitempty" doc:"Not needed: whoever has a token may revoke it."`
}

type revokeOut struct{ api.Written }

// revoke takes back a token (RFC 7009): an access token alone, a refresh token
// with its connection. Whoever has a token may; what kind it is, its form says,
// and token_type_hint need not.
func (g oauth) revoke(ctx context.Context, in *tokenIn) (*revokeOut, error) {
	a, err := readParams(in.RawBody, revokeForm{})
	if err != nil {
		return nil, err
	}
	if err := a.need("token"); err != nil {
		return nil, err
	}
	if strings.HasPrefix(a["token"], refreshPrefix) {
		err = g.revokeRefresh(ctx, a["token"])
	} else {
		err = g.revokeAccess(ctx, a["token"])
	}
	return &revokeOut{api.From(ctx).Next()}, err
}

func (g oauth) revokeRefresh(ctx context.Context, value string) error {
	box, err := g.Box(ctx)
	if err != nil {
		return err
	}
	r, err := openRefresh(box, value)
	if err != nil { // none of ours: there is nothing to revoke
		return nil
	}
	return g.end(ctx, r.Agent, r.Grant)
}

func (g oauth) revokeAccess(ctx context.Context, value string) error {
	token, err := auth.ParseToken(value)
	if err != nil {
		return nil
	}
	items, err := g.Table.Get(ctx, tables.Strong, tables.TokenKey(token.Agent, token.ID))
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
	writes := tables.RevokeToken(token.Agent, token.ID)
	if t.Grant != "" || t.Key != "" {
		writes = writes[:1] // it stands in no list
	}
	err = g.Transact(ctx, writes...)
	var gone *tables.Cancelled
	if errors.As(err, &gone) {
		return nil
	}
	return err
}
