package oauth

import (
	"context"
	"crypto/sha256"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// assert issues a token for an assertion that an agent signed with one of its keys (RFC
// 7523). An assertion works once.
func (g oauth) assert(ctx context.Context, a params) (*wire.IssuedToken, error) {
	if err := a.need("assertion"); err != nil {
		return nil, err
	}
	c, base := api.From(ctx), g.Settings.BaseURL
	said, err := auth.ParseAssertion(a["assertion"], []string{base, base + "/oauth/token"}, c.Time)
	if err != nil {
		return nil, refusedAssertion("%s", err)
	}
	if err := g.target(a, ""); err != nil {
		return nil, err
	}
	scopes, err := wantedScopes(a)
	if err != nil {
		return nil, err
	}
	if !id.Agent.Valid(said.Agent) {
		return nil, refusedAssertion("has an iss and a sub that are not an agent's id")
	}
	items, err := g.Table.Get(ctx, tables.Strong, tables.ProfileKey(said.Agent), tables.AgentKeyKey(said.Agent, said.Key))
	if err != nil {
		return nil, err
	}
	var p tables.Profile
	if err := tables.Unmarshal(items[0], &p); err != nil {
		return nil, err
	}
	unknown := refusedAssertion("is signed with a key that is not one of the agent's")
	if p.ID == "" || items[1] == nil || items[1].Int("epoch") != p.Epoch {
		return nil, unknown
	}
	t := &tables.Token{
		ID: id.Token.New(c.Time, g.Rand), Label: "assertion", Scopes: scopes, Epoch: p.Epoch, Key: said.Key,
		CreatedAt: c.Time.UnixMilli(), ExpiresAt: c.Time.Add(accessLives).UnixMilli(), TTL: c.Time.Add(accessLives).Unix() + 1,
	}
	access, hash, err := auth.Hangs{Key: said.Key}.MintToken(p.ID, t.ID, g.Rand)
	if err != nil {
		return nil, err
	}
	t.Hash = hash
	jti := sha256.Sum256([]byte(said.ID))
	err = g.Transact(ctx,
		tables.SpendAssertion(p.ID, auth.EncodeKey(jti[:]), said.Expires).Else(func(tables.Item) error {
			return refusedAssertion("was used before: its jti is not new. Sign a new one")
		}),
		tables.Check(tables.AgentKeyKey(p.ID, said.Key), tables.Equal("epoch", p.Epoch)).Else(tables.Means(unknown)),
		g.guard(c, p.ID),
		tables.Put(t.Access(p.ID)),
	)
	if err != nil {
		return nil, err
	}
	return given(c.Time, access, t, "", follows(c, p.State)), nil
}

// wantedScopes returns the requested scopes, or the default ones.
func wantedScopes(a params) (tables.Set, error) {
	if a["scope"] == "" {
		return tables.NewSet(auth.DefaultScopes...), nil
	}
	return a.scopes(auth.Scopes, "Ask for some of these, or send no scope, which means "+strings.Join(auth.DefaultScopes, " ")+".")
}

func refusedAssertion(format string, args ...any) error {
	return api.Fail(api.InvalidGrant, "assertion "+format+".", args...)
}
