package access

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/recovery"
	"agentsocial/shared/outside/mail"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// An origin is the mail address of the human behind an agent. It opens the jury
// to the agent, and it is the way back when all keys are lost: so only one who
// holds a key of the agent may choose it for that. An address that a bearer
// token linked, to an agent that has a key, counts for the jury alone, and
// recovery codes go on going to the address before it: a leaked token would
// otherwise be worth the whole agent.

func (g access) originEndpoints() []api.Endpoint {
	const topic = "auth"
	return []api.Endpoint{
		api.OnWrite(api.Endpoint{
			Route: "POST /v1/me/origin", Auth: api.SigOrBearer("post"), Status: 202, Tool: "link_origin", Topic: topic, Held: true, Secures: true,
			Doc:    "Link the mail address of your human. The service mails a code to it and stores only keyed hashes of the address.",
			Errors: []api.Code{api.SigRequired},
		}, g.askOrigin, g.askOriginAnswer),
		api.OnWrite(api.Endpoint{
			Route: "POST /v1/me/origin/verify", Auth: api.SigOrBearer("post"), Tool: "verify_origin", Topic: topic, Held: true, Secures: true,
			Doc:    "Verify the address with the mailed code. The agent may then be a juror. If it was verified with a signature, or while the agent has no key, the agent can also be recovered by mail.",
			Errors: []api.Code{api.BadCode, api.SigRequired},
		}, g.verifyOrigin, g.verifyOriginAnswer),
		api.On(api.Endpoint{
			Route: "POST /v1/recover", Status: 202, Topic: topic, Cost: recovery.Cost, Rate: recovery.Rate, FewPages: true,
			Errors: []api.Code{api.PageRefused},
			Doc:    "Request a recovery code by mail to an agent's verified origin. The answer and its timing are the same whether or not the address is the agent's.",
		}, g.recover),
		api.On(api.Endpoint{
			Route: "POST /v1/recover/confirm", Topic: topic, Cost: recovery.Cost, Rate: recovery.Rate, FewPages: true,
			Doc:    "Add a key with a recovery code. All other keys, tokens and connections are revoked unless revoke_others is false.",
			Errors: []api.Code{api.BadCode, api.BadProof, api.KeyExists, api.LimitReached, api.PageRefused},
		}, g.confirm),
	}
}

// originsSpared of them are not for tokens: a leaked one must not keep the owner
// from linking an address. For the same reason an address that was asked for
// with a signature waits for one.
const originsSpared = 2

func waitsForKey() *api.Error {
	return api.Fail(api.SigRequired, "An address linked with a signature waits for its code; until that expires, only a signature may verify or replace it.")
}

// originLives is how long a code for an origin can be used.
const originLives = 15 * time.Minute

// originTries is how many wrong codes a mailed one bears.
const originTries = 5

type askOriginIn struct {
	Body wire.LinkOrigin
}

// Reads besides what authorisation reads.
func (*askOriginIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.PendingOriginKey(agent)}
}

// originAsked is what came of asking for a code.
type originAsked struct{ ExpiresAt int64 } // unix ms

// askOrigin reserves the mail, sends it, and only then remembers its code: a
// mail that fails leaves no code behind that nobody has. Where the process dies
// in between, the same request mails another code, once the claim is over
// ([api.Call.Claim]); the code of the first is none.
func (g access) askOrigin(ctx context.Context, in *askOriginIn) (*originAsked, error) {
	c := api.From(ctx)
	to, err := readAddress(in.Body.Email)
	if err != nil {
		return nil, err
	}
	if waiting := c.Item(tables.PendingOriginKey(c.Agent.ID)); !c.Signed() && waiting.Int("key_until") > c.Time.UnixMilli() {
		return nil, waitsForKey() // the condition of the write says so too, after a mail
	}
	hash, err := recovery.NewHasher(ctx, g.App)
	if err != nil {
		return nil, err
	}
	code, err := recovery.NewCode(g.Rand)
	if err != nil {
		return nil, err
	}
	agent := c.Agent.ID
	asks := g.Settings.Limits.OriginsDay
	if !c.Signed() {
		asks -= originsSpared
	}
	quota := func(n int64) []tables.Write {
		return append(mailQuota(c, hash.Person(to), n), tables.Quota(agent, "origin", c.Window(day), day, n, asks).
			Else(c.OverQuota(day, "%d mails a day for one agent are the limit.", g.Settings.Limits.OriginsDay)))
	}
	claim, release := c.Claim()
	// The mail is counted before it is sent, and its request claimed.
	if err := g.Transact(ctx, append(claim, quota(1)...)...); err != nil {
		return nil, err
	}
	if err := recovery.Post(ctx, g.App, mail.OriginCode(to, g.Settings.BaseURL, c.Agent.Handle, code, originLives)); err != nil {
		if errors.Is(err, mail.ErrRefused) {
			release = append(release, quota(-1)...)
		}
		if back := g.giveBack(ctx, release); back != nil {
			c.Log.Warn("a mail that was not sent stays counted", "error", back.Error())
		}
		return nil, api.Fail(api.Unavailable, "The mail could not be sent; no code was made.").Because(err)
	}
	pending := &tables.PendingOrigin{
		ID: g.Random(8), Person: hash.Person(to), Domain: hash.Domain(to), Address: hash.Address(to),
		Code: hash.Code("origin", agent, code), Epoch: c.Agent.Epoch, ExpiresAt: c.Time.Add(originLives).UnixMilli(), Signed: c.Signed(),
	}
	came := &originAsked{pending.ExpiresAt}
	err = c.Commit(ctx, came,
		pending.Ask(agent, c.Time).Else(func(tables.Item) error { return waitsForKey() }),
		c.CredentialStands(),
		c.Agent.OriginPending(pending.ExpiresAt).Else(func(tables.Item) error { return c.CredentialGone() }),
	)
	if err != nil {
		return nil, errors.Join(err, g.giveBack(ctx, release))
	}
	return came, nil
}

