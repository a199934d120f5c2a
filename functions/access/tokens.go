package access

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func (g access) tokenEndpoints() []api.Endpoint {
	const topic = "tokens"
	return []api.Endpoint{
		api.OnWrite(api.Endpoint{
			Route: "POST /v1/me/tokens", Name: "mint_token", Secret: true, Auth: api.Sig, Status: 201, Topic: topic,
			Links:  []api.Link{{To: "revoke_token", With: map[string]string{"id": "id"}}},
			Doc:    "Mint a bearer token. Only this response has the token's value: the service stores its hash. You may mint 20 a UTC day.",
			Errors: []api.Code{api.LimitReached, api.RateLimited},
		}, g.mintToken, g.mintTokenAnswer),
		api.On(api.Endpoint{
			Route: "GET /v1/me/tokens", Name: "list_tokens", Auth: api.Sig, Topic: topic, Cost: 5,
			Doc: "List your live bearer tokens, and the clients that are connected by OAuth. The oldest come first; no values are shown. Left out are a connection's access tokens, which end with it, and tokens from signed assertions, which end with the key that signed them. Both live for an hour.",
		}, g.tokens),
		api.OnWrite(api.Endpoint{
			Route: "DELETE /v1/me/tokens/{id}", Name: "revoke_token", Auth: api.Sig, Topic: topic, Safe: true,
			Doc:    "Revoke a bearer token, or a connection with all of its tokens. Either way, the link codes that the token or the connection minted are revoked too, and so are the connections made with those codes.",
			Errors: []api.Code{api.NotFound},
		}, g.revokeToken, g.revokeTokenAnswer),
	}
}

// lifetime is the number of days that a token lives. Unlike a pointer, it
// distinguishes a missing member from null.
type lifetime struct {
	given bool
	days  int // 0: does not expire; meaningless unless given
}

const (
	daysMost    = 365
	daysDefault = 90
)

// UnmarshalJSON reads a number of days, or null for no end.
func (l *lifetime) UnmarshalJSON(b []byte) error {
	*l = lifetime{given: true}
	var days *float64 // the schema asks for an integer, which may be written as 5.0
	if err := json.Unmarshal(b, &days); err != nil || days == nil {
		return err
	}
	l.days = int(*days)
	return nil
}

// end returns when a token minted now expires, in unix ms; 0 is never.
func (l lifetime) end(now time.Time) int64 {
	switch {
	case !l.given:
		return now.Add(daysDefault * day).UnixMilli()
	case l.days == 0:
		return 0
	}
	return now.Add(time.Duration(l.days) * day).UnixMilli()
}

// Schema describes an integer or null.
func (lifetime) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(daysMost)
	return &huma.Schema{
		Type: huma.TypeInteger, Nullable: true, Minimum: &least, Maximum: &most, Default: daysDefault,
		Description: "Days until the token expires; null if it never expires.",
	}
}

func tokenOf(t *tables.Token) wire.Token {
	v := wire.Token{ID: t.ID, Label: t.Label, Scopes: auth.InOrder(t.Scopes), CreatedAt: t.CreatedAt}
	if t.ExpiresAt != 0 {
		v.ExpiresAt = &t.ExpiresAt
	}
	return v
}

type mintTokenIn struct {
	Body struct {
		wire.NewToken
		Days lifetime `json:"days,omitempty"`
	}
}

// Reads implements [api.Reader].
func (*mintTokenIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.TokensKey(agent)}
}

func (in *mintTokenIn) token(tokenID string, at time.Time) (*tables.Token, error) {
	b := &in.Body
	if err := api.CheckText("label", b.Label, labelMost); err != nil {
		return nil, err
	}
	scopes := b.Scopes
	if scopes == nil {
		scopes = auth.DefaultScopes
	}
	for i, s := range scopes {
		if slices.Contains(scopes[:i], s) {
			return nil, api.BadField("scopes", "has %s twice", s)
		}
	}
	t := &tables.Token{
		ID: tokenID, Label: b.Label, Scopes: tables.NewSet(scopes...), CreatedAt: at.UnixMilli(), ExpiresAt: b.Days.end(at),
	}
	if t.ExpiresAt != 0 {
		t.TTL = t.ExpiresAt/1000 + 1
	}
	return t, nil
}

type tokenMinted struct {
	ID    string
	value string // only in the first answer
}

func (g access) mintToken(ctx context.Context, in *mintTokenIn) (*tokenMinted, error) {
	c := api.From(ctx)
	agent := c.Agent.ID
	t, err := in.token(id.Token.New(c.Time, g.Rand), c.Time)
	if err != nil {
		return nil, err
	}
	value, hash, err := auth.MintToken(agent, t.ID, g.Rand)
	if err != nil {
		return nil, err
	}
	t.Hash, t.Epoch = hash, c.Agent.Epoch
	outcome, perDay := &tokenMinted{t.ID, value}, g.Settings.Limits.TokensDay
	return outcome, g.add(ctx, addition{
		live: tables.LiveTokens(agent, c.Item(tables.TokensKey(agent)), c.Agent.Epoch, c.Time.UnixMilli()),
		most: tables.TokensMost, full: fmt.Sprintf("An agent may have at most %d live tokens.", tables.TokensMost), id: t.ID, expires: t.ExpiresAt, outcome: outcome,
		writes: []tables.Write{
			tables.Put(t.Item(agent)),
			tables.Quota(agent, "tokens", c.Window(day), day, 1, perDay).Else(c.OverQuota(day, "%d tokens a day are the limit; days are UTC.", perDay)),
		},
	})
}

