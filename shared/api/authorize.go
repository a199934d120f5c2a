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

// credential reads what a request shows and verifies a signature. Nothing is
// looked up: a request that was tampered with costs no read.
func (s *Server) credential(c *Call, r *http.Request, raw Raw, body []byte) error {
	h := func(name string) string { return r.Header.Get(name) }
	authorization := h("Authorization")
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
	case authorization != "":
		return c.bearer(authorization)
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
		return Fail(BadSignature, "The signed query says that it is meant for aud=%q; this is %s.", aud, s.host)
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

func (c *Call) bearer(authorization string) error {
	scheme, value, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Fail(BadToken, "The Authorization header does not begin with Bearer.")
	}
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
	keys = append(keys, credKey, tables.ProfileKey(c.agent))
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
	}
	p := new(tables.Profile)
	if err := tables.Unmarshal(profile, p); err != nil {
		return err
	}
	c.Agent = p // proved: from here on the agent answers for what it asks
	if c.cred.kind == credBearer {
		c.token = &t
		need := c.e.Auth.Scope
		switch has := need == "" || slices.Contains(t.Scopes, need); {
		case c.e.Auth.Sig && need == "", !has && c.mustSign():
			return c.sigRequired()
		case !has:
			e := Fail(ScopeMissing, "The token's scopes are %s; %s needs %s.", strings.Join(t.Scopes, ", "), c.e.Route, need)
			e.Scope = need
			return e
		}
	}
	return nil
}

// mustSign reports whether a token was shown where one is taken only from an
// agent without a key, and this one has a key.
func (c *Call) mustSign() bool { return c.e.Auth.Keyless && !c.Signed() && c.Agent.Keys > 0 }

func (c *Call) sigRequired() *Error {
	return Fail(SigRequired, "%s takes a signature only.", c.e.Route)
}

// madeAt is when the caller's credential was made.
func (c *Call) madeAt() time.Time {
	made := c.items[c.credentialKey()]
	return time.UnixMilli(max(made.Int("added_at"), made.Int("created_at")))
}

// mayAct judges the agent's state.
func (c *Call) mayAct() error {
	if c.mustSign() {
		return c.sigRequired()
	}
	if c.Agent.State == tables.StateSignup && c.e.Auth.Needed() && !c.e.Signup {
		return Fail(SignupRequired, "The agent has not finished its signup.")
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
