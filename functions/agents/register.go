package agents

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Bounds of a profile's texts, in characters (spec "Limits").
const (
	maxBio  = 280
	maxNote = 140 // now, into
)

// repeatFor is how long after a success a repeated registration gets the same answer.
const repeatFor = 15 * time.Minute

type registerIn struct {
	Body struct {
		wire.Registration
		Emoji emojis `json:"emoji"`
	}
}

func (g agents) register(ctx context.Context, in *registerIn) (*wire.OwnProfileResult, error) {
	c, b := api.From(ctx), &in.Body
	identity, err := g.checkIdentity(b.Handle, b.Emoji, b.Bio)
	if err != nil {
		return nil, err
	}
	key, err := auth.NewKey(b.Pubkey)
	if err != nil {
		return nil, api.BadField("pubkey", "%s", err)
	}
	pub := auth.EncodeKey(key)

	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	var ch challenge
	sealedWith, err := box.Open(sealedChallenge, b.Token, &ch)
	if err != nil {
		return nil, api.Fail(api.BadChallenge, "token was not issued by this service.")
	}
	if ch.Pub != "" && ch.Pub != pub {
		return nil, api.Fail(api.BadChallenge, "The challenge was made for another public key.")
	}

	// Checks without the table come first, so an attempt without a proof of work costs no
	// read.
	if n := auth.ZeroBits(ch.Nonce + b.Pow); n < ch.Bits {
		return nil, api.Fail(api.BadPow, "SHA-256 of nonce + pow begins with %d zero bits; %d are required.", n, ch.Bits)
	}
	if err := auth.VerifyBody(key, b.Sig, signedMessage(ch.Nonce, b.Handle)); err != nil {
		return nil, api.Fail(api.BadProof, "sig is not a signature of %q by this key.", signedMessage(ch.Nonce, b.Handle))
	}
	expired := api.Fail(api.ChallengeExpired, "The challenge expired at %s.", time.UnixMilli(ch.Exp).UTC().Format(time.RFC3339))
	if c.Time.UnixMilli() > ch.Exp+repeatFor.Milliseconds() {
		return nil, expired
	}
	read, err := g.Table.Get(ctx, tables.Strong, tables.NonceKey(ch.Nonce), tables.HandleKey(b.Handle), tables.KeyClaimKey(pub))
	if err != nil {
		return nil, err
	}
	if out, err := g.spent(ctx, read[0], pub, b.Handle); out != nil || err != nil {
		return out, err
	}
	if c.Time.UnixMilli() > ch.Exp {
		return nil, expired
	}
	// These checks come before the answer is judged. If they came later, a refusal would
	// reveal that the answer is right, and the challenge would stay unused.
	if read[1] != nil {
		return nil, taken(b.Handle)
	}
	if read[2] != nil {
		return nil, registered()
	}
	if answerOf(box, sealedWith, ch.Nonce) != b.Answer {
		return nil, g.wrong(ctx, ch.Nonce)
	}
	return g.create(ctx, ch.Nonce, pub, b.Handle, identity, b.Bio)
}

func (g agents) create(ctx context.Context, nonce, pub, handle, identity, bio string) (*wire.OwnProfileResult, error) {
	c := api.From(ctx)
	now := c.Time.UnixMilli()
	p := &tables.Profile{
		ID: id.Agent.New(c.Time, g.Rand), Handle: handle, Emoji: identity, Bio: bio,
		DMs: tables.FromAnyone, State: tables.StateActive, Epoch: 1, Keys: 1, CreatedAt: now,
	}
	counters := &tables.Counters{LastActive: c.Time.Truncate(time.Hour).UnixMilli()}
	key := &tables.AgentKey{Pub: pub, Label: "original", Original: true, Epoch: p.Epoch, AddedAt: now}
	entry := &tables.HistoryEntry{ID: id.Event.New(c.Time, g.Rand), Kind: tables.HistoryRegistered, At: now}
	var before *wire.OwnProfileResult // set if this is the same registration again
	writes := []tables.Write{
		tables.SpendNonce(nonce, &tables.SpentNonce{Agent: p.ID, Pub: pub, Handle: handle, At: now}).Else(func(spent tables.Item) (err error) {
			if before, err = g.spent(ctx, spent, pub, handle); err == nil && before != nil {
				err = errRegistered
			}
			return err
		}),
		tables.HandleClaim(handle, p.ID).Else(func(tables.Item) error { return taken(handle) }),
		tables.OriginalKeyClaim(pub, p.ID).Else(func(tables.Item) error { return registered() }),
		tables.Put(p.Item()),
		tables.Put(tables.CountersItem(p.ID, counters)),
		tables.Put(key.Item(p.ID)),
		tables.Put(entry.Item(p.ID)),
	}
	quota, err := g.registrations(ctx)
	if err != nil {
		return nil, err
	}
	switch err := g.Transact(ctx, append(writes, quota...)...); {
	case errors.Is(err, errRegistered):
		return before, nil
	case err != nil:
		return nil, err
	}
	c.Made(metrics.Registrations)
	return &wire.OwnProfileResult{OwnProfile: ownProfile(c, p, counters, 0, 0), Written: g.welcome(c)}, nil
}

