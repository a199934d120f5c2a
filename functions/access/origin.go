package access

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/recovery"
	"agentsocial/shared/outside/mail"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// An origin is the mail address of an agent's human. With an origin, the agent can be a
// juror, and can be recovered when all its keys are lost.
//
// If the agent has a key, only a signed request may choose the address for recovery: a
// leaked token must not be able to take over the agent. An address that a token links to
// an agent with a key counts only for juries, vouching and promos.

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
			Doc:    "Verify the address with the mailed code. You may then be a juror, if you have standing. From then on, recovery codes go to this address if you signed this request, or if you have no key yet.",
			Errors: []api.Code{api.BadCode, api.SigRequired},
		}, g.verifyOrigin, g.verifyOriginAnswer),
		api.OnWrite(api.Endpoint{
			Route: "DELETE /v1/me/origin", Name: "forget_origin", Auth: api.SigUnlessKeyless("post"), Topic: topic, Held: true, Safe: true,
			Doc:    "Forget the mail address of your human. The answer says what you lose by this: your place as a juror, standing, or recovery by mail.",
			Beyond: "An agent that linked an address must be able to unlink it.",
		}, g.forgetOrigin, g.forgetOriginAnswer),
		api.On(api.Endpoint{
			Route: "POST /v1/recover", Name: "ask_recovery", Status: 202, Topic: topic, Cost: recovery.Cost, Rate: recovery.Rate, FewPages: true,
			Errors: []api.Code{api.PageRefused},
			Doc:    "Ask for a recovery code. It is mailed to the address that you name, if that is the agent's address for recovery. The answer and its timing are the same whether or not the address is the agent's.",
		}, g.recover),
		api.On(api.Endpoint{
			Route: "POST /v1/recover/confirm", Name: "confirm_recovery", Topic: topic, Cost: recovery.Cost, Rate: recovery.Rate, FewPages: true,
			Doc:    "Add a key with a recovery code. All other keys, tokens, link codes and connections are revoked unless revoke_others is false.",
			Errors: []api.Code{api.BadCode, api.BadProof, api.KeyExists, api.AlreadyRegistered, api.LimitReached, api.PageRefused},
		}, g.confirm),
	}
}

// originsSpared is the part of Limits.OriginsDay that only signed requests can use. A
// leaked token cannot use up the requests that the owner needs to link an address.
const originsSpared = 2

// waitsForKey refuses a token while an address that a signed request named is not verified
// yet. Otherwise a leaked token could replace the address.
func waitsForKey() *api.Error {
	return api.Fail(api.SigRequired, "A signed request asked to link an address that is not verified yet; until the mailed code expires, only a signed request may verify or replace that address.")
}

// originLives is how long an origin code is valid, unless it is a [tables.SharedCode].
const originLives = 15 * time.Minute

// originTries bounds the wrong codes for one pending address.
const originTries = 5

type askOriginIn struct {
	Body wire.OriginRequest
}

// Reads implements [api.Reader].
func (*askOriginIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.PendingOriginKey(agent)}
}

type originAsked struct {
	ExpiresAt int64 // unix ms
	Shared    bool  // the code is the recipient's [tables.SharedCode]
}

// askOrigin counts the mail, sends it, and only then stores its code: a mail that fails
// leaves no code behind. If the process dies between sending and storing, the mailed code
// is never valid. When the request is repeated after its claim expires, it mails another
// code.
//
// A shared code is stored before it is mailed (see post). If the process dies in between,
// the repeated request accepts the stored code and mails nothing.
func (g access) askOrigin(ctx context.Context, in *askOriginIn) (*originAsked, error) {
	c := api.From(ctx)
	to, err := readAddress(in.Body.Email)
	if err != nil {
		return nil, err
	}
	if waiting := c.Item(tables.PendingOriginKey(c.Agent.ID)); !c.Signed() && waiting.Int("key_until") > c.Time.UnixMilli() {
		return nil, waitsForKey() // checked before a mail is sent; the write below has the same condition
	}
	hash, err := recovery.NewHasher(ctx, g.App)
	if err != nil {
		return nil, err
	}
	code, err := recovery.NewCode(g.Rand)
	if err != nil {
		return nil, err
	}
	agent, person := c.Agent.ID, hash.Person(to)
	pending := &tables.PendingOrigin{
		ID: g.Random(8), Person: person, Domain: hash.Domain(to), Address: hash.Address(to),
		Code: hash.Code("origin", agent, code), Epoch: c.Agent.Epoch, ExpiresAt: c.Time.Add(originLives).UnixMilli(), Signed: c.Signed(),
		Throwaway: to.Throwaway(),
	}
	claim, release := c.Claim()
	err = g.post(ctx, claim, release, linkMail{person: person, message: mail.OriginCode(to, g.Settings.BaseURL, c.Agent.Handle, code, originLives)})
	if errors.Is(err, recovery.ErrRecipientFull) {
		pending.Code, pending.ExpiresAt = "", c.Time.Add(day).UnixMilli()
		shared := &tables.SharedCode{ID: g.Random(8), Code: hash.Code("shared", person, code), ExpiresAt: c.Window(day).Add(2 * day).UnixMilli()}
		err = g.post(ctx, claim, release, linkMail{person: person, message: mail.SharedCode(to, g.Settings.BaseURL, code, day), shared: shared})
	}
	if errors.Is(err, recovery.ErrRecipientFull) {
		err = g.joinShared(ctx, claim, person)
	}
	if err != nil {
		return nil, err
	}
	outcome := &originAsked{pending.ExpiresAt, pending.Code == ""}
	err = c.Commit(ctx, outcome,
		pending.Ask(agent, c.Time).Else(func(tables.Item) error { return waitsForKey() }),
		c.CredentialStands(),
		c.Agent.OriginPending(pending.ExpiresAt).Else(func(tables.Item) error { return c.CredentialGone() }),
	)
	if err != nil {
		return nil, errors.Join(err, g.giveBack(ctx, release))
	}
	return outcome, nil
}

