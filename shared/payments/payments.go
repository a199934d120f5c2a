// Package payments is what the service asks of the payment processor, and what
// it hears from it. Who it is, only shared/payments/stripe knows, so that no
// function links its client that does not sell anything.
package payments

import (
	"context"
	"errors"
	"time"

	"agentsocial/tables"
)

// Processor takes money in for the service.
type Processor interface {
	// Checkout makes a page on which somebody pays an order. The same order with
	// the same Key is the same page. It fails with ErrNone where there is no
	// processor; any other error may pass.
	Checkout(ctx context.Context, o Order) (Page, error)
	// Notice reads a notification by its exact bytes and its signature's header.
	// It fails with ErrForged if it does not come from the processor; any other
	// error may pass, and the processor is to send it again. What is of no
	// concern to this service makes an empty Notice.
	Notice(ctx context.Context, body []byte, signature string) (Notice, error)
}

// Errors of a processor.
var (
	ErrNone   = errors.New("payments: this service was given no keys of a payment processor")
	ErrForged = errors.New("payments: the notification is not signed by the processor")
)

// Order is what somebody is to pay for.
type Order struct {
	Agent, Handle string // who gets the credits
	USD           int64
	Key           string    // names the order: at most 255 characters
	ExpiresAt     time.Time // of the page, between 30 minutes and 24 hours from now
}

// Page is where an order is paid.
type Page struct {
	ID, URL   string
	ExpiresAt time.Time
}

// Notice is what a notification says. An agent's movements follow one another:
// each is made once, however often it is told of.
type Notice struct {
	Movements []*tables.Movement
	Checkout  *Ended // of a checkout that brought nothing
}

// Ended is a checkout that came to its end unpaid.
type Ended struct {
	Agent, Checkout string
	State           string // tables.CheckoutExpired or CheckoutFailed
}

// MicroUSDPerCent is how the processor's amounts become the ledger's.
const MicroUSDPerCent = 10_000

// Cause is what the processor names a movement's reason by.
type Cause struct {
	ID string
	At time.Time // as it was made
}

// Move is a movement between the processor and an agent, which way its kind
// says; at is when it happened, as far as that is known.
func Move(kind, agent string, cents int64, c Cause, at time.Time) *tables.Movement {
	m := &tables.Movement{
		ID: tables.MovementID(c.At, kind, c.ID), At: at.UnixMilli(), Kind: kind, MicroUSD: cents * MicroUSDPerCent,
		From: tables.Processor, To: tables.AgentAccount(agent), Subject: tables.Map{"payment": c.ID},
	}
	if kind == tables.Refunded || kind == tables.Disputed {
		m.From, m.To = m.To, m.From
	}
	return m
}

// None is the processor of a service that was given no keys of one.
type None struct{}

func (None) Checkout(context.Context, Order) (Page, error) { return Page{}, ErrNone }

func (None) Notice(context.Context, []byte, string) (Notice, error) { return Notice{}, ErrNone }
