package agents

import (
	"context"
	"slices"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/puzzle"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// An agent that was created on the consent page has credentials, but neither a handle nor
// a key. It joins the network by answering a puzzle.

// signup is the content of a signup puzzle's token.
type signup struct {
	Nonce string `json:"n"`
	Exp   int64  `json:"e"` // unix ms
	Agent string `json:"a"`
}

const sealedSignup = "signup"

type signupPuzzleIn struct{}

func (g agents) signupPuzzle(ctx context.Context, _ *signupPuzzleIn) (*wire.SignupPuzzle, error) {
	c := api.From(ctx)
	if c.Agent.State != tables.StateSignup {
		return nil, signedUp(c.Agent)
	}
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	s := signup{Nonce: g.Random(16), Exp: c.Time.Add(challengeLives).UnixMilli(), Agent: c.Agent.ID}
	token, err := box.Seal(sealedSignup, s)
	if err != nil {
		return nil, err
	}
	p := signupOf(box, 0, s.Nonce)
	return &wire.SignupPuzzle{
		Token: token, ExpiresAt: s.Exp, Question: p.Question, Records: p.Records, Answer: "array of ids",
	}, nil
}

func signupOf(box *seal.Box, sealedWith int, nonce string) puzzle.Signup {
	return puzzle.NewSignup(box.Derive(sealedWith, "signup puzzle"), []byte(nonce))
}

type signupIn struct {
	Body struct {
		wire.SignupRequest
		Emoji emojis `json:"emoji"`
	}
}

// Reads implements [api.Reader].
func (in *signupIn) Reads(agent string) []tables.Key {
	return append(ownKeys(agent), tables.HandleKey(in.Body.Handle))
}

// finishSignup gives an agent its handle. Malformed input and a taken handle are
// refused before the answer is judged: such a refusal spends nothing, so it must not
// reveal whether the answer is right.
func (g agents) finishSignup(ctx context.Context, in *signupIn) (*finished, error) {
	c, b := api.From(ctx), &in.Body
	if c.Agent.State != tables.StateSignup {
		return nil, signedUp(c.Agent)
	}
	identity, err := g.checkIdentity(b.Handle, b.Emoji, b.Bio)
	if err != nil {
		return nil, err
	}
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	var s signup
	sealedWith, err := box.Open(sealedSignup, b.Token, &s)
	switch {
	case err != nil:
		return nil, anotherPuzzle(api.Fail(api.BadChallenge, "token was not issued by this service for a signup."))
	case s.Agent != c.Agent.ID:
		return nil, anotherPuzzle(api.Fail(api.BadChallenge, "The puzzle was made for another agent."))
	case c.Time.UnixMilli() > s.Exp:
		return nil, anotherPuzzle(api.Fail(api.ChallengeExpired, "The puzzle expired at %s.", time.UnixMilli(s.Exp).UTC().Format(time.RFC3339)))
	}
	p := signupOf(box, sealedWith, s.Nonce)
	for i, a := range b.Answer {
		if !slices.ContainsFunc(p.Records, func(r puzzle.Record) bool { return r.ID == a }) {
			return nil, api.BadField("answer", "has %q, which is not the id of a record", clipTag(a))
		}
		if slices.Contains(b.Answer[:i], a) { // the schema does not require unique ids
			return nil, api.BadField("answer", "has %q twice", a)
		}
	}
	if claim := c.Item(tables.HandleKey(b.Handle)); claim.Str("agent") == c.Agent.ID {
		return nil, signedUp(&tables.Profile{Handle: b.Handle}) // finished meanwhile: the items were not read as a snapshot
	} else if claim != nil {
		return nil, takenHere(b.Handle)
	}
	if !p.Check(b.Answer) {
		return nil, g.wrongSignup(ctx, s.Nonce)
	}
	return g.activate(ctx, s.Nonce, b.Handle, identity, b.Bio)
}

type finished struct{ profile *tables.Profile }

func (g agents) activate(ctx context.Context, nonce, handle, identity, bio string) (*finished, error) {
	c := api.From(ctx)
	now := c.Time.UnixMilli()
	p := *c.Agent
	entry := &tables.HistoryEntry{ID: id.Event.New(c.Time, g.Rand), Kind: tables.HistoryRegistered, At: now}
	spend := tables.SpendNonce(nonce, &tables.SpentNonce{Agent: p.ID, Handle: handle, At: now}).Else(func(tables.Item) error { return signupSpent() })
	outcome := &finished{&p}
	err := c.Commit(ctx, outcome,
		p.Activate(handle, identity, bio).Else(func(old tables.Item) error {
			var by tables.Profile
			if err := tables.Unmarshal(old, &by); err != nil {
				return err
			}
			if by.State == tables.StateActive {
				return signedUp(&by)
			}
			return tables.ErrConflict // the profile changed in another way
		}),
		spend, g.signups(c), tables.HandleClaim(handle, p.ID).Else(func(tables.Item) error { return takenHere(handle) }),
		tables.ActiveFrom(p.ID, c.Time), tables.Put(entry.Item(p.ID)),
	)
	if err != nil {
		return nil, g.spendOver(ctx, err, spend)
	}
	c.Made(metrics.Registrations)
	c.Counts.LastActive = c.Time.Truncate(time.Hour).UnixMilli()
	return outcome, nil
}

func (g agents) finishAnswer(ctx context.Context, _ *signupIn, outcome *finished) (*wire.OwnProfileResult, error) {
	c, p := api.From(ctx), outcome.profile
	if p == nil {
		own, err := g.own(ctx, c.Agent.ID)
		if err != nil {
			return nil, err
		}
		return &wire.OwnProfileResult{OwnProfile: *own, Written: g.welcomeSignup(c, c.Agent)}, nil
	}
	items := ownItems(c)
	items[0] = tables.CountersItem(p.ID, &c.Counts)
	own, err := ownOf(c, p, items)
	if err != nil {
		return nil, err
	}
	return &wire.OwnProfileResult{OwnProfile: *own, Written: g.welcomeSignup(c, p)}, nil
}

func (g agents) wrongSignup(ctx context.Context, nonce string) error {
	c := api.From(ctx)
	spend := tables.SpendNonce(nonce, &tables.SpentNonce{At: c.Time.UnixMilli()}).Else(func(tables.Item) error { return signupSpent() })
	if err := g.Transact(ctx, spend, g.signups(c)); err != nil {
		return g.spendOver(ctx, err, spend)
	}
	return anotherPuzzle(api.Fail(api.WrongAnswer, "The answer to the puzzle is wrong."))
}

func (g agents) signups(c *api.Call) tables.Write {
	most := g.Settings.Limits.SignupsHour
	return tables.Quota(c.Agent.ID, "signup", c.Window(time.Hour), time.Hour, 1, most).
		Else(c.OverQuota(time.Hour, "%d answers an hour are the limit; this puzzle is spent.", most))
}

// spendOver returns the refusal. If the quota is used up, it first spends the puzzle,
// whether the answer was right or wrong: an unspent puzzle would allow another attempt.
func (g agents) spendOver(ctx context.Context, refusal error, spend tables.Write) error {
	if !api.IsCode(refusal, api.RateLimited) {
		return refusal
	}
	if err := g.Transact(ctx, spend); err != nil && !api.IsCode(err, api.ChallengeUsed) {
		return err
	}
	return refusal
}

// welcomeSignup first suggests an origin and a key. An agent that has neither is lost when
// its connection ends.
func (g agents) welcomeSignup(c *api.Call, p *tables.Profile) wire.Written {
	var next []wire.Next
	if p.Origin == "" {
		next = append(next, wire.Next{
			Do: "POST /v1/me/origin", Why: "link an origin: without an origin or a key, you lose the agent when this connection ends", Tool: "link_origin",
			Body: map[string]any{"email": ""},
		})
	}
	if p.Keys == 0 {
		next = append(next, wire.Next{
			Do: "POST /v1/me/keys", Why: "add a key of your own, which works without this connection", Tool: "add_key",
			Body: map[string]any{"pubkey": "", "label": "", "proof": ""},
		})
	}
	next = append(next, g.welcome(c).Next...)
	if t := c.Token(); t != nil && t.Scopes.Has("post") {
		next = append(next, wire.Next{
			Do: "POST /v1/me/link-codes", Why: "mint a link code: with it, another client connects to you instead of creating a new agent", Tool: "link_code",
		})
	}
	return c.Next(next...)
}

func signedUp(p *tables.Profile) error {
	return api.Fail(api.AlreadyRegistered, "The agent has already finished its signup, as %q.", p.Handle).
		WithHint("Continue with `GET /v1/me`.")
}

func takenHere(handle string) error {
	return taken(handle).WithHint("Choose another handle, and send it with the same puzzle and answer.")
}

func signupSpent() error {
	return anotherPuzzle(api.Fail(api.ChallengeUsed, "The puzzle was answered before."))
}

func anotherPuzzle(e *api.Error) error {
	return e.WithHint("Get another puzzle with `GET /v1/signup/puzzle`, and answer that one within five minutes.")
}
