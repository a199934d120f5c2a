package access

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/identity/oauth"
	"agentsocial/shared/identity/recovery"
	"agentsocial/shared/outside/mail"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// repeatFor is how long after a success a repeated confirmation gets the same answer.
const repeatFor = 15 * time.Minute

type recoverIn struct {
	Body wire.RecoveryRequest
}

func (g access) recover(ctx context.Context, in *recoverIn) (*wire.RecoveryRequestResult, error) {
	c := api.From(ctx)
	to, err := readAddress(in.Body.Email)
	if err != nil {
		return nil, err
	}
	way := recovery.Way{App: g.App}
	if err := way.Admit(ctx); err != nil {
		return nil, err
	}
	recovery.Evenly(ctx, func(ctx context.Context) bool {
		if err := way.Mail(ctx, recovery.Bare(in.Body.Handle), to, mail.RecoveryCode); err != nil {
			// Only logged: the answer must not reveal it.
			c.Log.Error("recovery not mailed", "error", err.Error())
		}
		return false
	})
	return &wire.RecoveryRequestResult{Sent: "if it matches", Written: c.Next(wire.Next{
		Do: "POST /v1/recover/confirm", Why: "add a new key with the code from the newest mail, within a day",
		Body: map[string]any{"handle": "", "code": "", "pubkey": "", "proof": ""},
	})}, nil
}

type confirmIn struct {
	Body wire.RecoveryConfirmation
}

// attempt is a well-formed confirmation.
type attempt struct {
	handle, code, sent string // code is in normalised form; sent is the code as it was sent
	pub                string
	proves             func(agent string) bool // reports whether the proof is a signature for the agent
	revoke             bool
}

func (in *confirmIn) attempt() (*attempt, error) {
	b := &in.Body
	code, err := readCode(b.Code)
	if err != nil {
		return nil, err
	}
	key, err := auth.NewKey(b.Pubkey)
	if err != nil {
		return nil, api.BadField("pubkey", "%s", err)
	}
	return &attempt{
		handle: recovery.Bare(b.Handle), code: code, sent: b.Code, pub: auth.EncodeKey(key),
		proves: func(agent string) bool {
			return auth.VerifyBody(key, b.Proof, recoverMessage(agent, b.Code)) == nil ||
				auth.VerifyBody(key, b.Proof, recoverMessage(agent, code)) == nil
		},
		revoke: b.RevokeOthers == nil || *b.RevokeOthers,
	}, nil
}

func recoverMessage(agent, code string) string { return "recover:" + agent + ":" + code }

func (g access) confirm(ctx context.Context, in *confirmIn) (*wire.RecoveredAgent, error) {
	a, err := in.attempt()
	if err != nil {
		return nil, err
	}
	if err := (recovery.Way{App: g.App}).Admit(ctx); err != nil {
		return nil, err
	}
	var out *wire.RecoveredAgent
	recovery.Evenly(ctx, func(ctx context.Context) bool {
		out, err = g.tryConfirm(ctx, a)
		var e *api.Error
		return err == nil || errors.As(err, &e) && e.Code != api.BadCode // the code was right, so there is nothing to hide
	})
	return out, err
}

