package oauth

import (
	"context"
	"errors"
	"strings"
	"time"

	"agentsocial/shared/api"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// redeem issues a connection's first tokens for an authorization code. Another use
// within [tables.GrantIdle] ends the connection, because the code has leaked.
func (g oauth) redeem(ctx context.Context, a params) (*wire.IssuedToken, error) {
	if err := a.need("code", "code_verifier", "client_id"); err != nil {
		return nil, err
	}
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	code, err := flow.OpenCode(box, a["code"])
	if err != nil {
		return nil, api.Fail(api.InvalidGrant, "code was not issued by this service.")
	}
	if err := g.mayRedeem(box, a, code); err != nil {
		return nil, err
	}
	c := api.From(ctx)
	if !code.Alive(c.Time) {
		items, err := g.Table.Get(ctx, tables.Strong, tables.CodeKey(code.ID))
		if err != nil {
			return nil, err
		}
		if items[0] != nil {
			return nil, g.replayed(ctx, items[0])
		}
		return nil, api.Fail(api.InvalidGrant, "The code has expired: it is valid for %d s.", int(flow.CodeLives.Seconds()))
	}
	if code.Bound == nil {
		return g.newAgent(ctx, box, code)
	}
	return g.join(ctx, box, code)
}

// mayRedeem refuses a request that does not fit the client's request for the code.
func (g oauth) mayRedeem(box *seal.Box, a params, code *flow.Code) error {
	switch {
	case a["client_id"] != code.Client:
		if _, err := flow.OpenClient(box, a["client_id"]); err != nil && strings.HasPrefix(a["client_id"], flow.ClientPrefix) {
			return api.Fail(api.InvalidClient, "client_id was not issued by this service.")
		}
		return api.Fail(api.InvalidGrant, "The code was issued to another client.")
	case a["redirect_uri"] != "" && a["redirect_uri"] != code.Redirect: // optional in OAuth 2.1: the verifier proves more
		return api.Fail(api.InvalidGrant, "redirect_uri is not the one in the request for the code.")
	case !code.Proves(a["code_verifier"]):
		return api.Fail(api.InvalidGrant, "code_verifier does not match the code_challenge of the code.")
	}
	return g.target(a, code.Resource)
}

func (g oauth) replayed(ctx context.Context, item tables.Item) error {
	var spent tables.SpentCode
	if err := tables.Unmarshal(item, &spent); err != nil {
		return err
	}
	if err := g.end(ctx, spent.Agent, spent.Grant); err != nil {
		return err
	}
	api.From(ctx).Log.Warn("authorization code reused: connection revoked", "agent", spent.Agent, "grant", spent.Grant)
	return api.Fail(api.InvalidGrant, "The code was used before, so the tokens issued for it are revoked.")
}

func (g oauth) grantOf(code *flow.Code, now time.Time) *tables.Grant {
	scopes := tables.NewSet(code.Scopes...)
	return &tables.Grant{
		ID: id.Grant.New(now, g.Rand), Client: clientHash(code.Client), Name: code.Name, Scopes: scopes, Newest: scopes,
		Resource: code.Resource, Epoch: 1, Generation: 1, RotatedAt: now.UnixMilli(), CreatedAt: now.UnixMilli(),
		ExpiresAt: now.Add(tables.GrantIdle).UnixMilli(),
	}
}

// made returns the writes that store a grant with its first tokens.
func (g oauth) made(ctx context.Context, code *flow.Code, agent string, grant *tables.Grant, live tables.Live, first *generation) []tables.Write {
	return []tables.Write{
		tables.SpendCode(code.ID, &tables.SpentCode{Agent: agent, Grant: grant.ID, At: grant.CreatedAt}).
			Else(func(spent tables.Item) error { return g.replayed(ctx, spent) }),
		live.Add(grant.ID, grant.ExpiresAt),
		tables.Put(grant.Item(agent)),
		tables.Put(first.token.Access(agent)),
	}
}

// newAgent creates an agent with a connection as its only credential.
func (g oauth) newAgent(ctx context.Context, box *seal.Box, code *flow.Code) (*wire.IssuedToken, error) {
	c := api.From(ctx)
	p := tables.NewSignup(id.Agent.New(c.Time, g.Rand), c.Time)
	grant := g.grantOf(code, c.Time)
	grant.Founded = true
	first, err := generationOf(box, p.ID, grant, []byte(g.Random(32)))
	if err != nil {
		return nil, err
	}
	live := tables.LiveGrants(p.ID, nil, p.Epoch, c.Time.UnixMilli())
	if err := g.Transact(ctx, append(g.made(ctx, code, p.ID, grant, live, first), tables.Put(p.Item()))...); err != nil {
		return nil, err
	}
	return given(c.Time, first.access, first.token, first.refresh, follows(c, p.State)), nil
}

// join makes a connection for an existing agent, and spends a recovery code, or one use of
// a link code.
func (g oauth) join(ctx context.Context, box *seal.Box, code *flow.Code) (out *wire.IssuedToken, err error) {
	err = g.Retry(ctx, func() error {
		out, err = g.tryJoin(ctx, box, code)
		return err
	})
	if errors.Is(err, flow.ErrGone) {
		return nil, api.Fail(api.InvalidGrant, "The link code or recovery code that was entered on the consent page is no longer valid: it was used up, has expired or was revoked.")
	}
	return out, err
}

// tryJoin returns ErrOvertaken if another connection, or another use of the link
// code, was faster.
func (g oauth) tryJoin(ctx context.Context, box *seal.Box, code *flow.Code) (*wire.IssuedToken, error) {
	c, agent := api.From(ctx), code.Bound.Agent
	keys := append(code.Bound.Reads(), tables.GrantsKey(agent))
	read, err := g.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return nil, err
	}
	items := map[tables.Key]tables.Item{}
	for i, k := range keys {
		items[k] = read[i]
	}
	link, spend, err := code.Bound.Spend(func(k tables.Key) tables.Item { return items[k] }, c.Time, g.Rand)
	if err != nil {
		return nil, g.unlessSpent(ctx, code, err)
	}
	grant := g.grantOf(code, c.Time)
	grant.Epoch = code.Bound.Epoch
	if link != nil {
		if err := g.hang(ctx, grant, link); err != nil {
			return nil, err
		}
	}
	live := tables.LiveGrants(agent, items[tables.GrantsKey(agent)], grant.Epoch, c.Time.UnixMilli())
	if link != nil && link.Grant != "" {
		live.Extend(link.Grant, c.Time.Add(tables.GrantIdle).UnixMilli())
	}
	if live.Len() >= tables.GrantsMost {
		if err := g.dropDead(ctx, agent, live, grant.Epoch); err != nil {
			return nil, err
		}
	}
	if live.Len() >= tables.GrantsMost {
		return nil, g.unlessSpent(ctx, code, api.Fail(api.InvalidGrant, "The agent has %d connections, which is the limit: revoke one with DELETE /v1/me/tokens/{id}.", tables.GrantsMost))
	}
	first, err := generationOf(box, agent, grant, []byte(g.Random(32)))
	if err != nil {
		return nil, err
	}
	if err := g.Transact(ctx, append(g.made(ctx, code, agent, grant, live, first), spend...)...); err != nil {
		return nil, err
	}
	return given(c.Time, first.access, first.token, first.refresh, follows(c, tables.StateActive)), nil
}

