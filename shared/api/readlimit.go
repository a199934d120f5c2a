package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// Reads are limited per minute, by agent or, without a proved credential, by address. Some
// writes count as reads: repeated ones, those refused as [RateLimited] or [Busy], those
// that failed, and those without a credential.
//
// Reads are counted in the table by sampling. A read of weight w < readSample is counted
// with probability w/readSample, as readSample. A heavier one is always counted, as w:
// sampling a few such reads could use up the limit by chance.
//
// Each process remembers the callers that are over the limit, and refuses their requests
// until the minute ends. An unproved credential counts against its address only: otherwise
// anybody could use up another agent's limit. If an address sends too many invalid
// credentials, the process refuses all credentials from there unread, except those that it
// saw proved today.

const (
	readSample    = 16
	unitsPerRead  = 20 // table units that count as one read: a page of 100 posts
	payerPatience = 300 * time.Millisecond
)

// payer returns whom a request counts against, or "" for nobody.
func (c *Call) payer(ctx context.Context) string {
	if c.Table == nil || c.Settings.MaxReads <= 0 {
		return ""
	}
	if c.Agent != nil && c.Signed() {
		return c.Agent.ID
	}
	if c.Agent != nil { // a leaked token must not use up the signed reads
		return c.Agent.ID + "#tokens"
	}
	who := c.payingAddress(ctx)
	if who != "" && c.isForged() {
		return who + forged
	}
	return who
}

// forged marks the separate count of an address's invalid credentials. That count does not
// affect callers without a credential.
const forged = "#forged"

func (c *Call) isForged() bool {
	none := c.Agent == nil && c.cred.kind != credNone && c.fail != nil && (c.fail.Code == BadToken || c.fail.Code == UnknownKey)
	return none || c.unread
}

func (c *Call) payingAddress(ctx context.Context) string {
	if c.Table == nil || c.Settings.MaxReads <= 0 || !c.Settings.ByAddr || c.Box == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, payerPatience) // for the hash's key
	defer cancel()
	who, err := c.AddressHash(ctx)
	if err != nil {
		c.Log.Warn("address not hashed", "error", err.Error())
	}
	return who
}

func (c *Call) overRead(ctx context.Context) error {
	who := c.payer(ctx)
	window := c.Time.Truncate(time.Minute)
	if who == "" || !c.over.has(who, window) {
		return nil
	}
	return c.limited(window.Add(time.Minute), "The limit is %d reads a minute. Repeated writes, writes refused with `busy` or by a limit, and writes without a credential count as reads. Catchup, searches, best lists and long answers count as several reads.", c.Settings.MaxReads)
}

// overForged refuses a credential unread if its address is known to send too many invalid
// ones.
func (c *Call) overForged(ctx context.Context) error {
	window := c.Time.Truncate(time.Minute)
	if !c.over.any(window) {
		return nil
	}
	agent := c.agent
	if agent == "" {
		agent, _ = c.keys.get(c.cred.pub)
	}
	if c.used.has(tables.UsedKey(agent, c.credentialName())) {
		return nil
	}
	who := c.payingAddress(ctx)
	if who == "" || !c.over.has(who+forged, window) {
		return nil
	}
	c.unread = true
	return c.limited(window.Add(time.Minute), "The limit for a network address is %d requests a minute with an invalid credential.", c.Settings.MaxReads)
}

// charge counts an answered request. Failures are only logged.
func (c *Call) charge(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil { // the answer must not be lost
			c.Log.Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	if c.relayed.Load() { // counted by the endpoint that answered
		return
	}
	ctx = retry.Never(ctx) // the answer waits for these writes
	c.markUsed(ctx)
	if c.isForged() {
		c.used.forget(tables.UsedKey(c.agent, c.credentialName())) // it may have been valid earlier today
	}
	if c.isRefusedWrite() {
		c.chargeWrite(ctx)
		return
	}
	free := c.e.Writes() && c.Agent != nil && c.replay == "" || c.e.Pure && c.e.Cost == 0 || c.e.Foreign.Proved
	if free && c.fail == nil {
		return
	}
	used := tables.UsageOf(ctx)
	if c.fail != nil && errors.Is(c.fail, tables.ErrThrottled) && used.ReadUnits() == 0 && used.WriteUnits() == 0 {
		return // the table would throttle the count too
	}
	who := c.payer(ctx)
	window := c.Time.Truncate(time.Minute)
	if who == "" || c.over.has(who, window) {
		return
	}
	weight := max(1, c.e.Cost, int64(used.ReadUnits())/unitsPerRead)
	if c.Intn(readSample) >= weight {
		return
	}
	weight = max(weight, readSample)
	// Three standard deviations more: sampling must not refuse a caller below the limit.
	slack := int64(3 * readSample * math.Sqrt(float64(c.Settings.MaxReads)/readSample))
	ctx = tables.Losable(ctx)
	err := c.Table.Commit(ctx, tables.Tx{Writes: []tables.Write{
		tables.Quota(who, "reads", window, time.Minute, weight, c.Settings.MaxReads+slack),
	}})
	var full *tables.Cancelled
	if errors.As(err, &full) {
		c.over.add(who, window)
	} else if err != nil {
		c.Log.Warn("read not counted", "error", err.Error())
	}
}

// isRefusedWrite reports whether an agent's write was refused for another reason than
// [RateLimited], [Busy] or a failure of the service. A write refused as [RateLimited] counts
// as a read, so that the read limit ends a flood of them.
func (c *Call) isRefusedWrite() bool {
	if !c.e.Writes() || c.Agent == nil || c.replay != "" || c.committed || c.fail == nil {
		return false
	}
	return c.fail.Code != RateLimited && c.fail.Code != Busy && c.fail.Status() < http.StatusInternalServerError
}

// chargeWrite counts a refused write against the write limit of its minute.
func (c *Call) chargeWrite(ctx context.Context) {
	key, all := tables.GuardKey(c.agent, c.minute()), c.allBounds()[0]
	err := c.Table.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.Guard(c.agent, c.minute(), c.Now(), "", "", all)}})
	if err != nil && !errors.As(err, new(*tables.Cancelled)) { // cancelled: the minute is full
		c.Log.Warn("refused write not counted", "error", err.Error())
		return
	}
	guard := tables.Item{}
	maps.Copy(guard, c.items[key])
	guard[all.Name] = guard.Int(all.Name) + 1
	c.items[key] = guard
	c.rateHeaders(0)
}

// overLimit remembers the payers that are over the limit of the newest minute.
type overLimit struct {
	mu     sync.Mutex
	window time.Time
	who    map[string]bool
}

const overLimitSize = 1 << 14

func (o *overLimit) has(who string, window time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.window.Equal(window) && o.who[who]
}

// any reports whether any payer is over the limit of the window's minute.
func (o *overLimit) any(window time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.window.Equal(window) && len(o.who) > 0
}

func (o *overLimit) add(who string, window time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if window.After(o.window) {
		o.window, o.who = window, map[string]bool{}
	}
	if window.Equal(o.window) && len(o.who) < overLimitSize {
		o.who[who] = true
	}
}
