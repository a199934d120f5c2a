package stripe

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	stripe "github.com/stripe/stripe-go/v85"

	"agentsocial/shared/id"
	"agentsocial/shared/payments"
	"agentsocial/tables"
)

// Notice implements [payments.Processor]. The version of an event's form is
// that of the account's endpoint, not of this client; what is read here has
// been the same in all of them.
func (p *Processor) Notice(ctx context.Context, body []byte, signature string) (payments.Notice, error) {
	client, keys, err := p.client(ctx)
	if err != nil {
		return payments.Notice{}, err
	}
	e, err := verify(body, signature, keys.WebhookSecrets)
	if err != nil {
		return payments.Notice{}, err
	}
	n := &notice{Processor: p, client: client, at: time.Unix(e.Created, 0)}
	switch e.Type {
	case stripe.EventTypeCheckoutSessionCompleted, stripe.EventTypeCheckoutSessionAsyncPaymentSucceeded,
		stripe.EventTypeCheckoutSessionAsyncPaymentFailed, stripe.EventTypeCheckoutSessionExpired:
		err = n.ofSession(e)
	case stripe.EventTypeChargeRefunded, stripe.EventTypeRefundCreated, stripe.EventTypeRefundUpdated,
		stripe.EventTypeRefundFailed, stripe.EventTypeChargeRefundUpdated:
		err = n.ofRefunds(ctx, e)
	case stripe.EventTypeChargeDisputeCreated, stripe.EventTypeChargeDisputeFundsWithdrawn,
		stripe.EventTypeChargeDisputeFundsReinstated:
		err = n.ofDispute(ctx, e)
	}
	if err != nil {
		return payments.Notice{}, fmt.Errorf("stripe: event %s, %s: %w", e.ID, e.Type, err)
	}
	return n.Notice, nil
}

// verify holds the bytes against each of the live secrets. An event is good for
// five minutes from its signature, by the machine's time as Stripe's.
func verify(body []byte, signature string, secrets []string) (stripe.Event, error) {
	reason := error(stripe.ErrWebhookNotSigned)
	for _, secret := range secrets {
		e, err := stripe.ConstructEvent(body, signature, secret, stripe.WithIgnoreAPIVersionMismatch())
		if err == nil && e.Data != nil {
			return e, nil
		}
		if err != nil {
			reason = err
		}
	}
	return stripe.Event{}, fmt.Errorf("%w: %s", payments.ErrForged, reason)
}

// notice is one that is being read.
type notice struct {
	*Processor
	payments.Notice
	client *stripe.Client
	at     time.Time // when the event happened
}

// ours are the metadata's agent; "" if the payment is not this service's: an
// account tells each of its endpoints of everything that it sells.
func (n *notice) ours(meta map[string]string) string {
	if meta[metaService] != n.c.BaseURL || !id.Agent.Valid(meta[metaAgent]) {
		return ""
	}
	return meta[metaAgent]
}

func (n *notice) move(kind, agent string, cents int64, currency stripe.Currency, c payments.Cause, at time.Time) error {
	if currency != stripe.CurrencyUSD || cents <= 0 {
		return fmt.Errorf("%s is about %d of %q, and only US cents are sold", c.ID, cents, currency)
	}
	n.Movements = append(n.Movements, payments.Move(kind, agent, cents, c, at))
	return nil
}

// ofSession: a page's payment may take days to arrive, and is told of twice
// then; either way it is one purchase.
func (n *notice) ofSession(e stripe.Event) error {
	var s stripe.CheckoutSession
	if err := json.Unmarshal(e.Data.Raw, &s); err != nil {
		return err
	}
	agent := n.ours(s.Metadata)
	if agent == "" {
		return nil
	}
	switch {
	case e.Type == stripe.EventTypeCheckoutSessionExpired:
		n.Notice.Checkout = &payments.Ended{Agent: agent, Checkout: s.ID, State: tables.CheckoutExpired}
	case e.Type == stripe.EventTypeCheckoutSessionAsyncPaymentFailed:
		n.Notice.Checkout = &payments.Ended{Agent: agent, Checkout: s.ID, State: tables.CheckoutFailed}
	case s.PaymentStatus == stripe.CheckoutSessionPaymentStatusPaid:
		return n.move(tables.Bought, agent, s.AmountTotal, s.Currency, payments.Cause{ID: s.ID, At: time.Unix(s.Created, 0)}, n.at)
	}
	return nil
}

// ofRefunds: whichever event tells of one, all refunds of the payment are taken
// up as they stand. A charge tells only what they come to together, which would
// count an earlier one twice.
func (n *notice) ofRefunds(ctx context.Context, e stripe.Event) error {
	var about struct {
		PaymentIntent *stripe.PaymentIntent `json:"payment_intent"`
	}
	if err := json.Unmarshal(e.Data.Raw, &about); err != nil {
		return err
	}
	agent, err := n.payer(ctx, about.PaymentIntent)
	if err != nil || agent == "" {
		return err
	}
	params := &stripe.RefundListParams{PaymentIntent: stripe.String(about.PaymentIntent.ID)}
	params.Limit = stripe.Int64(100)
	for r, err := range n.client.V1Refunds.List(ctx, params).All(ctx) {
		if err != nil {
			return failure(err)
		}
		cause := payments.Cause{ID: r.ID, At: time.Unix(r.Created, 0)}
		if err := n.move(tables.Refunded, agent, r.Amount, r.Currency, cause, cause.At); err != nil {
			return err
		}
		if r.Status == stripe.RefundStatusFailed || r.Status == stripe.RefundStatusCanceled {
			if err := n.move(tables.Unrefunded, agent, r.Amount, r.Currency, cause, n.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofDispute: what is given back was taken before, even if that is not known
// yet. An inquiry (warning_…) takes nothing.
func (n *notice) ofDispute(ctx context.Context, e stripe.Event) error {
	var d stripe.Dispute
	if err := json.Unmarshal(e.Data.Raw, &d); err != nil {
		return err
	}
	if e.Type == stripe.EventTypeChargeDisputeCreated && strings.HasPrefix(string(d.Status), "warning_") {
		return nil
	}
	agent, err := n.payer(ctx, d.PaymentIntent)
	if err != nil || agent == "" {
		return err
	}
	cause := payments.Cause{ID: d.ID, At: time.Unix(d.Created, 0)}
	if err := n.move(tables.Disputed, agent, d.Amount, d.Currency, cause, cause.At); err != nil {
		return err
	}
	if e.Type == stripe.EventTypeChargeDisputeFundsReinstated {
		return n.move(tables.Reinstated, agent, d.Amount, d.Currency, cause, n.at)
	}
	return nil
}

// payer is the agent that a payment was for; "" if it is not this service's.
func (n *notice) payer(ctx context.Context, payment *stripe.PaymentIntent) (string, error) {
	if payment == nil || payment.ID == "" { // of a charge that no page of ours made
		return "", nil
	}
	pi, err := n.client.V1PaymentIntents.Retrieve(ctx, payment.ID, nil)
	if err != nil {
		return "", failure(err)
	}
	return n.ours(pi.Metadata), nil
}