// dropDead removes dead connections from a full list. A connection made with a link
// code ends with the code's minter, but stays in the list.
func (g oauth) dropDead(ctx context.Context, agent string, live tables.Live, epoch int64) error {
	ids := live.IDs()
	read := func(key func(i int) tables.Key) ([]tables.Item, error) {
		keys := make([]tables.Key, len(ids))
		for i := range ids {
			keys[i] = key(i)
		}
		return g.GetAll(ctx, tables.Strong, keys)
	}
	items, err := read(func(i int) tables.Key { return tables.GrantKey(agent, ids[i]) })
	if err != nil {
		return err
	}
	grants := make([]tables.Grant, len(ids))
	for i, item := range items {
		if err := tables.Unmarshal(item, &grants[i]); err != nil {
			return err
		}
	}
	minters, err := read(func(i int) tables.Key {
		if on := grants[i].On; !on.Zero() {
			return on.Item(agent)
		}
		return tables.GrantKey(agent, ids[i])
	})
	if err != nil {
		return err
	}
	for i, id := range ids {
		if on := grants[i].On; items[i] == nil || !on.Zero() && !on.Stood(minters[i], epoch) {
			live.Drop(id)
		}
	}
	return nil
}

// unlessSpent returns refusal. If the code was used before, it ends the code's connection
// and refuses the reuse instead.
func (g oauth) unlessSpent(ctx context.Context, code *flow.Code, refusal error) error {
	items, err := g.Table.Get(ctx, tables.Strong, tables.CodeKey(code.ID))
	switch {
	case err != nil:
		return err
	case items[0] != nil:
		return g.replayed(ctx, items[0])
	}
	return refusal
}

// hang makes a grant depend on the minter of the link code. The grant gets only scopes
// of the code. It expires no later than a token that minted the code.
func (g oauth) hang(ctx context.Context, grant *tables.Grant, link *tables.LinkCode) error {
	var scopes []string
	for _, s := range grant.Scopes {
		if link.Scopes.Has(s) {
			scopes = append(scopes, s)
		}
	}
	if scopes == nil {
		return api.Fail(api.InvalidScope, "The link code has none of the scopes that were granted.").
			WithHint("Ask the person to connect again, with a link code that was minted by a key or by a token with these scopes.")
	}
	grant.Scopes, grant.Newest, grant.On = tables.NewSet(scopes...), tables.NewSet(scopes...), link.Minter()
	if link.Token == "" {
		return nil
	}
	items, err := g.Table.Get(ctx, tables.Strong, tables.TokenKey(link.Agent, link.Token))
	if err != nil {
		return err
	}
	var minter tables.Token
	if err := tables.Unmarshal(items[0], &minter); err != nil {
		return err
	}
	if minter.ID == "" {
		return flow.ErrGone
	}
	grant.Until = minter.ExpiresAt
	grant.ExpiresAt = grant.Idle(time.UnixMilli(grant.CreatedAt))
	return nil
}
