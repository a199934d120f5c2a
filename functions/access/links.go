package access

import (
	"context"
	"fmt"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func (g access) linkEndpoints() []api.Endpoint {
	return []api.Endpoint{
		api.OnWrite(api.Endpoint{
			Route: "POST /v1/me/link-codes", Secret: true, Auth: api.SigOrBearer("post"), Status: 201, Tool: "link_code", Topic: "mcp",
			Doc:    "Mint a link code. A client that connects with this code acts for your agent, with at most the code's scopes.",
			Errors: []api.Code{api.LimitReached, api.SigRequired},
		}, g.mintLinkCode, g.mintLinkCodeAnswer),
	}
}

type mintLinkCodeIn struct {
	Body *wire.NewLinkCode
}

func (in *mintLinkCodeIn) wanted() (days, uses int) {
	days, uses = 7, 1
	if b := in.Body; b != nil && b.Days != 0 {
		days = b.Days
	}
	if b := in.Body; b != nil && b.Uses != 0 {
		uses = b.Uses
	}
	return days, uses
}

// Reads implements [api.Reader].
func (*mintLinkCodeIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.LinkCodesKey(agent)}
}

type linkCodeMinted struct {
	ID        string
	ExpiresAt int64 // unix ms
	Scopes    []string
	code      string // only in the first answer
}

func (g access) mintLinkCode(ctx context.Context, in *mintLinkCodeIn) (*linkCodeMinted, error) {
	c := api.From(ctx)
	agent := c.Agent.ID
	days, uses := in.wanted()
	code, hash, err := auth.MintLinkCode(g.Rand)
	if err != nil {
		return nil, err
	}
	l := &tables.LinkCode{
		Hash: hash, ID: id.LinkCode.New(c.Time, g.Rand), Agent: agent, Uses: int64(uses), Key: c.Key(), Epoch: c.Agent.Epoch,
		Scopes: tables.NewSet(auth.Scopes...), CreatedAt: c.Time.UnixMilli(),
		ExpiresAt: c.Time.Add(time.Duration(days) * day).UnixMilli(),
	}
	switch t, grant := c.Token(), c.Grant(); {
	case grant != nil && !grant.On.Zero(): // a chain of codes and connections would have no end
		return nil, api.Fail(api.SigRequired, "A connection made with a link code cannot mint link codes.").
			WithHint("Sign the request, or send it with the credential that minted the link code of this connection.")
	case t != nil && t.Key != "": // the code would outlive the token's key
		return nil, api.Fail(api.SigRequired, "The token was made from an assertion; it cannot mint link codes.").
			WithHint("Sign the request with any of the agent's keys.")
	case grant != nil:
		l.Grant, l.Scopes = grant.ID, t.Scopes
	case t != nil:
		l.Token, l.Scopes = t.ID, t.Scopes
		if t.ExpiresAt != 0 {
			l.ExpiresAt = min(l.ExpiresAt, t.ExpiresAt)
		}
	}
	most, full := tables.LinkCodesMost, fmt.Sprintf("An agent may have at most %d live link codes.", tables.LinkCodesMost)
	if c.Token() != nil { // half of the list is for signed requests: a revoked token's codes stay listed until they expire
		most /= 2
		full = fmt.Sprintf("The agent has %d live link codes or more, so only a signed request may mint another, up to %d in all.", most, tables.LinkCodesMost)
	}
	outcome := &linkCodeMinted{l.ID, l.ExpiresAt, auth.InOrder(l.Scopes), code}
	return outcome, g.add(ctx, addition{
		live: tables.LiveLinkCodes(agent, c.Item(tables.LinkCodesKey(agent)), c.Agent.Epoch, c.Time.UnixMilli()),
		most: most, full: full, id: l.ID, expires: l.ExpiresAt, outcome: outcome, writes: []tables.Write{tables.Put(l.Item())},
	})
}

func (g access) mintLinkCodeAnswer(ctx context.Context, in *mintLinkCodeIn, outcome *linkCodeMinted) (*wire.LinkCode, error) {
	c := api.From(ctx)
	created, _ := id.LinkCode.Time(outcome.ID)
	_, uses := in.wanted()
	next := wire.Next{Do: "GET /v1/me/inbox", Why: "see who connects with it", Tool: "inbox"}
	if outcome.code == "" {
		next = wire.Next{Do: "POST /v1/me/link-codes", Why: "mint another one", Tool: "link_code"}
	}
	return &wire.LinkCode{
		ID: outcome.ID, Code: outcome.code, Shown: outcome.code == "", Uses: int64(uses), Scopes: outcome.Scopes,
		CreatedAt: created, ExpiresAt: outcome.ExpiresAt, Written: c.Next(append(withdrawal(c), next)...),
	}, nil
}

// withdrawal suggests how to take back a code that a token minted. It suggests nothing
// for a code that a key minted, because no endpoint revokes such a code alone.
func withdrawal(c *api.Call) []wire.Next {
	t, minter := c.Token(), ""
	switch {
	case t == nil:
		return nil
	case t.Grant != "":
		minter = t.Grant
	default:
		minter = t.ID
	}
	return []wire.Next{{Do: "DELETE /v1/me/tokens/" + minter, Why: "sign this request to revoke the token or connection that minted the code: the code ends with it"}}
}
