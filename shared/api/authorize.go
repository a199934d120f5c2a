package api

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crypto/sha256"

	"agentsocial/shared/auth"
	"agentsocial/shared/id"
	"agentsocial/tables"
)

type credKind int

const (
	credNone credKind = iota
	credSig
	credBearer
)

// credential is what a request shows, checked as far as that goes without the table.
type credential struct {
	kind   credKind
	pub    string // base64url public key of a signature
	ts     int64  // its timestamp, unix ms
	digest string // names its outcome in the guard
	token  auth.ParsedToken
}

// sendToken is the advice where nothing else is taken.
const sendToken = "Send `Authorization: Bearer ast_…`: a token comes from OAuth or from `POST /v1/me/tokens`."

// credential reads what a request shows and verifies a signature. Nothing is
// looked up: a request that was tampered with costs no read.
func (s *Server) credential(c *Call, r *http.Request, raw Raw, body []byte) error {
	h := func(name string) string { return r.Header.Get(name) }
	authorization := h("Authorization")
	if c.e.NoBearer && isBearer(authorization) { // clients send it along, dead ones too
		authorization = ""
	}
	var missing []string
	for _, name := range []string{auth.HeaderKey, auth.HeaderTS, auth.HeaderSig} {
		if h(name) == "" {
			missing = append(missing, name)
		}
	}
	signed := len(missing) < 3 || h(auth.HeaderID) != "" && authorization == ""
	switch {
	case signed && authorization != "":
		return Fail(BadSignature, "The request carries both a signature and an Authorization header.").
			WithHint("Send one of the two.")
	case authorization != "" && c.e.NoBearer:
		return Fail(InvalidClient, "The header Authorization names a client that has a secret, and none here has one.").
			WithHint("Send no `Authorization`: clients here are public, and `client_id` is a parameter.")
	case authorization != "":
		return c.bearer(authorization)
	case signed && c.e.Auth.Bearer:
		return Fail(Unauthenticated, "%s takes a bearer token, and the request is signed.", c.e.Route).WithHint(sendToken)
	case !signed && c.e.Auth.Bearer:
		return Fail(Unauthenticated, "%s takes a bearer token and none was sent.", c.e.Route).WithHint(sendToken)
	case !signed:
		if c.e.Auth.Needed() {
			return Fail(Unauthenticated, "%s needs a credential and none was sent.", c.e.Route)
		}
		return nil
	case len(missing) > 0:
		return Fail(Unauthenticated, "The request is signed in part; what is missing: %s.", strings.Join(missing, " and "))
	}

	for _, name := range []string{auth.HeaderKey, auth.HeaderTS, auth.HeaderSig, auth.HeaderID} {
		if len(r.Header.Values(name)) > 1 || strings.Contains(h(name), ",") { // the gateway joins them
			return Fail(BadSignature, "The header %s is sent more than once.", name)
		}
	}
	ts, err := strconv.ParseInt(h(auth.HeaderTS), 10, 64)
	if err != nil || strconv.FormatInt(ts, 10) != h(auth.HeaderTS) {
		e := Fail(BadTimestamp, "%s is not an integer: unix time in milliseconds.", auth.HeaderTS)
		e.ServerTime = c.Time
		return e
	}
	if d := c.Time.UnixMilli() - ts; d > auth.Skew.Milliseconds() || d < -auth.Skew.Milliseconds() {
		e := Fail(BadTimestamp, "%s is %s the server's clock; 60 s is the limit.", auth.HeaderTS, skew(d))
		e.ServerTime = c.Time
		return e
	}
	key, err := auth.ParseKey(h(auth.HeaderKey))
	if err != nil {
		return Fail(BadSignature, "%s %s.", auth.HeaderKey, err)
	}
	sig, err := auth.Verify(key, h(auth.HeaderSig), auth.Message(r.Method, raw.PathAndQuery(), ts, body))
	if errors.Is(err, auth.ErrSigForm) {
		return Fail(BadSignature, "%s %s.", auth.HeaderSig, err)
	}
	if err != nil {
		return Fail(BadSignature, "The signature does not verify for this method, path and query, timestamp and body.")
	}
	if aud := r.URL.Query().Get("aud"); aud != "" && aud != s.host {
		return Fail(BadSignature, "The signed query says that it is meant for aud=%q; this is %s.", aud, s.host).
			WithHint("If it is meant for this service, sign it again with `aud=%s`, or without.", s.host)
	}
	if agent := h(auth.HeaderID); agent != "" {
		if !id.Agent.Valid(agent) {
			return Fail(UnknownKey, "%s is not an agent id.", auth.HeaderID)
		}
		c.agent = agent
	}
	sum := sha256.Sum256(sig)
	c.cred = credential{kind: credSig, pub: auth.EncodeKey(key), ts: ts, digest: tables.Digest(sum[:])}
	return nil
}

