package oauth

import (
	"cmp"
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// refresh issues the next generation of a connection's tokens. If the refresh token is
// sent again within Settings.RefreshAgain, it gets the same generation: an answer may have
// been lost, or two processes may have refreshed at once. Any other reuse means that the token has
// leaked, and ends the connection.
func (g oauth) refresh(ctx context.Context, a params) (*wire.IssuedToken, error) {
	if err := a.need("refresh_token"); err != nil {
		return nil, err
	}
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	r, err := openRefresh(box, a["refresh_token"])
	if err != nil {
		return nil, api.Fail(api.InvalidGrant, "refresh_token was not issued by this service.")
	}
	c := api.From(ctx)
	items, err := g.Table.Get(ctx, tables.Strong, tables.ProfileKey(r.Agent), tables.GrantKey(r.Agent, r.Grant))
	if err != nil {
		return nil, err
	}
	var p tables.Profile
	if err := tables.Unmarshal(items[0], &p); err != nil {
		return nil, err
	}
	if p.ID == "" || p.Forgotten(c.Time) {
		return nil, ended()
	}
	return g.refreshed(ctx, box, a, r, &p, items[1])
}

// refreshed answers a refresh from the grant's current state.
func (g oauth) refreshed(ctx context.Context, box *seal.Box, a params, r *refreshToken, p *tables.Profile, item tables.Item) (*wire.IssuedToken, error) {
	c := api.From(ctx)
	var grant tables.Grant
	if err := tables.Unmarshal(item, &grant); err != nil {
		return nil, err
	}
	switch {
	case !grant.Alive(p.Epoch, c.Time.UnixMilli()), r.Generation > grant.Generation:
		return nil, ended()
	case a["client_id"] != "" && clientHash(a["client_id"]) != grant.Client:
		return nil, api.Fail(api.InvalidGrant, "refresh_token was issued to another client.")
	}
	if err := g.target(a, grant.Resource); err != nil {
		return nil, err
	}
	scopes, err := a.scopes(grant.Scopes, "The person granted these scopes. Ask for some of them, or send no scope to get all of them. For other scopes, the person must connect again.")
	if err != nil {
		return nil, err
	}
	switch lately := c.Time.UnixMilli()-grant.RotatedAt < g.Settings.RefreshAgain.Milliseconds(); {
	case r.Generation == grant.Generation:
		return g.rotate(ctx, box, a, r, p, &grant, scopes)
	case r.Generation == grant.Generation-1 && lately:
		newest, err := generationOf(box, p.ID, &grant, r.Seed)
		if err != nil {
			return nil, err
		}
		items, err := g.Table.Get(ctx, tables.Strong, tables.TokenKey(p.ID, newest.token.ID))
		switch {
		case err != nil:
			return nil, err
		case items[0] == nil: // revoked by a client that got the answer
			return nil, api.Fail(api.InvalidGrant, "refresh_token was used before, and the access token that it gave is revoked. Use the newest refresh token.")
		}
		return given(c.Time, newest.access, newest.token, newest.refresh, follows(c, p.State)), nil
	}
	if err := g.end(ctx, p.ID, grant.ID); err != nil {
		return nil, err
	}
	c.Log.Warn("refresh token reused: connection revoked", "agent", p.ID, "grant", grant.ID)
	return nil, api.Fail(api.InvalidGrant, "refresh_token was used before, so the connection is revoked.")
}

// rotate makes the next generation. If another request was faster, rotate answers from
// the new state.
func (g oauth) rotate(ctx context.Context, box *seal.Box, a params, r *refreshToken, p *tables.Profile, grant *tables.Grant, scopes tables.Set) (*wire.IssuedToken, error) {
	c := api.From(ctx)
	var now tables.Item // the grant, if it has changed meanwhile
	writes := grant.Rotate(p.ID, scopes, c.Time, tables.RotateRefusals{
		Moved: func(old tables.Item) error {
			if now = old; old.Int("generation") == grant.Generation-1 { // the epoch changed, not the generation
				return ended()
			}
			return tables.ErrOvertaken
		},
		Ended: func(tables.Item) error { return ended() },
		Gone: func(tables.Item) error {
			return cmp.Or(g.end(ctx, p.ID, grant.ID), ended())
		},
	})
	newest, err := generationOf(box, p.ID, grant, r.Seed)
	if err != nil {
		return nil, err
	}
	err = g.Transact(ctx, append(writes, g.guard(c, p.ID), tables.Put(newest.token.Access(p.ID)))...)
	switch {
	case errors.Is(err, tables.ErrOvertaken) && now != nil:
		return g.refreshed(ctx, box, a, r, p, now)
	case err != nil:
		return nil, err
	}
	return given(c.Time, newest.access, newest.token, newest.refresh, follows(c, p.State)), nil
}

func ended() error {
	return api.Fail(api.InvalidGrant, "The connection was ended, or was not used for 30 days.")
}
