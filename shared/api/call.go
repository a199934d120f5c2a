package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

// Call is one request on its way: who asks, what was read for it, and how its
// effect is committed. Handlers get it with [From].
type Call struct {
	*app.App
	Time        time.Time       // of arrival, by the service's clock
	Agent       *tables.Profile // the caller; nil if anonymous
	Counts      tables.Counters // of the caller; read for writes only
	Address     string          // the caller's network address: an IPv4, or an IPv6 /64
	items       map[tables.Key]tables.Item
	addressHash string // once it was asked for
	cred        credential
	token       *tables.Token // if the credential is one
	grant       *tables.Grant // of the connection that the token is of, if it is
	agent       string        // the caller's id, once it is known
	cached      bool          // agent was remembered, not read
	unread      bool          // the credential is refused as one of too many that are none
	replay      record        // of this request, if it was carried out before
	committed   bool          // the effect stands
	bounds      []tables.Bound
	over        *overLimit
	used        *usedToday
	e           *Endpoint
	tool        string      // that was called over MCP; "" if none
	made        string      // metric of what came to be
	relayed     atomic.Bool // another server's endpoint answered for this one
	header      http.Header
	digest      [32]byte // of method, path, query and body: tells requests under one Idempotency-Key apart
	idemKey     string
	fail        *Error
	keys        *owners
	handles     *owners
}

type callKey struct{}

// From is the call in a handler's context.
func From(ctx context.Context) *Call { return ctx.Value(callKey{}).(*Call) }

// Made has the request counted under a metric of what came to be by it.
func (c *Call) Made(metric string) { c.made = metric }

// Item is what was read for a key that the input's Reads named; nil if there
// is no such item.
func (c *Call) Item(k tables.Key) tables.Item { return c.items[k] }

// Unread is how many messages the caller has not read: of a write, or of a read
// whose Reads name [tables.MessagingKey].
func (c *Call) Unread() int64 { return c.items[tables.MessagingKey(c.agent)].Int("unread") }

// Signed reports whether the caller showed one of its keys, not a token.
func (c *Call) Signed() bool { return c.cred.kind == credSig }

// Key is the public key that the caller signed with, in base64url; "" if it
// showed a token.
func (c *Call) Key() string { return c.cred.pub }

// Token is the bearer token that the caller showed; nil if it signed.
func (c *Call) Token() *tables.Token { return c.token }

// Grant is the connection whose token the caller showed; nil if it is no such token.
func (c *Call) Grant() *tables.Grant { return c.grant }

// CredentialStands holds that the caller's credential is still there when a
// transaction is made: what makes another credential must not outlive the one
// that it was made with. If it is not, the error is [Call.CredentialGone].
func (c *Call) CredentialStands() tables.Write {
	key := c.credentialKey()
	if c.grant != nil { // which outlives the token
		key = tables.GrantKey(c.agent, c.grant.ID)
	}
	return tables.Check(key, tables.Equal("epoch", c.Agent.Epoch)).Else(func(tables.Item) error { return c.CredentialGone() })
}

// CredentialGone refuses a credential that was taken back while it was used.
func (c *Call) CredentialGone() *Error {
	if c.Signed() {
		return c.unknownKey()
	}
	return Fail(BadToken, "The bearer token is expired or revoked.")
}

func (c *Call) credentialKey() tables.Key {
	switch c.cred.kind {
	case credSig:
		return tables.AgentKeyKey(c.agent, c.cred.pub)
	case credBearer:
		return tables.TokenKey(c.agent, c.cred.token.ID)
	}
	return tables.Key{}
}

// SetHeader sets a header of the answer.
func (c *Call) SetHeader(name, value string) { c.header.Set(name, value) }

// Bound adds a limit, within the minute of the request, to the next Commit. It
// refuses at once what is over the limit already.
func (c *Call) Bound(name string, most int64) error {
	c.bounds = append(c.bounds, tables.Bound{Name: name, Most: most})
	c.rateHeaders(0)
	return c.judgeGuard(c.items[tables.GuardKey(c.agent, c.minute())], c.bounds)
}

// writesBound counts all writes.
const writesBound = "n"

// keysShare is what part of an agent's writes, one in so many, tokens cannot use
// up: a leaked one must not keep the owner from revoking it.
const keysShare = 6

// allBounds are the limits of the request's minute.
func (c *Call) allBounds() []tables.Bound {
	most := c.Settings.Limits.WritesPerMinute
	if c.cred.kind == credBearer {
		most -= most / keysShare
	}
	return append([]tables.Bound{{Name: writesBound, Most: most}}, c.bounds...)
}