func skew(ms int64) string {
	side := " behind"
	if ms < 0 {
		side = " ahead of"
	}
	const day = 24 * 60 * 60 * 1000
	if ms > day || ms < -day {
		return "more than a day" + side
	}
	return (time.Duration(max(ms, -ms)) * time.Millisecond).String() + side
}

func isBearer(authorization string) bool {
	scheme, _, _ := strings.Cut(authorization, " ")
	return strings.EqualFold(scheme, "Bearer")
}

func (c *Call) bearer(authorization string) error {
	if !isBearer(authorization) {
		return Fail(BadToken, "The Authorization header does not begin with Bearer.")
	}
	_, value, _ := strings.Cut(authorization, " ")
	token, err := auth.ParseToken(strings.TrimSpace(value))
	if err != nil {
		return Fail(BadToken, "The bearer token %s.", err)
	}
	c.cred, c.agent = credential{kind: credBearer, token: token}, token.Agent
	return nil
}

// resolve finds the agent of a signature that does not name one: it was made
// with an original key.
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
	claim, err := c.Table.Get(ctx, tables.Strong, tables.OriginalKey(c.cred.pub))
	if err != nil {
		return err
	}
	if claim[0] == nil {
		return c.unknownKey()
	}
	c.agent = claim[0].Str("agent")
	c.keys.put(c.cred.pub, c.agent)
	return nil
}

func (c *Call) unknownKey() *Error {
	return Fail(UnknownKey, "The public key in %s is no key of this agent, or of any.", auth.HeaderKey)
}

// authorize reads the credential, the profile, what bounds the request, and
// the handler's keys, in one round trip, and decides whether it may go on.
func (c *Call) authorize(ctx context.Context, ownKeys func() []tables.Key) error {
	if c.Table == nil { // a group without a table says the same to everybody
		return nil
	}
	write := c.e.Writes()
	keys := ownKeys()
	c.items = make(map[tables.Key]tables.Item, len(keys)+6)
	if c.cred.kind == credNone {
		return c.read(ctx, keys)
	}
	credKey := c.credentialKey()
	keys = append(append(keys, credKey, tables.ProfileKey(c.agent)), c.hangsOn()...)
	if write {
		keys = append(keys, tables.CountersKey(c.agent), tables.MessagingKey(c.agent), tables.GuardKey(c.agent, c.minute()))
		if c.idemKey != "" {
			keys = append(keys, tables.IdempotencyKey(c.agent, c.idemKey))
		}
	}
	if err := c.read(ctx, keys); err != nil {
		return err
	}
	err := c.checkCredential(c.items[credKey], c.items[tables.ProfileKey(c.agent)])
	if err == nil && c.cached && !c.items[credKey].Bool("original") {
		err = c.unknownKey() // of this agent it is another key by now
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
	// A request that was carried out before is answered even if the agent may
	// do nothing new by now: its effect stands.
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
	items, err := c.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return err
	}
	for i, k := range keys {
		c.items[k] = items[i]
	}
	return nil
}

