// Package payments defines what the service asks of the payment processor, and what the
// processor's notifications say. Only package stripe calls the processor, so that
// functions that sell nothing do not link its client.
package payments

import (
	"context"
	"errors"
	"time"

	"agentsocial/tables"
)

// Processor takes money in for the service. Its methods fail with ErrNone if there is no
// processor. Errors other than ErrNone and ErrForged may be temporary.
type Processor interface {
	// Checkout makes a page on which an order can be paid. Equal orders get the same page.
	Checkout(ctx context.Context, o Order) (Page, error)
	// Expire closes a page, so that it cannot be paid any more. It does nothing if the
	// page is closed or paid.
	Expire(ctx context.Context, checkout string) error
	// Notice reads a notification from its exact bytes and its signature header. It fails
	// with ErrForged if the processor did not send the notification. After any other
	// error, the processor should send it again. The Notice has no Agent if the
	// notification does not concern this service.
	Notice(ctx context.Context, body []byte, signature string) (Notice, error)
}

// Errors of a processor.
var (
	ErrNone   = errors.New("payments: this service has no keys for a payment processor")
	ErrForged = errors.New("payments: the notification is not signed by the processor")
)

// Order describes the credits to be paid for.
type Order struct {
	Agent, Handle string // who gets the credits
	USD           int64
	Key           string // names the order: at most 255 characters
}

// Page is a page on which an order can be paid.
type Page struct {
	ID, URL   string
	ExpiresAt time.Time
}

// Notice is the content of a notification. The same notification may arrive more than
// once, but each movement is made once.
type Notice struct {
	ID, Type  string // of the notification, as the processor names them
	Agent     string // the agent it concerns; "" if none of this service
	Movements []*tables.Movement
	Ended     *Ended   // set if a checkout ended unpaid
	Foreign   *Foreign // set if the payment belongs to a similar service
	Unclear   string   // why an operator has to decide about it; "" if nobody has to
}

// Ended is a checkout that ended unpaid.
type Ended struct {
	Checkout string
	State    string // tables.CheckoutExpired or CheckoutFailed
}

// Foreign holds the stage and agent that another service's payment names. Usually the
// service is another stage that shares the account. If Stage is this one, something is
// wrong.
type Foreign struct{ Stage, Agent string }

// MicroUSDPerCent converts the processor's amounts to the ledger's.
const MicroUSDPerCent = 10_000

// Cause describes what caused a movement, as the processor names it.
type Cause struct {
	What, ID string    // its kind and id: a key and its value in the movement's Subject
	At       time.Time // when the cause was made
	Checkout string    // the checkout that a refund or a dispute belongs to; "" if unknown
}

// Values of [Cause.What].
const (
	Checkout = "checkout"
	Refund   = "refund"
	Dispute  = "dispute"
)

// Move returns a movement between the processor and an agent. Its kind gives
// the direction; at is when it happened, as far as known.
func Move(kind, agent string, cents int64, c Cause, at time.Time) *tables.Movement {
	m := &tables.Movement{
		ID: tables.MovementID(c.At, kind, c.ID), At: at.UnixMilli(), Kind: kind, MicroUSD: cents * MicroUSDPerCent,
		From: tables.Processor, To: tables.AgentAccount(agent), Subject: tables.Map{c.What: c.ID},
	}
	if c.Checkout != "" {
		m.Subject[Checkout] = c.Checkout
	}
	if kind == tables.Refunded || kind == tables.Disputed {
		m.From, m.To = m.To, m.From
	}
	return m
}

// None is the processor of a deployment without keys.
type None struct{}

func (None) Checkout(context.Context, Order) (Page, error) { return Page{}, ErrNone }

func (None) Expire(context.Context, string) error { return ErrNone }

func (None) Notice(context.Context, []byte, string) (Notice, error) { return Notice{}, ErrNone }