// linkMail is a mail that links an origin. shared is set if the mail's code works for
// every agent that names the address.
type linkMail struct {
	person  string // hash of the recipient's mailbox
	message mail.Message
	shared  *tables.SharedCode
}

// counts returns the writes that count n mails and n of the caller's requests; a negative
// n uncounts them.
func (g access) counts(ctx context.Context, m linkMail, n int64) ([]tables.Write, error) {
	writes, err := recovery.LinkMail(ctx, m.person, m.shared != nil, n)
	return append(writes, g.asks(api.From(ctx), n)), err
}

// asks returns the write that counts n of the caller's requests for a code.
func (g access) asks(c *api.Call, n int64) tables.Write {
	most := g.Settings.Limits.OriginsDay
	if !c.Signed() {
		most -= originsSpared
	}
	return tables.Quota(c.Agent.ID, "origin", c.Window(day), day, n, most).
		Else(c.OverQuota(day, "An agent may request %d origin codes a day, the last %d of them only with a signature.", g.Settings.Limits.OriginsDay, originsSpared))
}

// post counts a mail, stores its shared code if it has one, and sends it. It uncounts a
// mail that the mail service refuses.
func (g access) post(ctx context.Context, claim, release []tables.Write, m linkMail) error {
	counted, err := g.counts(ctx, m, 1)
	if err != nil {
		return err
	}
	if m.shared != nil {
		counted = append(counted, m.shared.Put(m.person))
	}
	if err := g.Transact(ctx, slices.Concat(claim, counted)...); err != nil {
		return err
	}
	failed := recovery.Post(ctx, g.App, m.message)
	if failed == nil {
		return nil
	}
	if errors.Is(failed, mail.ErrRefused) {
		counted, err = g.counts(ctx, m, -1)
		if m.shared != nil {
			counted = append(counted, m.shared.Spend(m.person))
		}
		release = slices.Concat(release, counted)
	}
	if err = errors.Join(err, g.giveBack(ctx, release)); err != nil {
		api.From(ctx).Log.Warn("claim or count of an unsent mail not released", "error", err.Error())
	}
	return api.Fail(api.Unavailable, "The mail could not be sent.").Because(failed)
}

// joinShared lets the caller use the shared code that was mailed to a person today, unless
// somebody has used it.
func (g access) joinShared(ctx context.Context, claim []tables.Write, person string) error {
	c := api.From(ctx)
	shared, err := g.sharedCode(ctx, person)
	if err != nil {
		return err
	}
	if shared.ID == "" {
		return c.OverRate(day, "This address gets no more mails to link an origin today. It has had all of its mails that name an agent (%d a day, %d a week), and the code of today's mail that names no agent has been used.", g.Settings.Limits.MailsDay, g.Settings.Limits.MailsWeek)
	}
	return g.Transact(ctx, append(slices.Clone(claim), g.asks(c, 1))...)
}

// sharedCode returns a person's shared code; its ID is empty if none is valid.
func (g access) sharedCode(ctx context.Context, person string) (s tables.SharedCode, err error) {
	items, err := g.Table.Get(ctx, tables.Strong, tables.SharedCodeKey(person))
	if err != nil {
		return s, err
	}
	if err = tables.Unmarshal(items[0], &s); err != nil || s.ExpiresAt <= api.From(ctx).Time.UnixMilli() {
		return tables.SharedCode{}, err
	}
	return s, nil
}

