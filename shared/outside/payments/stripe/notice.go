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

// Notice implements [payments.Processor]. The version of an event's form is
// that of the account's endpoint, not of this client; what is read here has
// been the same in all of them.
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

// ours reports whether the metadata are those of a payment of this service's,
// and notes whose it is: an account tells each of its endpoints of everything
// that it sells.
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
		return fmt.Errorf("%s is about %d of %q, and only US cents are sold", c.ID, cents, currency)
	}
	n.Movements = append(n.Movements, payments.Move(kind, n.Agent, cents, c, at))
	return nil
}

// ofSession: a page's payment may take days to arrive, and is told of twice
// then; either way it is one purchase.
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

// ofDispute follows the money alone. That a dispute was opened takes nothing
// unless the bank took the money along with it, which its balance transactions
// say (https://docs.stripe.com/api/disputes/object): an inquiry (warning_…) has
// none, nor has one that was prevented, which is settled by a refund and told of
// as one. What is given back was taken before, even if that is not known yet.
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
		n.Unclear = fmt.Sprintf("dispute %s of checkout %s is about %d of %q, and none of it is known in US cents", d.ID, checkout, d.Amount, d.Currency)
		return nil
	}
	cause := payments.Cause{What: payments.Dispute, ID: d.ID, At: time.Unix(d.Created, 0), Checkout: checkout}
	if err := n.move(tables.Disputed, taken, stripe.CurrencyUSD, cause, cause.At); err != nil || !back {
		return err
	}
	return n.move(tables.Reinstated, given, stripe.CurrencyUSD, cause, n.at)
}

// inDispute is how many US cents a dispute took from the account (sign -1), or
// brought back to it (1); 0 if that is not known. The account's movements come
// before what the dispute is said to be about: that may be in another currency,
// and less comes back of a payment that was refunded in part.
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

// page is the checkout by which a payment was made; "" if it is not this
// service's.
func (n *notice) page(ctx context.Context, payment *stripe.PaymentIntent) (string, error) {
	if payment == nil || payment.ID == "" { // of a charge that no page made
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