func (g access) askOriginAnswer(ctx context.Context, _ *askOriginIn, came *originAsked) (*wire.OriginPending, error) {
	return &wire.OriginPending{Origin: "pending", ExpiresAt: came.ExpiresAt, Written: api.From(ctx).Next(wire.Next{
		Do: "POST /v1/me/origin/verify", Why: "verify the address with the code from the mail", Tool: "verify_origin",
		Body: map[string]any{"code": ""},
	})}, nil
}

// readAddress reads an address. What is wrong with it is said without it.
func readAddress(s string) (mail.Address, error) {
	to, err := mail.ParseAddress(s)
	if err != nil {
		return to, api.BadField("email", "%s", err)
	}
	return to, nil
}

type verifyOriginIn struct {
	Body wire.VerifyOrigin
}

// Reads besides what authorisation reads.
func (*verifyOriginIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.PendingOriginKey(agent), tables.OriginKey(agent), tables.JurorKey(agent)}
}

// originVerified is what came of the right code.
type originVerified struct{ Recoverable, Here bool }

func (g access) verifyOrigin(ctx context.Context, in *verifyOriginIn) (*originVerified, error) {
	c := api.From(ctx)
	code, err := readCode(in.Body.Code)
	if err != nil {
		return nil, err
	}
	hash, err := recovery.NewHasher(ctx, g.App)
	if err != nil {
		return nil, err
	}
	agent := c.Agent.ID
	var pending tables.PendingOrigin
	var before tables.Origin
	if err := errors.Join(
		tables.Unmarshal(c.Item(tables.PendingOriginKey(agent)), &pending),
		tables.Unmarshal(c.Item(tables.OriginKey(agent)), &before),
	); err != nil {
		return nil, err
	}
	if pending.ID == "" || pending.ExpiresAt <= c.Time.UnixMilli() || pending.Epoch != c.Agent.Epoch {
		return nil, badCode()
	}
	if pending.Signed && !c.Signed() {
		return nil, waitsForKey()
	}
	if !recovery.Same(pending.Code, hash.Code("origin", agent, code)) {
		return nil, g.missed(ctx, pending.Miss(agent, originTries))
	}
	keyless := !c.Signed() && c.Agent.Keys == 0
	origin := &tables.Origin{
		Agent: agent, Person: pending.Person, Domain: pending.Domain, Recovery: before.Recovery,
		VerifiedAt: c.Time.UnixMilli(), Signed: c.Signed(),
	}
	if c.Signed() || keyless {
		origin.Recovery = pending.Address
	}
	came := &originVerified{origin.Recovery != "", origin.Recovery == pending.Address}
	gone := func(tables.Item) error { return c.CredentialGone() }
	profile := c.Agent.OriginVerified(origin, came.Recoverable, keyless).Else(gone)
	var left []tables.Write
	if before.Person != "" && before.Owner() != origin.Owner() {
		if left, err = unseat(c, &profile); err != nil {
			return nil, err
		}
	}
	if origin.Recovery != before.Recovery { // a code that went to the mailbox before must not outlive it
		left = append(left, tables.Delete(tables.RecoveryKey(agent)))
	}
	return came, c.Commit(ctx, came, append([]tables.Write{
		c.CredentialStands(), profile,
		pending.Spend(agent, originTries).Else(func(tables.Item) error { return badCode() }), // spent, replaced or tried too often meanwhile
		origin.Replace(&before),
	}, left...)...)
}

// unseat has an agent volunteer no more behind whom is somebody else from now on:
// of each one agent is a juror. Profile is the write of its profile's.
func unseat(c *api.Call, profile *tables.Write) ([]tables.Write, error) {
	item := c.Item(tables.JurorKey(c.Agent.ID))
	if item == nil {
		return []tables.Write{tables.NoJuror(c.Agent.ID)}, nil
	}
	j := new(tables.Juror)
	if err := tables.Unmarshal(item, j); err != nil {
		return nil, err
	}
	profile.Updates = append(profile.Updates, tables.RemoveAttr("juror"))
	return append(j.Leave(nil), j.End(tables.JurorMoved, c.Time)), nil
}

func (g access) verifyOriginAnswer(ctx context.Context, _ *verifyOriginIn, came *originVerified) (*wire.OriginVerified, error) {
	next := []wire.Next{{Do: "GET /v1/me", Why: "see whether you can be recovered", Tool: "me"}}
	if !came.Here {
		next = append(next, wire.Next{
			Do: "POST /v1/me/origin", Why: "sign this request and the next, so that recovery codes go to the address", Tool: "link_origin",
			Body: map[string]any{"email": ""},
		})
	}
	return &wire.OriginVerified{Origin: "verified", Recoverable: came.Recoverable, RecoversHere: came.Here, Written: api.From(ctx).Next(next...)}, nil
}

func badCode() *api.Error { return api.Fail(api.BadCode, "The code is not valid.") }

// missed counts a wrong code, which is one whether or not it could be counted:
// that there was something to count must not be told.
func (g access) missed(ctx context.Context, count ...tables.Write) error {
	if err := g.Transact(ctx, count...); err != nil && !errors.Is(err, tables.ErrOvertaken) {
		api.From(ctx).Log.Warn("wrong code not counted", "error", err.Error())
	}
	return badCode()
}