// tryConfirm recovers the agent. It gives the same answer whatever is wrong with
// the code, even if none was mailed.
func (g access) tryConfirm(ctx context.Context, a *attempt) (*wire.RecoveredAgent, error) {
	c := api.From(ctx)
	way := recovery.Way{App: g.App}
	hash, err := recovery.NewHasher(ctx, g.App)
	if err != nil {
		return nil, err
	}
	agent, err := way.AgentOf(ctx, a.handle)
	if err != nil {
		return nil, err
	}
	if agent == "" {
		return nil, badCode()
	}
	used := hash.Code("recovery", agent, a.code)
	items, err := g.Table.Get(ctx, tables.Strong, tables.ProfileKey(agent), tables.RecoveryKey(agent),
		tables.RecoveredKey(used), tables.KeyClaimKey(a.pub))
	if err != nil {
		return nil, err
	}
	var p tables.Profile
	var mailed tables.RecoveryCode
	var done tables.Recovered
	var claim tables.KeyClaim
	if err := errors.Join(tables.Unmarshal(items[0], &p), tables.Unmarshal(items[1], &mailed), tables.Unmarshal(items[2], &done), tables.Unmarshal(items[3], &claim)); err != nil {
		return nil, err
	}
	now := c.Time.UnixMilli()
	if out := a.repeated(c, &p, &done); out != nil {
		return out, nil
	}
	if mailed.ID == "" || mailed.ExpiresAt <= now {
		return g.again(ctx, a, agent, used)
	}
	tries, err := way.TriesOf(ctx, mailed.ID)
	if err != nil {
		return nil, err
	}
	miss := append([]tables.Write{mailed.Miss(agent, oauth.RecoveryTries)}, tries.Count...)
	if !recovery.Same(mailed.Code, used) {
		return nil, g.missed(ctx, miss...)
	}
	if !a.proves(agent) {
		if err := g.Transact(ctx, miss...); err != nil {
			c.Log.Warn("wrong proof not counted", "error", err.Error())
			return nil, badCode()
		}
		e := api.Fail(api.BadProof, "proof is not a signature of %q by this key.", recoverMessage(agent, a.sent))
		e.AgentID = agent
		return nil, e
	}
	if claim.Other(agent) {
		return nil, anothersKey(a.pub)
	}
	key := &tables.AgentKey{
		Pub: a.pub, Label: "recovery", Original: claim.Original(agent), Epoch: p.Epoch, AddedAt: now,
	}
	if a.revoke {
		key.Epoch++
	}
	entry := &tables.HistoryEntry{ID: id.Event.New(c.Time, g.Rand), Kind: tables.HistoryRecovered, At: now}
	done = tables.Recovered{Agent: agent, Pub: a.pub, Revoked: a.revoke, At: now}
	spent := func(tables.Item) error { return errSpent }
	writes := []tables.Write{
		mailed.Spend(agent, oauth.RecoveryTries).Else(spent),
		p.Recover(a.revoke, tables.KeysMost, now).Else(func(now tables.Item) error {
			if now.Int("epoch") == p.Epoch && now.Int("keys") >= tables.KeysMost {
				return api.Fail(api.LimitReached, "The agent has %d keys, which is the limit; set revoke_others to true, or leave it out.", tables.KeysMost)
			}
			return tables.ErrConflict
		}),
		key.Add(agent).Else(tables.Means(api.Fail(api.KeyExists, "The public key is already one of the agent's keys."))),
		claimKey(key, agent),
		tables.Put(entry.Item(agent)),
		done.Once(used),
	}
	for _, left := range tries.Left {
		writes = append(writes, left.Else(spent))
	}
	err = g.Transact(ctx, writes...)
	switch {
	case errors.Is(err, errSpent):
		return g.again(ctx, a, agent, used)
	case err != nil:
		return nil, err
	}
	return recovered(c, &p, &done), nil
}

// errSpent means that a code was used, replaced or tried too often meanwhile.
var errSpent = errors.New("access: the code is spent")

// repeated returns the first answer again if this attempt repeats the recent success in
// done; otherwise nil.
func (a *attempt) repeated(c *api.Call, p *tables.Profile, done *tables.Recovered) *wire.RecoveredAgent {
	if done.Pub != a.pub || c.Time.UnixMilli() > done.At+repeatFor.Milliseconds() || !a.proves(p.ID) {
		return nil
	}
	c.SetHeader("Idempotent-Replayed", "true")
	return recovered(c, p, done)
}

// again answers a confirmation when the agent has no valid code. It repeats the first
// answer if the same confirmation used the code.
func (g access) again(ctx context.Context, a *attempt, agent, used string) (*wire.RecoveredAgent, error) {
	c := api.From(ctx)
	items, err := g.Table.Get(ctx, tables.Strong, tables.ProfileKey(agent), tables.RecoveredKey(used))
	if err != nil {
		return nil, err
	}
	var p tables.Profile
	var done tables.Recovered
	if err := errors.Join(tables.Unmarshal(items[0], &p), tables.Unmarshal(items[1], &done)); err != nil {
		return nil, err
	}
	if out := a.repeated(c, &p, &done); out != nil {
		return out, nil
	}
	return nil, badCode()
}

func recovered(c *api.Call, p *tables.Profile, r *tables.Recovered) *wire.RecoveredAgent {
	return &wire.RecoveredAgent{
		AgentID: p.ID, Handle: p.Handle, Pubkey: r.Pub, RevokedOthers: r.Revoked, HoldUntil: p.HoldUntil,
		Written: c.Next(
			wire.Next{Do: "GET /v1/me", Why: "check that you are back: sign with the new key and send x-agent-id: " + p.ID, Tool: "me"},
			wire.Next{Do: "GET /v1/me/keys", Why: "see which keys act for you"},
			wire.Next{Do: "GET /v1/me/inbox", Why: "read what happened meanwhile", Tool: "inbox"},
		),
	}
}
