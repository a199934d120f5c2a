package api

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

// Request names the request: sent again, the same bytes have the same name, and
// so has whatever is sent under one Idempotency-Key. "" if nothing tells it from
// a second wish (a token without Idempotency-Key).
func (c *Call) Request() string {
	if c.idemKey != "" {
		return "i:" + c.idemKey
	}
	return c.cred.digest
}

// Claim holds that the request is not being carried out already. It is for what
// cannot be undone and so comes before the Commit: of a request that is sent
// twice at once, one goes on and the other is [Busy]. release takes it back, so
// that the same bytes may be tried again; of a process that died before it could,
// they are [Busy] for [tables.ClaimFor], and carried out then: what was begun is
// begun once more, and what was committed is answered from its record before any
// claim. Both are empty if the request has no name of its own ([Call.Request]).
func (c *Call) Claim() (hold, release []tables.Write) {
	name := c.Request()
	if name == "" {
		return nil, nil
	}
	busy := func(tables.Item) error { return Fail(Busy, "The same request is being carried out.") }
	return []tables.Write{tables.ClaimRequest(c.agent, name, c.Time).Else(busy)}, []tables.Write{tables.Delete(tables.RequestKey(c.agent, name))}
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

// idempotencyKeyMost is how many characters an Idempotency-Key has.
const idempotencyKeyMost = 64

// errReplayed ends a handler whose commit found that the same request had been
// carried out already; the caller never sees it.
var errReplayed = errors.New("api: carried out before")

// lookAgain reads the records of what was carried out once more, for a request
// that is about to be refused for a reason which its own effect may be.
func (c *Call) lookAgain(ctx context.Context, refusal error) {
	var e *Error
	if errors.As(refusal, &e) && (e.Code == Invalid || e.Code == RateLimited) || c.cred.digest == "" && c.idemKey == "" {
		return
	}
	keys := []tables.Key{tables.GuardKey(c.agent, c.minute())}
	if c.idemKey != "" {
		keys = append(keys, tables.IdempotencyKey(c.agent, c.idemKey))
	}
	if err := c.read(ctx, keys); err != nil {
		c.Log.Warn("records not looked at again", "error", err.Error())
		return
	}
	_ = c.judgeReplay() // what it finds stands in c.replay
	if c.replay == "" {
		return // the refusal stands
	}
	// What waits for the agent is other than it was before the effect.
	err := c.read(ctx, []tables.Key{tables.CountersKey(c.agent), tables.MessagingKey(c.agent)})
	if err == nil {
		err = tables.Unmarshal(c.items[tables.CountersKey(c.agent)], &c.Counts)
	}
	if err != nil {
		c.Log.Warn("counters not looked at again", "error", err.Error())
	}
}

// judgeReplay says whether what was read holds this request's outcome.
func (c *Call) judgeReplay() error {
	if err := c.judgeGuard(c.items[tables.GuardKey(c.agent, c.minute())], nil); err != nil {
		return err
	}
	item := c.items[tables.IdempotencyKey(c.agent, c.idemKey)]
	if c.idemKey == "" || item == nil || item.Int("expires_at") <= c.Time.UnixMilli() {
		return nil
	}
	return c.judgeIdempotency(item)
}

// judgeIdempotency tells a repeated request from another one under its key.
func (c *Call) judgeIdempotency(item tables.Item) error {
	if item.Str("digest") != auth.EncodeKey(c.digest[:]) {
		return BadField("Idempotency-Key", "was used for another request (another method, path or body) within the last 24 hours")
	}
	c.replay = record(item.Str("outcome"))
	return errReplayed
}
