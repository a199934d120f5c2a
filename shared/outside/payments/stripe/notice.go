package stripe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	stripe "github.com/stripe/stripe-go/v85"

	"agentsocial/shared/outside/payments"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Notice implements [payments.Processor]. An event has the API version of the account's
// webhook endpoint, not of this client. The fields read here are the same in all versions.
func (p *Processor) Notice(ctx context.Context, body []byte, signature string) (payments.Notice, error) {
	var read payments.Notice
	err := p.ask(ctx, func(ctx context.Context, keys Keys) error {
		e, err := verify(body, signature, keys.WebhookSecrets)
		if err != nil {
			return err
		}
		n := &notice{Processor: p, client: stripe.NewClient(keys.SecretKey, stripe.WithBackends(p.backend)), at: time.Unix(e.Created, 0), Notice: payments.Notice{ID: e.ID, Type: string(e.Type)}}
		if err := n.of(ctx, e); err != nil {
			return fmt.Errorf("stripe: event %s, %s: %w", e.ID, e.Type, err)
		}
		read = n.Notice
		return nil
	})
	return read, err
}

func (n *notice) of(ctx context.Context, e stripe.Event) error {
	switch e.Type {
	case stripe.EventTypeCheckoutSessionCompleted, stripe.EventTypeCheckoutSessionAsyncPaymentSucceeded,
		stripe.EventTypeCheckoutSessionAsyncPaymentFailed, stripe.EventTypeCheckoutSessionExpired:
		return n.ofSession(e)
	case stripe.EventTypeChargeRefunded, stripe.EventTypeRefundCreated, stripe.EventTypeRefundUpdated,
		stripe.EventTypeRefundFailed, stripe.EventTypeChargeRefundUpdated:
		return n.ofRefunds(ctx, e)
	case stripe.EventTypeChargeDisputeCreated, stripe.EventTypeChargeDisputeFundsWithdrawn,
		stripe.EventTypeChargeDisputeFundsReinstated:
		return n.ofDispute(ctx, e)
	}
	return nil
}

// verify checks the signature against each live secret. An event is accepted
// for five minutes after its signature, by the machine's clock.
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

// notice is a notification being read.
type notice struct {
	*Processor
	payments.Notice
	client *stripe.Client
	at     time.Time // when the event happened
}

// ours reports whether the metadata belong to a payment of this service. It sets Agent if
// they do, and Foreign if they name anything else. Stripe notifies every endpoint of an account about every payment.
func (n *notice) ours(meta map[string]string) bool {
	stage, agent := meta[metaStage], meta[metaAgent]
	switch {
	case stage == n.c.Stage && id.Agent.Valid(agent):
		n.Agent = agent
	case stage != "" || agent != "":
		n.Foreign = &payments.Foreign{Stage: stage, Agent: agent}
	}
	return n.Agent != ""
}

func (n *notice) move(kind string, cents int64, currency stripe.Currency, c payments.Cause, at time.Time) error {
	if currency != stripe.CurrencyUSD || cents <= 0 {
		return fmt.Errorf("%s is about %d of %q; this service takes only US cents", c.ID, cents, currency)
	}
	n.Movements = append(n.Movements, payments.Move(kind, n.Agent, cents, c, at))
	return nil
}

// ofSession reads a checkout's event. A payment that takes days to arrive is reported
// twice, but it is one purchase.
func (n *notice) ofSession(e stripe.Event) error {
	var s stripe.CheckoutSession
	if err := json.Unmarshal(e.Data.Raw, &s); err != nil {
		return err
	}
	if !n.ours(s.Metadata) {
		return nil
	}
	switch {
	case e.Type == stripe.EventTypeCheckoutSessionExpired:
		n.Ended = &payments.Ended{Checkout: s.ID, State: tables.CheckoutExpired}
	case e.Type == stripe.EventTypeCheckoutSessionAsyncPaymentFailed:
		n.Ended = &payments.Ended{Checkout: s.ID, State: tables.CheckoutFailed}
	case s.PaymentStatus == stripe.CheckoutSessionPaymentStatusPaid:
		cause := payments.Cause{What: payments.Checkout, ID: s.ID, At: time.Unix(s.Created, 0)}
		return n.move(tables.Bought, s.AmountTotal, s.Currency, cause, n.at)
	}
	return nil
}

