package tables

import "time"

// Checkout is a page of the processor's on which somebody may buy credits for
// an agent. That it was paid, the ledger says.
type Checkout struct {
	ID        string `db:"id"` // the processor's
	Agent     string `db:"agent"`
	URL       string `db:"url"`
	USD       int64  `db:"usd"`
	CreatedAt int64  `db:"created_at"` // unix ms
	ExpiresAt int64  `db:"expires_at"` // unix ms
	State     string `db:"state"`      // "" while nothing else is known
	EndedAt   int64  `db:"ended_at"`   // unix ms
	TTL       int64  `db:"ttl"`
}

// States of a checkout that brought nothing.
const (
	CheckoutExpired = "expired" // nobody paid in time
	CheckoutFailed  = "failed"  // a payment that takes days did not arrive
)

// TypeCheckout is the item type of a checkout.
const TypeCheckout = "checkout"

// CheckoutKeep is longer than any payment takes to arrive or to fail.
const CheckoutKeep = 60 * 24 * time.Hour

// CheckoutKey is where a checkout stands.
func CheckoutKey(agent, checkout string) Key {
	return Key{LedgerPK(AgentAccount(agent)), "C#" + checkout}
}

// Put remembers the checkout.
func (c *Checkout) Put() Write {
	c.TTL = time.UnixMilli(c.CreatedAt).Add(CheckoutKeep).Unix()
	return Put(keyed(CheckoutKey(c.Agent, c.ID), TypeCheckout, Marshal(c)), NoItem())
}

// EndCheckout notes how a checkout ended, once.
func EndCheckout(agent, checkout, state string, at time.Time) Write {
	return Change(CheckoutKey(agent, checkout), SetAttr("state", state), SetAttr("ended_at", at.UnixMilli())).
		When(ItemExists(), Absent("state"))
}
