package tables

import "time"

// Checkout is the payment processor's page for buying credits for an agent. The ledger
// says whether it was paid.
type Checkout struct {
	ID        string `db:"id"` // the processor's id of the checkout
	Agent     string `db:"agent"`
	URL       string `db:"url"` // of the page; kept for repeated requests
	USD       int64  `db:"usd"`
	CreatedAt int64  `db:"created_at"` // unix ms
	ExpiresAt int64  `db:"expires_at"` // unix ms
	State     string `db:"state"`      // CheckoutExpired or CheckoutFailed; "" if open or paid
	EndedAt   int64  `db:"ended_at"`   // unix ms
	TTL       int64  `db:"ttl"`        // unix seconds
}

// States of an unpaid checkout.
const (
	CheckoutExpired = "expired" // nobody paid in time
	CheckoutFailed  = "failed"  // a delayed payment did not arrive
)

// TypeCheckout is the item type of a checkout.
const TypeCheckout = "checkout"

// CheckoutKeep is the lifetime of a checkout's item. Any payment arrives or fails sooner.
const CheckoutKeep = 60 * 24 * time.Hour

// CheckoutKey is the key of a checkout.
func CheckoutKey(agent, checkout string) Key {
	return Key{LedgerPK(AgentAccount(agent)), "C#" + checkout}
}

// Put stores the checkout.
func (c *Checkout) Put() Write {
	c.TTL = time.UnixMilli(c.CreatedAt).Add(CheckoutKeep).Unix()
	return Put(keyed(CheckoutKey(c.Agent, c.ID), TypeCheckout, Marshal(c)), NoItem())
}

// EndCheckout records how a checkout ended, once.
func EndCheckout(agent, checkout, state string, at time.Time) Write {
	return Change(CheckoutKey(agent, checkout), SetAttr("state", state), SetAttr("ended_at", at.UnixMilli())).
		When(ItemExists(), Absent("state"))
}
