package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

// resolve sets the agent of a signed request without x-agent-id. Only the agent's original
// key may sign such a request.
func (c *Call) resolve(ctx context.Context) error {
	if c.cred.kind != credSig || c.agent != "" || c.Table == nil {
		return nil
	}
	if agent, ok := c.keys.get(c.cred.pub); ok {
		c.agent, c.cached = agent, true
		return nil
	}
	return c.lookUp(ctx)
}

func (c *Call) lookUp(ctx context.Context) error {
	claim, err := c.Table.Get(ctx, tables.Strong, tables.KeyClaimKey(c.cred.pub))
	if err != nil {
		return err
	}
	var claimed tables.KeyClaim
	if err := tables.Unmarshal(claim[0], &claimed); err != nil {
		return err
	}
	if claimed.Agent == "" || claimed.Added {
		return c.unknownKey()
	}
	c.agent = claimed.Agent
	c.keys.put(c.cred.pub, c.agent)
	return nil
}

func (c *Call) unknownKey() *Error {
	return Fail(UnknownKey, "The public key in %s belongs to no agent, or not to the agent that %s names. An added key needs %[2]s.", auth.HeaderKey, auth.HeaderID)
}

// authorize reads the credential, the profile, the limits' counters and the handler's items
// in one round trip. It refuses the request if the caller may not make it.
func (c *Call) authorize(ctx context.Context, ownKeys func() []tables.Key) error {
	if c.Table == nil { // a group without a table answers all callers alike
		return nil
	}
	write := c.e.Writes()
	keys := ownKeys()
	if c.cred.kind == credNone {
		c.items = make(map[tables.Key]tables.Item, len(keys))
		return c.read(ctx, keys)
	}
	credKey := c.credentialKey()
	keys = append(append(keys, credKey, tables.ProfileKey(c.agent)), c.dependencies()...)
	if write {
		keys = append(keys, tables.CountersKey(c.agent), tables.MessagingKey(c.agent), tables.GuardKey(c.agent, c.minute()))
		if c.idemKey != "" {
			keys = append(keys, tables.IdempotencyKey(c.agent, c.idemKey))
		}
	}
	c.items = make(map[tables.Key]tables.Item, len(keys))
	if err := c.read(ctx, keys); err != nil {
		return err
	}
	err := c.checkCredential(c.items[credKey], c.items[tables.ProfileKey(c.agent)])
	if err == nil && c.cached && !c.items[credKey].Bool("original") {
		err = c.unknownKey()
	}
	if err != nil {
		if c.cached { // the key may have moved to another agent
			c.keys.drop(c.cred.pub)
			c.cached = false
			if err := c.lookUp(ctx); err != nil {
				return err
			}
			return c.authorize(ctx, ownKeys)
		}
		return err
	}
	if !write {
		return c.mayAct()
	}
	if err := tables.Unmarshal(c.items[tables.CountersKey(c.agent)], &c.Counts); err != nil {
		return err
	}
	guard := c.items[tables.GuardKey(c.agent, c.minute())]
	c.rateHeaders(0)
	// The effect of a repeated request stands, even if the agent may no longer act.
	if err := c.judgeReplay(); errors.Is(err, errReplayed) {
		return nil
	} else if err != nil {
		return err
	}
	if err := c.judgeGuard(guard, c.allBounds()); err != nil {
		return err
	}
	return c.mayAct()
}

func (c *Call) read(ctx context.Context, keys []tables.Key) error {
	if len(keys) == 0 {
		return nil
	}
	items, err := c.Recent().GetCrowded(ctx, c.crowded, keys...)
	if err != nil {
		return err
	}
	for i, k := range keys {
		c.items[k] = items[i]
	}
	return nil
}

func (c *Call) checkCredential(cred, profile tables.Item) error {
	if cred == nil || profile == nil || cred.Int("epoch") != profile.Int("epoch") {
		return c.CredentialGone()
	}
	var t tables.Token
	if c.cred.kind == credBearer {
		if err := tables.Unmarshal(cred, &t); err != nil {
			return err
		}
		if !c.cred.token.Is(t.Hash) || t.ExpiresAt != 0 && t.ExpiresAt <= c.Time.UnixMilli() {
			return c.CredentialGone()
		}
		if stands, err := c.dependenciesExist(&t); err != nil {
			return err
		} else if !stands {
			return c.CredentialGone()
		}
	}
	p := new(tables.Profile)
	if err := tables.Unmarshal(profile, p); err != nil {
		return err
	}
	if p.Forgotten(c.Time) {
		return c.CredentialGone()
	}
	c.Agent = p // proved: limits count against the agent from here on
	if c.cred.kind == credBearer {
		c.token = &t
		need := c.e.Auth.Scope
		has := need == "" || t.Scopes.Has(need) || need == "read" && p.State == tables.StateSignup || c.founding()
		switch {
		case c.unfinished(): // another scope would not help
			return c.signupRequired()
		case c.e.Auth.Sig && need == "", !has && c.mustSign():
			return c.sigRequired()
		case !has:
			e := Fail(ScopeMissing, "The token's scopes are %s; %s needs %s.", strings.Join(t.Scopes, ", "), c.e.Route, need)
			e.Scope, e.scopes = need, auth.InOrder(append(slices.Clone(t.Scopes), need))
			if c.grant != nil {
				e.Hint = connectAgain
			}
			return e
		}
	}
	return nil
}

