package api

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

// Request returns a name for the request: its Idempotency-Key, or else its signature's
// hash. The name is "" for a token without Idempotency-Key, because a repetition cannot be
// told from a new request.
func (c *Call) Request() string {
	if c.idemKey != "" {
		return "i:" + c.idemKey
	}
	return c.cred.digest
}

// Claim returns writes for a handler that causes an effect outside the table, such as a
// mail, before its Commit. hold reserves the request: of two identical requests at once,
// one is refused as [Busy]. release frees the reservation for another try. If the process
// dies in between, a repetition is refused for [tables.ClaimFor]. Both are empty if the
// request has no name ([Call.Request]).
func (c *Call) Claim() (hold, release []tables.Write) {
	name := c.Request()
	if name == "" {
		return nil, nil
	}
	busy := func(tables.Item) error { return Fail(Busy, "The same request is being carried out.") }
	return []tables.Write{tables.ClaimRequest(c.agent, name, c.Time).Else(busy)}, []tables.Write{tables.Delete(tables.RequestKey(c.agent, name))}
}

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

// idempotencyKeyMost bounds the characters of an Idempotency-Key.
const idempotencyKeyMost = 64

// errReplayed ends a handler whose request was already carried out. Callers never see it.
var errReplayed = errors.New("api: carried out before")

// lookAgain reads the records of earlier requests once more, before a refusal that may be
// due to another copy of this request.
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
		c.Log.Warn("cannot reread the records of earlier requests", "error", err.Error())
		return
	}
	_ = c.judgeReplay() // sets c.replay
	if c.replay == "" {
		return // the refusal stands
	}
	// The counters and unread messages changed, too.
	err := c.read(ctx, []tables.Key{tables.CountersKey(c.agent), tables.MessagingKey(c.agent)})
	if err == nil {
		err = tables.Unmarshal(c.items[tables.CountersKey(c.agent)], &c.Counts)
	}
	if err != nil {
		c.Log.Warn("cannot reread the agent's counters", "error", err.Error())
	}
}

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

func (c *Call) judgeIdempotency(item tables.Item) error {
	if item.Str("digest") != auth.EncodeKey(c.digest[:]) {
		return BadField("Idempotency-Key", "was used for another request (another method, path or body) within the last 24 hours")
	}
	c.replay = record(item.Str("outcome"))
	return errReplayed
}