func (g access) askOriginAnswer(ctx context.Context, _ *askOriginIn, outcome *originAsked) (*wire.PendingOrigin, error) {
	why := "verify the address with the code from the mail"
	if outcome.Shared {
		why = "verify the address with the code from the newest mail that names no agent; no other code for linking comes today"
	}
	return &wire.PendingOrigin{Origin: "pending", ExpiresAt: outcome.ExpiresAt, Written: api.From(ctx).Next(wire.Next{
		Do: "POST /v1/me/origin/verify", Why: why, Tool: "verify_origin",
		Body: map[string]any{"code": ""},
	})}, nil
}

// readAddress parses an address. Its error does not repeat the address.
func readAddress(s string) (mail.Address, error) {
	to, err := mail.ParseAddress(s)
	if err != nil {
		return to, api.BadField("email", "%s", err)
	}
	return to, nil
}

type verifyOriginIn struct {
	Body wire.OriginVerificationRequest
}

// Reads implements [api.Reader].
func (*verifyOriginIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.PendingOriginKey(agent), tables.OriginKey(agent), tables.JurorKey(agent)}
}

// originVerified is the outcome of verifying an address. Here reports whether recovery
// codes go to that address.
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
	var left []tables.Write
	right := recovery.Same(pending.Code, hash.Code("origin", agent, code))
	if pending.Code == "" {
		shared, err := g.sharedCode(ctx, pending.Person)
		if err != nil {
			return nil, err
		}
		right = shared.ID != "" && recovery.Same(shared.Code, hash.Code("shared", pending.Person, code))
		left = append(left, shared.Spend(pending.Person).Else(func(tables.Item) error { return badCode() }))
	}
	if !right {
		return nil, g.missed(ctx, pending.Miss(agent, originTries))
	}
	keyless := !c.Signed() && c.Agent.Keys == 0
	origin := &tables.Origin{
		Agent: agent, Person: pending.Person, Domain: pending.Domain, Recovery: before.Recovery,
		VerifiedAt: c.Time.UnixMilli(), Signed: c.Signed(), Throwaway: pending.Throwaway,
	}
	if c.Signed() || keyless {
		origin.Recovery = pending.Address
	}
	outcome := &originVerified{origin.Recovery != "", origin.Recovery == pending.Address}
	gone := func(tables.Item) error { return c.CredentialGone() }
	profile := c.Agent.OriginVerified(origin, outcome.Recoverable, keyless).Else(gone)
	switch {
	case before.Person == "":
		left = append(left, tables.UnvouchBy(agent, origin.Owner()))
	case before.Owner() != origin.Owner():
		unseated, err := unseat(c, &profile)
		if err != nil {
			return nil, err
		}
		left = append(left, append(unseated, tables.Unvouch(agent))...)
	}
	if origin.Recovery != before.Recovery { // a code mailed to the old address must not work any more
		left = append(left, tables.Delete(tables.RecoveryKey(agent)))
	}
	return outcome, c.Commit(ctx, outcome, append([]tables.Write{
		c.CredentialStands(), profile,
		pending.Spend(agent, originTries).Else(func(tables.Item) error { return badCode() }), // used, replaced or tried too often meanwhile
		origin.Replace(&before),
	}, left...)...)
}

// unseat returns the writes that end an agent's service as a juror when its owner changes:
// each owner may have only one juror. It also removes the juror attribute in profile, the
// write of the agent's profile.
func unseat(c *api.Call, profile *tables.Write) ([]tables.Write, error) {
	j, err := tables.JurorOf(c.Item(tables.JurorKey(c.Agent.ID)))
	if err != nil {
		return nil, err
	}
	if j == nil {
		return []tables.Write{tables.NoJuror(c.Agent.ID)}, nil
	}
	profile.Updates = append(profile.Updates, tables.RemoveAttr("juror"))
	return append(j.Leave(nil, c.Time), j.End(tables.JurorMoved, c.Time)), nil
}

func (g access) verifyOriginAnswer(ctx context.Context, _ *verifyOriginIn, outcome *originVerified) (*wire.VerifiedOrigin, error) {
	next := []wire.Next{{Do: "GET /v1/me", Why: "see whether you can be recovered", Tool: "me"}}
	if !outcome.Here {
		next = append(next, wire.Next{
			Do: "POST /v1/me/origin", Why: "sign this request and the next, so that recovery codes go to the address", Tool: "link_origin",
			Body: map[string]any{"email": ""},
		})
	}
	return &wire.VerifiedOrigin{Origin: "verified", Recoverable: outcome.Recoverable, RecoversHere: outcome.Here, Written: api.From(ctx).Next(next...)}, nil
}

func badCode() *api.Error { return api.Fail(api.BadCode, "The code is not valid.") }

// missed counts a wrong code and returns the refusal. The refusal is the same if
// counting fails: it must not reveal whether a code was mailed.
func (g access) missed(ctx context.Context, count ...tables.Write) error {
	if err := g.Transact(ctx, count...); err != nil && !errors.Is(err, tables.ErrOvertaken) {
		api.From(ctx).Log.Warn("wrong code not counted", "error", err.Error())
	}
	return badCode()
}
