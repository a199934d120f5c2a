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

// Call is one request: its caller, what was read for it, and its outcome. Handlers get it
// with [From].
type Call struct {
	*app.App
	Time        time.Time       // of arrival, by the service's clock
	Agent       *tables.Profile // the caller; nil unless its credential is valid
	Counts      tables.Counters // of the caller; fetched only for writes
	Address     string          // the caller's network address: an IPv4, or an IPv6 /64
	Head        bool            // a HEAD request: the answer is sent without its body
	items       map[tables.Key]tables.Item
	addressHash string // set on first use
	cred        credential
	token       *tables.Token // nil if the request is signed
	grant       *tables.Grant // the connection of the token, if any
	agent       string        // the caller's id; "" until it is known
	cached      bool          // agent comes from Server.keys
	unread      bool          // refused by overForged before the credential was read
	replay      record        // the recorded outcome, if the request was already carried out
	committed   bool          // the effect is written
	bounds      []tables.Bound
	over        *overLimit
	used        *usedToday
	e           *Endpoint
	tool        string           // the MCP tool that was called; "" if none
	tools       map[string]*Tool // all tools, if one was called
	made        string           // see [Call.Made]
	relayed     atomic.Bool      // another server's endpoint answered: see [Call.Invoke]
	secret      atomic.Bool      // a Secret endpoint of another server was called
	header      http.Header
	digest      [32]byte // of method, path, query and body, for requests with an Idempotency-Key
	idemKey     string
	fail        *Error
	keys        *owners
	handles     *owners
	writers     *writers
	crowded     []tables.Key // see [CrowdReader]
}

type callKey struct{}

// From returns the call in a handler's context.
func From(ctx context.Context) *Call { return ctx.Value(callKey{}).(*Call) }

// Made names the metric that counts what the request created.
func (c *Call) Made(metric string) { c.made = metric }

// Item returns an item that the input's Reads named, or nil if it does not exist.
func (c *Call) Item(k tables.Key) tables.Item { return c.items[k] }

// Unread returns the number of the caller's unread messages. In a read, it works only if
// the input's Reads include [tables.MessagingKey].
func (c *Call) Unread() int64 { return c.items[tables.MessagingKey(c.agent)].Int("unread") }

// Signed reports whether the caller signed the request, rather than sent a token.
func (c *Call) Signed() bool { return c.cred.kind == credSig }

// Key returns the base64url public key that the caller signed with, or "" for a token.
func (c *Call) Key() string { return c.cred.pub }

// Token returns the caller's bearer token, or nil if the request is signed.
func (c *Call) Token() *tables.Token { return c.token }

// Grant returns the connection of the caller's token, or nil if the token has none.
func (c *Call) Grant() *tables.Grant { return c.grant }

// CredentialStands returns a check that the caller's credential, or its connection, still
// exists when a transaction commits. Without the check, a revoked credential could mint
// another one. If the check fails, the error is [Call.CredentialGone].
func (c *Call) CredentialStands() tables.Write {
	key := c.credentialKey()
	if c.grant != nil { // the connection outlives the token
		key = tables.GrantKey(c.agent, c.grant.ID)
	}
	return tables.Check(key, tables.Equal("epoch", c.Agent.Epoch)).Else(func(tables.Item) error { return c.CredentialGone() })
}

// CredentialGone returns the refusal of a credential that no longer exists.
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

// SetHeader sets a header of the response.
func (c *Call) SetHeader(name, value string) { c.header.Set(name, value) }

// Bound adds a limit per minute to the next Commit. It refuses the request at once if the
// limit is already reached.
func (c *Call) Bound(name string, most int64) error {
	c.bounds = append(c.bounds, tables.Bound{Name: name, Most: most})
	c.rateHeaders(0)
	return c.judgeGuard(c.items[tables.GuardKey(c.agent, c.minute())], c.bounds)
}

// writesBound is the name of the limit on all writes.
const writesBound = "n"

// keysShare reserves one in six of an agent's writes for signed requests: a leaked token
// must not keep the owner from revoking it.
const keysShare = 6

func (c *Call) allBounds() []tables.Bound {
	most := c.Settings.Limits.WritesPerMinute
	if c.cred.kind == credBearer {
		most -= most / keysShare
	}
	return append([]tables.Bound{{Name: writesBound, Most: most}}, c.bounds...)
}

func boundName(b tables.Bound) string {
	if b.Name == writesBound {
		return "writes"
	}
	return b.Name
}

// rateHeaders sets the headers that tell how much of each limit is left
// (draft-ietf-httpapi-ratelimit-headers). The parameter more is the number of writes that
// the guard does not count yet.
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

// minute returns the minute whose limits apply: that of the signature's timestamp, or else
// of the server's clock.
func (c *Call) minute() time.Time {
	if c.cred.kind == credSig {
		return time.UnixMilli(c.cred.ts).Truncate(time.Minute)
	}
	return c.Time.Truncate(time.Minute)
}

// Commit writes the request's effect and the record of its outcome in one transaction.
// outcome is what do returns ([OnWrite]). If a write's condition fails, Commit returns that
// write's error ([tables.Write.Else]).
func (c *Call) Commit(ctx context.Context, outcome any, writes ...tables.Write) error {
	if c.Agent == nil {
		return errors.New("api: a commit without an agent")
	}
	record, err := encodeOutcome(c.e.status(), outcome)
	if err != nil {
		return fmt.Errorf("api: %s: %w", c.e.Route, err)
	}
	bounds := c.allBounds()
	own := []tables.Write{tables.Guard(c.agent, c.minute(), c.Now(), c.cred.digest, record, bounds...).Else(func(guard tables.Item) error {
		c.items[tables.GuardKey(c.agent, c.minute())] = guard
		c.rateHeaders(0)
		return c.judgeGuard(guard, bounds)
	})}
	if c.idemKey != "" {
		own = append(own, tables.Idempotency(c.agent, c.idemKey, auth.EncodeKey(c.digest[:]), record, c.Time).Else(c.judgeIdempotency))
	}
	err = c.Transact(ctx, append(own, writes...)...)
	c.writers.add(c.agent, c.Now()) // even after an error: the writes may have been committed
	if err != nil {
		return err
	}
	c.committed = true
	c.rateHeaders(1)
	return nil
}

// judgeGuard refuses a replay, and a request over a limit.
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

// OverRate refuses a request over a window's quota, until the next window begins.
func (c *Call) OverRate(window time.Duration, format string, args ...any) *Error {
	return c.limited(c.Window(window).Add(window), format, args...)
}

// OverQuota returns [Call.OverRate] as an argument for [tables.Write.Else].
func (c *Call) OverQuota(window time.Duration, format string, args ...any) func(tables.Item) error {
	return func(tables.Item) error { return c.OverRate(window, format, args...) }
}

func (c *Call) limited(at time.Time, format string, args ...any) *Error {
	return Fail(RateLimited, format, args...).At(at)
}

// Window returns the start of the current quota window.
func (c *Call) Window(length time.Duration) time.Time { return c.Time.Truncate(length) }

// AddressHash returns a keyed hash of the caller's address, for quotas. It changes daily.
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