// boundName is a bound's name for the caller.
func boundName(b tables.Bound) string {
	if b.Name == writesBound {
		return "writes"
	}
	return b.Name
}

// rateHeaders answer how much is left of each limit, after so many more
// (draft-ietf-httpapi-ratelimit-headers).
func (c *Call) rateHeaders(more int64) {
	guard := c.items[tables.GuardKey(c.agent, c.minute())]
	reset := max(0, int(c.minute().Add(time.Minute).Sub(c.Time).Seconds()))
	var policy, left []string
	for _, b := range c.allBounds() {
		policy = append(policy, fmt.Sprintf("%q;q=%d;w=60", boundName(b), b.Most))
		left = append(left, fmt.Sprintf("%q;r=%d;t=%d", boundName(b), max(0, b.Most-guard.Int(b.Name)-more), reset))
	}
	c.header.Set("RateLimit-Policy", strings.Join(policy, ", "))
	c.header.Set("RateLimit", strings.Join(left, ", "))
}

// minute of the request's own timestamp if it is signed, of the server's clock otherwise.
func (c *Call) minute() time.Time {
	if c.cred.kind == credSig {
		return time.UnixMilli(c.cred.ts).Truncate(time.Minute)
	}
	return c.Time.Truncate(time.Minute)
}

// Commit makes the request's effect and its record one transaction. outcome, a
// pointer to what the endpoint's do returns, is what the answer of a repeated
// request will be made of: see [OnWrite]. Conditions of writes that do not hold
// come back as what the writes say of them ([tables.Write.Else]).
func (c *Call) Commit(ctx context.Context, outcome any, writes ...tables.Write) error {
	if c.Agent == nil {
		return errors.New("api: a commit without an agent")
	}
	record, err := encodeOutcome(c.e.status(), outcome)
	if err != nil {
		return fmt.Errorf("api: %s: %w", c.e.Route, err)
	}
	bounds := c.allBounds()
	own := []tables.Write{tables.Guard(c.agent, c.minute(), c.cred.digest, record, bounds...).Else(func(guard tables.Item) error {
		c.items[tables.GuardKey(c.agent, c.minute())] = guard
		c.rateHeaders(0)
		return c.judgeGuard(guard, bounds)
	})}
	if c.idemKey != "" {
		own = append(own, tables.Idempotency(c.agent, c.idemKey, auth.EncodeKey(c.digest[:]), record, c.Time).Else(c.judgeIdempotency))
	}
	if err := c.Transact(ctx, append(own, writes...)...); err != nil {
		return err
	}
	c.committed = true
	c.rateHeaders(1)
	return nil
}

// judgeGuard says what a guard stands against: a replay, or a limit.
func (c *Call) judgeGuard(guard tables.Item, bounds []tables.Bound) error {
	if o := guard.Str(c.cred.digest); c.cred.digest != "" && o != "" {
		c.replay = record(o)
		return errReplayed
	}
	for _, b := range bounds {
		if guard.Int(b.Name) >= b.Most {
			return c.limited(c.minute().Add(time.Minute), "%d %s a minute is the limit.", b.Most, boundName(b))
		}
	}
	return nil
}

// OverRate refuses what is over the quota of a window, until the next one begins.
func (c *Call) OverRate(window time.Duration, format string, args ...any) *Error {
	return c.limited(c.Window(window).Add(window), format, args...)
}

// OverQuota is OverRate as what it means that a quota is used up
// ([tables.Write.Else]).
func (c *Call) OverQuota(window time.Duration, format string, args ...any) func(tables.Item) error {
	return func(tables.Item) error { return c.OverRate(window, format, args...) }
}

// limited refuses for a rate.
func (c *Call) limited(at time.Time, format string, args ...any) *Error {
	return Fail(RateLimited, format, args...).At(at)
}

// Window is when the window of a quota that is now open began.
func (c *Call) Window(length time.Duration) time.Time { return c.Time.Truncate(length) }

// AddressHash stands for the caller's address in quotas: keyed, and another one every day.
func (c *Call) AddressHash(ctx context.Context) (string, error) {
	if c.addressHash != "" {
		return c.addressHash, nil
	}
	box, err := c.Box(ctx)
	if err != nil {
		return "", err
	}
	day := c.Time.UTC().Format(time.DateOnly)
	sum := sha256.Sum256(append(box.Derive(0, "address "+day), c.Address...))
	c.addressHash = auth.EncodeKey(sum[:16])
	return c.addressHash, nil
}
