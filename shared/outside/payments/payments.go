// Package payments is what the service asks of the payment processor, and what
// it hears from it. Only shared/outside/payments/stripe speaks to it, so that no function
// links its client that does not sell anything; its name stands besides where
// its keys are read (shared/lambda/host/payments) and where its signature arrives
// (functions/credits/notice.go).
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
	// concern to this service makes a Notice without an Agent.
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
	Key           string // names the order: at most 255 characters
}

// Page is where an order is paid.
type Page struct {
	ID, URL   string
	ExpiresAt time.Time
}

// Notice is what a notification says. An agent's movements follow one another:
// each is made once, however often it is told of.
type Notice struct {
	ID, Type  string // of the notification, as the processor names them
	Agent     string // whom it concerns; "" if nobody here
	Movements []*tables.Movement
	Ended     *Ended   // of a checkout that brought nothing
	Foreign   *Foreign // if it concerns nobody here, though a service like this one sold it
	Unclear   string   // why somebody has to look, if it cannot be written down, now or later
}

// Ended is a checkout that came to its end unpaid.
type Ended struct {
	Checkout string
	State    string // tables.CheckoutExpired or CheckoutFailed
}

// Foreign is whose a payment is that is not this service's: another stage's that
// shares the account, or, if something is wrong, one of this stage's own.
type Foreign struct{ Stage, Agent string }

// MicroUSDPerCent is how the processor's amounts become the ledger's.
const MicroUSDPerCent = 10_000

// Cause is what the processor names a movement's reason by.
type Cause struct {
	What, ID string    // the member of the movement's subject that names it
	At       time.Time // as it was made
	Checkout string    // what was paid, if the cause is something else; "" if that is not known
}

// What causes movements.
const (
	Checkout = "checkout"
	Refund   = "refund"
	Dispute  = "dispute"
)

// Move is a movement between the processor and an agent, which way its kind
// says; at is when it happened, as far as that is known.
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

// None is the processor of a service that was given no keys of one.
type None struct{}

func (None) Checkout(context.Context, Order) (Page, error) { return Page{}, ErrNone }

func (None) Notice(context.Context, []byte, string) (Notice, error) { return Notice{}, ErrNone }