// checkCredential holds the credential's item against what was shown.
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
		if stands, err := c.hangs(&t); err != nil {
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
	c.Agent = p // proved: from here on the agent answers for what it asks
	if c.cred.kind == credBearer {
		c.token = &t
		need := c.e.Auth.Scope
		has := need == "" || t.Scopes.Has(need) || need == "read" && p.State == tables.StateSignup || c.founding()
		switch {
		case c.unfinished(): // which scopes would not mend
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

// connectAgain is what a connection does that lacks a scope: above all, it does
// not become another agent by that.
const connectAgain = "First get a link code (`POST /v1/me/link-codes`), signed or with a token that has the scope: a code has no more scopes than what minted it. Then connect again with the scope ticked, and enter the code, or your handle and a mailed recovery code: with neither, the connection is of a new agent."

// founding reports whether a connection secures, whatever its scopes, the agent
// that came to be by it and has no key yet: the person who granted it less could
// not know that the agent is lost without. A token that was narrowed is judged by
// its scopes.
func (c *Call) founding() bool {
	return c.e.Secures && c.Agent.Keys == 0 && c.grant != nil && c.grant.Founded && !c.grant.Scopes.Has(c.e.Auth.Scope)
}

// borrowed reports whether a connection that was made with a link code would
// secure an agent that has no key: it would have the agent for good, and who
// lent it the code could not take that back.
func (c *Call) borrowed() bool {
	return c.e.Secures && c.Agent.Keys == 0 && c.grant != nil && !c.grant.On.Zero()
}

// hangsOn are the items without which a token is worth nothing, as its value
// names them.
func (c *Call) hangsOn() (keys []tables.Key) {
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

// hangs reports whether what the token hangs on is there, and notes a connection.
func (c *Call) hangs(t *tables.Token) (stands bool, err error) {
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

// unfinished reports whether the agent must finish its signup before it may do this.
func (c *Call) unfinished() bool {
	return c.Agent.State == tables.StateSignup && c.e.Auth.Needed() && !c.e.Signup
}

func (c *Call) signupRequired() *Error {
	return Fail(SignupRequired, "The agent has not finished its signup: it has no handle yet.")
}

// mustSign reports whether a token was shown where one is taken only from an
// agent without a key, and this one has a key.
func (c *Call) mustSign() bool { return c.e.Auth.Keyless && !c.Signed() && c.Agent.Keys > 0 }

func (c *Call) sigRequired() *Error {
	return Fail(SigRequired, "%s takes a signature only.", c.e.Route)
}

// madeAt is when the caller's credential was made.
func (c *Call) madeAt() time.Time {
	if c.grant != nil {
		return time.UnixMilli(c.grant.CreatedAt)
	}
	made := c.items[c.credentialKey()]
	return time.UnixMilli(max(made.Int("added_at"), made.Int("created_at")))
}

// mayAct judges the agent's state.
func (c *Call) mayAct() error {
	if c.mustSign() {
		return c.sigRequired()
	}
	if c.unfinished() {
		return c.signupRequired()
	}
	if c.borrowed() {
		return Fail(SigRequired, "The agent has no key, and the connection was made with a link code: %s is not for it.", c.e.Route).
			WithHint("Do it over the connection that minted the code.")
	}
	if until := time.UnixMilli(c.Agent.SuspendedUntil); c.e.Writes() && !c.e.Safe && until.After(c.Time) {
		e := Fail(Suspended, "The agent is suspended until %s.", until.UTC().Format(time.RFC3339))
		e.Until = until
		return e
	}
	// What was there before the recovery is the owner's, if it works still.
	since := time.UnixMilli(c.Agent.HoldSince)
	if until := time.UnixMilli(c.Agent.HoldUntil); c.e.Held && until.After(c.Time) && !c.madeAt().Before(since) {
		e := Fail(RecoveryHold, "The agent was recovered by mail; this is refused until %s.", until.UTC().Format(time.RFC3339))
		e.Until = until
		return e
	}
	return nil
}

// owners remembers which agent something belongs to that does not change hands:
// an original key while it lives, and the key itself is read with every
// request; a handle for ever.
type owners struct {
	mu sync.Mutex
	m  map[string]string
}

const ownersMost = 4096

func (o *owners) get(what string) (agent string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	agent, ok = o.m[what]
	return agent, ok
}

func (o *owners) put(what, agent string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil || len(o.m) >= ownersMost {
		o.m = make(map[string]string)
	}
	o.m[what] = agent
}

func (o *owners) drop(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.m, what)
}

// requestDigest tells requests under one Idempotency-Key apart.
func requestDigest(method, pathAndQuery string, body []byte) [32]byte {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(method), []byte(pathAndQuery), body} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}
