package access

import (
	"context"
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
			Route: "POST /v1/me/link-codes", Auth: api.SigOrBearer("post"), Status: 201, Tool: "link_code", Topic: "mcp",
			Doc:    "Mint a link code. A connection with this code on the OAuth consent page is yours, with at most the scopes of the code.",
			Errors: []api.Code{api.LimitReached, api.SigRequired},
		}, g.mintLinkCode, g.mintLinkCodeAnswer),
	}
}

type mintLinkCodeIn struct {
	Body *wire.MintLinkCode
}

// wanted are the days and the uses that are asked for, or else the defaults.
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

// Reads besides what authorisation reads.
func (*mintLinkCodeIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.LinkCodesKey(agent)}
}

// linkCodeMinted is what came of minting a link code.
type linkCodeMinted struct {
	ID        string
	ExpiresAt int64 // unix ms
	Scopes    []string
	code      string // which only the first answer has
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
	case grant != nil && !grant.On.Zero(): // or there would be no end to what hangs on what
		return nil, api.Fail(api.SigRequired, "The token is of a connection that was made with a link code itself.").
			WithHint("Mint the code with a key of the agent's, or with the connection that minted the first one.")
	case t != nil && t.Key != "": // what hangs on the token would outlive its key
		return nil, api.Fail(api.SigRequired, "The token was made by an assertion, for an hour.").
			WithHint("Sign the request, with the key that signed the assertion or another one.")
	case grant != nil:
		l.Grant, l.Scopes = grant.ID, t.Scopes
	case t != nil:
		l.Token, l.Scopes = t.ID, t.Scopes
		if t.ExpiresAt != 0 {
			l.ExpiresAt = min(l.ExpiresAt, t.ExpiresAt)
		}
	}
	most := tables.LinkCodesMost
	if c.Token() != nil { // codes of a token that was revoked count until they expire: half of the list is the keys' own
		most /= 2
	}
	came := &linkCodeMinted{l.ID, l.ExpiresAt, auth.InOrder(l.Scopes), code}
	return came, g.add(ctx, addition{
		live: tables.LiveLinkCodes(agent, c.Item(tables.LinkCodesKey(agent)), c.Agent.Epoch, c.Time.UnixMilli()),
		most: most, what: "link codes", id: l.ID, expires: l.ExpiresAt, came: came, writes: []tables.Write{tables.Put(l.Item())},
	})
}

func (g access) mintLinkCodeAnswer(ctx context.Context, in *mintLinkCodeIn, came *linkCodeMinted) (*wire.LinkCode, error) {
	c := api.From(ctx)
	created, _ := id.LinkCode.Time(came.ID)
	_, uses := in.wanted()
	next := wire.Next{Do: "GET /v1/me/inbox", Why: "hear of whoever connects with it", Tool: "inbox"}
	if came.code == "" {
		next = wire.Next{Do: "POST /v1/me/link-codes", Why: "mint another one", Tool: "link_code"}
	}
	return &wire.LinkCode{
		ID: came.ID, Code: came.code, Shown: came.code == "", Uses: int64(uses), Scopes: came.Scopes,
		CreatedAt: created, ExpiresAt: came.ExpiresAt, Written: c.Next(append(withdrawal(c), next)...),
	}, nil
}

// withdrawal of a code that a token minted: it dies with the token, or with the
// connection that the token is of. One that a key minted dies with the key, which
// is no advice to give.
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
	return []wire.Next{{Do: "DELETE /v1/me/tokens/" + minter, Why: "signed: to take the code back, with the token that minted it"}}
}