// ofRefunds reads all refunds of the payment from Stripe. A charge has only their sum,
// which would count an earlier refund twice.
func (n *notice) ofRefunds(ctx context.Context, e stripe.Event) error {
	var about struct {
		PaymentIntent *stripe.PaymentIntent `json:"payment_intent"`
	}
	if err := json.Unmarshal(e.Data.Raw, &about); err != nil {
		return err
	}
	checkout, err := n.page(ctx, about.PaymentIntent)
	if err != nil || checkout == "" {
		return err
	}
	params := &stripe.RefundListParams{PaymentIntent: stripe.String(about.PaymentIntent.ID)}
	params.Limit = stripe.Int64(100)
	for r, err := range n.client.V1Refunds.List(ctx, params).All(ctx) {
		if err != nil {
			return failure(err)
		}
		cause := payments.Cause{What: payments.Refund, ID: r.ID, At: time.Unix(r.Created, 0), Checkout: checkout}
		if err := n.move(tables.Refunded, r.Amount, r.Currency, cause, cause.At); err != nil {
			return err
		}
		if r.Status == stripe.RefundStatusFailed || r.Status == stripe.RefundStatusCanceled {
			if err := n.move(tables.Unrefunded, r.Amount, r.Currency, cause, n.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofDispute reads a dispute's movements of money. An opened dispute takes credits only if
// its balance transactions show that the bank took the money
// (https://docs.stripe.com/api/disputes/object). Inquiries and prevented disputes have
// none.
//
// If a dispute gives money back, ofDispute returns both movements, because the first may
// not be recorded yet.
func (n *notice) ofDispute(ctx context.Context, e stripe.Event) error {
	var d stripe.Dispute
	if err := json.Unmarshal(e.Data.Raw, &d); err != nil {
		return err
	}
	opened, back := e.Type == stripe.EventTypeChargeDisputeCreated, e.Type == stripe.EventTypeChargeDisputeFundsReinstated
	if opened && !slices.ContainsFunc(d.BalanceTransactions, func(t *stripe.BalanceTransaction) bool { return t.Amount < 0 }) {
		return nil
	}
	checkout, err := n.page(ctx, d.PaymentIntent)
	if err != nil || checkout == "" {
		return err
	}
	taken, given := inDispute(&d, -1), inDispute(&d, 1)
	if taken <= 0 || back && given <= 0 {
		n.Unclear = fmt.Sprintf("dispute %s of checkout %s is about %d of %q, and its amount in US cents is unknown", d.ID, checkout, d.Amount, d.Currency)
		return nil
	}
	cause := payments.Cause{What: payments.Dispute, ID: d.ID, At: time.Unix(d.Created, 0), Checkout: checkout}
	if err := n.move(tables.Disputed, taken, stripe.CurrencyUSD, cause, cause.At); err != nil || !back {
		return err
	}
	return n.move(tables.Reinstated, given, stripe.CurrencyUSD, cause, n.at)
}

// inDispute returns how many US cents a dispute took from the account (sign -1) or gave
// back to it (1); 0 if unknown. It prefers balance transactions, because the disputed
// amount may be in another currency, or more than what was moved.
func inDispute(d *stripe.Dispute, sign int64) (cents int64) {
	for _, t := range d.BalanceTransactions {
		if t.Currency == stripe.CurrencyUSD {
			cents += max(0, sign*t.Amount)
		}
	}
	if cents == 0 && d.Currency == stripe.CurrencyUSD {
		return d.Amount
	}
	return cents
}

// page returns the checkout of a payment; "" if it is not this service's.
func (n *notice) page(ctx context.Context, payment *stripe.PaymentIntent) (string, error) {
	if payment == nil || payment.ID == "" { // a charge that no page made
		return "", nil
	}
	params := &stripe.CheckoutSessionListParams{PaymentIntent: stripe.String(payment.ID)}
	for s, err := range n.client.V1CheckoutSessions.List(ctx, params).All(ctx) {
		if err != nil {
			return "", failure(err)
		}
		if n.ours(s.Metadata) {
			return s.ID, nil
		}
	}
	return "", nil
}