func (g access) mintTokenAnswer(ctx context.Context, in *mintTokenIn, outcome *tokenMinted) (*wire.MintedToken, error) {
	c := api.From(ctx)
	at, ok := id.Token.Time(outcome.ID)
	if !ok {
		return nil, errors.New("access: the outcome of minting a token has no token id")
	}
	t, err := in.token(outcome.ID, time.UnixMilli(at))
	if err != nil {
		return nil, err
	}
	if outcome.value == "" {
		return &wire.MintedToken{Token: tokenOf(t), Value: "", Shown: true, Written: c.Next(
			revocation(t.ID, "revoke it if the value was lost"),
			wire.Next{Do: "POST /v1/me/tokens", Why: "mint another one", Body: map[string]any{"label": t.Label}},
		)}, nil
	}
	return &wire.MintedToken{Token: tokenOf(t), Value: outcome.value, Shown: false, Written: c.Next(
		wire.Next{Do: "GET /v1/me/tokens", Why: "see every token that acts for you"},
		revocation(t.ID, "revoke it when you no longer need it"),
	)}, nil
}

func revocation(token, why string) wire.Next {
	return wire.Next{Do: "DELETE /v1/me/tokens/" + token, Why: why}
}

type tokensIn struct{}

// Reads implements [api.Reader].
func (*tokensIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.TokensKey(agent), tables.GrantsKey(agent)}
}

func (g access) tokens(ctx context.Context, _ *tokensIn) (*wire.TokenList, error) {
	c := api.From(ctx)
	agent, epoch, now := c.Agent.ID, c.Agent.Epoch, c.Time.UnixMilli()
	tokens := tables.LiveTokens(agent, c.Item(tables.TokensKey(agent)), epoch, now).IDs()
	grants := tables.LiveGrants(agent, c.Item(tables.GrantsKey(agent)), epoch, now).IDs()
	ids := slices.Concat(tokens, grants)
	keys := usedKeys(agent, ids)
	for _, token := range tokens {
		keys = append(keys, tables.TokenKey(agent, token))
	}
	for _, grant := range grants {
		keys = append(keys, tables.GrantKey(agent, grant))
	}
	items, err := g.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	used, items := items[:len(ids)], items[len(ids):]
	out := &wire.TokenList{Items: []wire.LiveToken{}}
	for i, item := range items[:len(tokens)] {
		if item == nil { // revoked since the list was read
			continue
		}
		var t tables.Token
		if err := tables.Unmarshal(item, &t); err != nil {
			return nil, err
		}
		out.Items = append(out.Items, wire.LiveToken{Token: tokenOf(&t), Kind: "token", LastUsedAt: usedDay(used[i])})
	}
	for i, item := range items[len(tokens):] {
		var grant tables.Grant
		if err := tables.Unmarshal(item, &grant); err != nil {
			return nil, err
		}
		if grant.Alive(epoch, now) {
			out.Items = append(out.Items, wire.LiveToken{Token: connectionOf(&grant), Kind: "connection", LastUsedAt: usedDay(used[len(tokens)+i])})
		}
	}
	slices.SortStableFunc(out.Items, func(a, b wire.LiveToken) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	return out, nil
}

func connectionOf(g *tables.Grant) wire.Token {
	return wire.Token{ID: g.ID, Label: g.Name, Scopes: auth.InOrder(g.Scopes), CreatedAt: g.CreatedAt, ExpiresAt: &g.ExpiresAt}
}

type revokeTokenIn struct {
	ID string `path:"id" maxLength:"40" doc:"Id of a token or a connection."`
}

func (in *revokeTokenIn) key(agent string) tables.Key {
	if id.Grant.Valid(in.ID) {
		return tables.GrantKey(agent, in.ID)
	}
	return tables.TokenKey(agent, in.ID)
}

// Reads implements [api.Reader].
func (in *revokeTokenIn) Reads(agent string) []tables.Key { return []tables.Key{in.key(agent)} }

type tokenRevoked struct{ ID string }

func (g access) revokeToken(ctx context.Context, in *revokeTokenIn) (*tokenRevoked, error) {
	c := api.From(ctx)
	agent := c.Agent.ID
	none := api.Fail(api.NotFound, "You have no live token or connection %q.", in.ID)
	item := c.Item(in.key(agent))
	if expires := item.Int("expires_at"); item == nil || item.Int("epoch") != c.Agent.Epoch || expires != 0 && expires <= c.Time.UnixMilli() {
		return nil, none
	}
	writes := tables.RevokeToken(agent, in.ID)
	if id.Grant.Valid(in.ID) {
		writes = tables.RevokeGrant(agent, in.ID)
	}
	outcome := &tokenRevoked{in.ID}
	err := c.Commit(ctx, outcome, writes...)
	if errors.Is(err, tables.ErrOvertaken) {
		return nil, none
	}
	return outcome, err
}

func (g access) revokeTokenAnswer(ctx context.Context, _ *revokeTokenIn, outcome *tokenRevoked) (*wire.TokenRevocationResult, error) {
	return &wire.TokenRevocationResult{Revoked: outcome.ID, Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/me/tokens", Why: "see the remaining tokens"},
	)}, nil
}