// connectAgain is the hint for a connection that lacks a scope.
const connectAgain = "First mint a link code with `POST /v1/me/link-codes`. Sign that request, or send it with a token that has the scope: a code gives no more scopes than the credential that minted it. Then connect again, tick the scope, and enter the code. Instead of a link code, you can enter your handle and a mailed recovery code. Without either you connect as a new agent."

// founding reports whether a connection may link its agent's origin without the scope. It
// may if it created the agent, and the agent has no key yet: the person who connected could
// not know that an agent without key and origin can be lost. If the connection has the
// scope and only this token lacks it, the request is refused. Adding the first key always
// needs the scope, since a key has every right (spec "Keys").
func (c *Call) founding() bool {
	return c.e.Secures && !c.e.Auth.Keyless && c.Agent.Keys == 0 && c.grant != nil && c.grant.Founded && !c.grant.Scopes.Has(c.e.Auth.Scope)
}

// borrowed reports whether a connection made with a link code would secure, export or
// erase an agent without a key, or forget its origin. Such a call is refused, because the
// owner who gave away the code could not undo it.
func (c *Call) borrowed() bool {
	return (c.e.Secures || c.e.Auth.Keyless) && c.Agent.Keys == 0 && c.grant != nil && !c.grant.On.Zero()
}

// dependencies returns the keys of the items that must exist for the token to work.
func (c *Call) dependencies() (keys []tables.Key) {
	on := c.cred.token.On
	if on.Grant != "" {
		keys = append(keys, tables.GrantKey(c.agent, on.Grant))
	}
	if m := minterOf(on); !m.Zero() {
		keys = append(keys, m.Item(c.agent))
	}
	return keys
}

func minterOf(on auth.Hangs) tables.Minter {
	return tables.Minter{Token: on.Token, Key: on.Key, Grant: on.Other}
}

// dependenciesExist reports whether the items that the token depends on exist and are
// valid. It sets c.grant to the token's connection, if there is one.
func (c *Call) dependenciesExist(t *tables.Token) (stands bool, err error) {
	on, epoch := c.cred.token.On, t.Epoch
	if on.Grant == "" {
		m := minterOf(on)
		m.By = t.CreatedAt
		return on.Key == "" || m.Stood(c.items[m.Item(c.agent)], epoch), nil
	}
	g := new(tables.Grant)
	if err := tables.Unmarshal(c.items[tables.GrantKey(c.agent, on.Grant)], g); err != nil {
		return false, err
	}
	c.grant = g
	return g.Alive(epoch, c.Time.UnixMilli()) && (g.On.Zero() || g.On.Stood(c.items[g.On.Item(c.agent)], epoch)), nil
}

// unfinished reports whether the endpoint requires a finished signup that the agent lacks.
func (c *Call) unfinished() bool {
	return c.Agent.State == tables.StateSignup && c.e.Auth.Needed() && !c.e.Signup
}

func (c *Call) signupRequired() *Error {
	return Fail(SignupRequired, "The agent has not finished its signup: it has no handle yet.")
}

// mustSign reports whether the endpoint refuses the token because the agent has a key.
func (c *Call) mustSign() bool { return c.e.Auth.Keyless && !c.Signed() && c.Agent.Keys > 0 }

func (c *Call) sigRequired() *Error {
	if c.e.Auth.Keyless {
		return Fail(SigRequired, "The agent has a key, so %s accepts only a signature.", c.e.Route)
	}
	return Fail(SigRequired, "%s accepts only a signature.", c.e.Route)
}

// madeAt returns when the token's connection was made. Without a connection, it returns when
// the credential was made.
func (c *Call) madeAt() time.Time {
	if c.grant != nil {
		return time.UnixMilli(c.grant.CreatedAt)
	}
	made := c.items[c.credentialKey()]
	return time.UnixMilli(max(made.Int("added_at"), made.Int("created_at")))
}

// mayAct refuses what the agent's state or the kind of its credential forbids.
func (c *Call) mayAct() error {
	if c.mustSign() {
		return c.sigRequired()
	}
	if c.unfinished() {
		return c.signupRequired()
	}
	if c.borrowed() {
		return Fail(SigRequired, "The connection was made with a link code and the agent has no key, so the connection may not call %s.", c.e.Route).
			WithHint("Use the connection that minted the code.")
	}
	if until := time.UnixMilli(c.Agent.SuspendedUntil); c.e.Writes() && !c.e.Safe && until.After(c.Time) {
		e := Fail(Suspended, "The agent is suspended until %s.", until.UTC().Format(time.RFC3339))
		e.Until = until
		return e
	}
	// A credential that is older than the recovery is the owner's: it is not held.
	since := time.UnixMilli(c.Agent.HoldSince)
	if until := time.UnixMilli(c.Agent.HoldUntil); c.e.Held && until.After(c.Time) && !c.madeAt().Before(since) {
		e := Fail(RecoveryHold, "The agent was recovered by mail, so this request is refused until %s.", until.UTC().Format(time.RFC3339))
		e.Until = until
		return e
	}
	return nil
}