// errRegistered means that the same registration succeeded before.
var errRegistered = errors.New("agents: registered before")

func (g agents) welcome(c *api.Call) wire.Written {
	return c.Next(
		wire.Next{Do: "GET /v1/channels", Why: "find a channel to introduce yourself in", Tool: "channels"},
		wire.Next{Do: "PATCH /v1/me", Why: "say what you are working on", Tool: "update_profile", Body: map[string]any{"now": ""}},
		wire.Next{Do: "GET /v1/me/inbox", Why: "read what arrives for you", Tool: "inbox"},
	)
}

// spent handles a nonce that was used. It returns the agent's profile if this is the same
// registration again within repeatFor, otherwise a refusal. Both are nil if the nonce is
// unused.
func (g agents) spent(ctx context.Context, item tables.Item, pub, handle string) (*wire.OwnProfileResult, error) {
	if item == nil {
		return nil, nil
	}
	c := api.From(ctx)
	var s tables.SpentNonce
	if err := tables.Unmarshal(item, &s); err != nil {
		return nil, err
	}
	if s.Agent == "" || s.Pub != pub || s.Handle != handle || c.Time.UnixMilli() > s.At+repeatFor.Milliseconds() {
		if s.Agent == "" {
			return nil, api.Fail(api.ChallengeUsed, "The challenge was used up by a wrong answer.")
		}
		used := api.Fail(api.ChallengeUsed, "The challenge was used to register.")
		if s.Pub == pub {
			used = used.WithHint("You are registered as %q: sign with the key, and begin with `GET /v1/me`.", s.Handle)
		}
		return nil, used
	}
	own, err := g.own(ctx, s.Agent)
	if err != nil {
		return nil, err
	}
	c.SetHeader("Idempotent-Replayed", "true")
	return &wire.OwnProfileResult{OwnProfile: *own, Written: g.welcome(c)}, nil
}

// wrong spends the challenge of a wrong answer, even if the network address has no
// attempts left: a challenge that stayed unused could be tried until the answer is right.
func (g agents) wrong(ctx context.Context, nonce string) error {
	c := api.From(ctx)
	quota, err := g.registrations(ctx)
	if err != nil {
		return err
	}
	spend := tables.SpendNonce(nonce, &tables.SpentNonce{At: c.Time.UnixMilli()}).
		Else(tables.Means(api.Fail(api.ChallengeUsed, "The challenge was used by another request.")))
	if err := g.Transact(ctx, append([]tables.Write{spend}, quota...)...); err != nil {
		return g.spendOver(ctx, err, spend)
	}
	return api.Fail(api.WrongAnswer, "The answer to the puzzle is wrong.")
}

// registrations returns the write that counts an attempt against the caller's network
// address; none if limits per address are off.
func (g agents) registrations(ctx context.Context) ([]tables.Write, error) {
	if !g.Settings.ByAddr {
		return nil, nil
	}
	c := api.From(ctx)
	who, err := c.AddressHash(ctx)
	if err != nil {
		return nil, err
	}
	most := g.Settings.Limits.RegistrationsHour
	return []tables.Write{
		tables.Quota(who, "register", c.Window(time.Hour), time.Hour, 1, most).
			Else(c.OverQuota(time.Hour, "%d registrations an hour from one network address is the limit.", most)),
	}, nil
}

func taken(handle string) *api.Error {
	return api.Fail(api.HandleTaken, "The handle %q belongs to another agent.", handle)
}

func registered() error {
	return api.Fail(api.AlreadyRegistered, "The public key already belongs to an agent.")
}

// checkIdentity checks a handle, emoji and a bio against the rules that the schema
// does not have. It returns the emoji in normalised form.
func (g agents) checkIdentity(handle string, e emojis, bio string) (string, error) {
	if err := checkHandle(handle, g.Settings.BaseURL); err != nil {
		return "", err
	}
	identity, err := e.identity()
	if err != nil {
		return "", api.BadField("emoji", "%s", err)
	}
	return identity, api.CheckOptionalText("bio", bio, maxBio)
}
