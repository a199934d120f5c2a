package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"agentsocial/tables"
)

// Reads are limited per minute, by agent or, without a proved credential, by
// address (product "Rate limits"). Refused and replayed writes count as reads,
// and so do writes without a credential; any other that has an effect has its
// own limit, in its own transaction.
//
// They are counted in the table by sampling, after the answer is made: a read of
// weight w with probability w/readSample, as readSample, and one that weighs more
// always, as what it weighs. (Were each counted as often as any other, and as
// readSample times its weight, a few heavy ones that were all met by chance would
// be the whole limit.) The weight is the endpoint's, or follows from what was read,
// if that is more.
// What an instance of a function could count by itself would be worth nothing;
// but that somebody is over the limit, once the table said so, it remembers
// until the minute ends, and refuses: without a credential before anything is
// read, else before the endpoint does its own work, writes included, or refused
// ones would cost without end. What was carried out before is answered all the
// same. A credential that is only claimed charges nobody but the address it came
// from: else anybody could use up another's limit. Of an address that sends too
// many, those are refused unread that this process did not see proved today.

const (
	readSample    = 16
	unitsPerRead  = 20 // of the table, which a weight of one stands for: a page of 100 posts
	payerPatience = 300 * time.Millisecond
)

// payer is whom a request counts against: "" if nobody.
func (c *Call) payer(ctx context.Context) string {
	if c.Table == nil || c.Settings.MaxReads <= 0 {
		return ""
	}
	if c.Agent != nil && c.Signed() {
		return c.Agent.ID
	}
	if c.Agent != nil { // apart: a leaked token must not use up the owner's reads
		return c.Agent.ID + "#tokens"
	}
	who := c.payingAddress(ctx)
	if who != "" && c.isForged() {
		return who + forged
	}
	return who
}

// forged credentials are counted apart: who shows none at the same address has
// nothing to do with them.
const forged = "#forged"

// isForged reports whether the credential was looked for, and is none; or was
// refused unread among such.
func (c *Call) isForged() bool {
	none := c.Agent == nil && c.cred.kind != credNone && c.fail != nil && (c.fail.Code == BadToken || c.fail.Code == UnknownKey)
	return none || c.unread
}

// payingAddress is the payer of what nobody proved; "" if nobody is.
func (c *Call) payingAddress(ctx context.Context) string {
	if c.Table == nil || c.Settings.MaxReads <= 0 || !c.Settings.ByAddr || c.Box == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, payerPatience) // a limit is no reason to wait for a secret
	defer cancel()
	who, err := c.AddressHash(ctx)
	if err != nil {
		c.Log.Warn("address not hashed", "error", err.Error())
	}
	return who
}

// overRead refuses who is known to be over the limit.
func (c *Call) overRead(ctx context.Context) error {
	who := c.payer(ctx)
	window := c.Time.Truncate(time.Minute)
	if who == "" || !c.over.has(who, window) {
		return nil
	}
	return c.limited(window.Add(time.Minute), "%d reads a minute are the limit; refused and repeated writes count as reads, catching up, searches and long answers as several.", c.Settings.MaxReads)
}

// overForged refuses a credential, before anything is read, from an address that
// is known to send too many that are none; but not one that this process saw
// proved today, for whose sake the others may be.
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
	return c.limited(window.Add(time.Minute), "%d requests a minute whose credential is none are the limit for an address.", c.Settings.MaxReads)
}

// charge counts a request that is answered. That it could not be counted is no
// reason to keep the answer back.
func (c *Call) charge(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil { // the answer is made; it must not be lost for this
			c.Log.Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	if c.relayed.Load() { // it was counted where it went
		return
	}
	c.markUsed(ctx)
	if c.isForged() {
		c.used.forget(tables.UsedKey(c.agent, c.credentialName())) // it was good once
	}
	free := c.e.Writes() && c.Agent != nil && c.replay == "" || c.e.Pure && c.e.Cost == 0 || c.e.Foreign.Proved
	if free && c.fail == nil {
		return
	}
	who := c.payer(ctx)
	window := c.Time.Truncate(time.Minute)
	if who == "" || c.over.has(who, window) {
		return
	}
	weight := max(1, c.e.Cost, int64(tables.UsageOf(ctx).ReadUnits())/unitsPerRead)
	if c.Intn(readSample) >= weight {
		return
	}
	weight = max(weight, readSample)
	// Chance must not refuse who stays below the limit: three deviations more.
	slack := int64(3 * readSample * math.Sqrt(float64(c.Settings.MaxReads)/readSample))
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

// overLimit remembers who is over the limit of the minute that is open.
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

// any reports whether anybody is over the limit.
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
