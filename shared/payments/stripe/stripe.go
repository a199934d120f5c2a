// Package stripe has Stripe take the money: Checkout pages that it hosts, and
// the notifications of what became of them (https://docs.stripe.com/webhooks).
package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	stripe "github.com/stripe/stripe-go/v85"

	"agentsocial/shared/payments"
)

// Keys are what an operator has from Stripe, as the secret holds them.
type Keys struct {
	SecretKey      string   `json:"secret_key"`      // sk_… or, better, rk_…
	WebhookSecrets []string `json:"webhook_secrets"` // whsec_…; two while one is being changed
}

// ParseKeys reads a secret's text. Empty ones are payments.ErrNone.
func ParseKeys(text string) (Keys, error) {
	var k Keys
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return k, errors.New("stripe: the secret is not JSON of secret_key and webhook_secrets") // never what it holds
	}
	if k.SecretKey == "" || len(k.WebhookSecrets) == 0 {
		return k, payments.ErrNone
	}
	for _, s := range append([]string{k.SecretKey}, k.WebhookSecrets...) {
		if s == "" || s != strings.TrimSpace(s) {
			return k, errors.New("stripe: a key in the secret is empty or has spaces around it")
		}
	}
	return k, nil
}

// Config is what the processor needs.
type Config struct {
	Keys    func(context.Context) (Keys, error) // fetched when they are needed
	BaseURL string                              // of the service: pages return to it, and it tells its payments from others of the account
	Way     http.RoundTripper                   // how Stripe is reached; over the network if nil
}

// Processor implements [payments.Processor].
type Processor struct {
	c       Config
	backend *stripe.Backends
}

// New makes a processor. Nothing is asked of Stripe yet.
func New(c Config) *Processor {
	b := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: within, Transport: c.Way},
		MaxNetworkRetries: stripe.Int64(retries),
		EnableTelemetry:   stripe.Bool(false),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // what fails, the request's line says
	}
	return &Processor{c, stripe.NewBackendsWithConfig(b)}
}

// One call: a request has 10 s for all it does. Stripe's client sends the same
// Idempotency-Key when it tries again.
const (
	within  = 4 * time.Second
	retries = 1
)

func (p *Processor) client(ctx context.Context) (*stripe.Client, Keys, error) {
	keys, err := p.c.Keys(ctx)
	if err != nil {
		return nil, keys, err
	}
	return stripe.NewClient(keys.SecretKey, stripe.WithBackends(p.backend)), keys, nil
}

// Metadata of what this service sells. It stands on the payment as well as on
// the page, since what is told of refunds and disputes names only the payment.
const (
	metaAgent   = "agent"
	metaService = "service"
)

// Checkout implements [payments.Processor]. Everything by which the sum could
// become another one (taxes, codes, the payer's own currency) is off.
func (p *Processor) Checkout(ctx context.Context, o payments.Order) (payments.Page, error) {
	client, _, err := p.client(ctx)
	if err != nil {
		return payments.Page{}, err
	}
	meta := map[string]string{metaAgent: o.Agent, metaService: p.c.BaseURL}
	params := &stripe.CheckoutSessionCreateParams{
		Mode:              stripe.String(stripe.CheckoutSessionModePayment),
		SubmitType:        stripe.String(stripe.CheckoutSessionSubmitTypePay),
		ClientReferenceID: stripe.String(o.Agent),
		Metadata:          meta,
		PaymentIntentData: &stripe.CheckoutSessionCreatePaymentIntentDataParams{
			Metadata: meta, Description: stripe.String("Credits for @" + o.Handle),
		},
		LineItems: []*stripe.CheckoutSessionCreateLineItemParams{{
			Quantity: stripe.Int64(1),
			PriceData: &stripe.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: stripe.String(stripe.CurrencyUSD), UnitAmount: stripe.Int64(o.USD * 100),
				ProductData: &stripe.CheckoutSessionCreateLineItemPriceDataProductDataParams{
					Name: stripe.String(fmt.Sprintf("%d USD of credits for @%s", o.USD, o.Handle)),
				},
			},
		}},
		AdaptivePricing: &stripe.CheckoutSessionCreateAdaptivePricingParams{Enabled: stripe.Bool(false)},
		ExpiresAt:       stripe.Int64(o.ExpiresAt.Unix()),
		SuccessURL:      stripe.String(p.c.BaseURL + "/paid"),
		CancelURL:       stripe.String(p.c.BaseURL + "/paid"),
	}
	params.SetIdempotencyKey(o.Key)
	s, err := client.V1CheckoutSessions.Create(ctx, params)
	if err != nil {
		return payments.Page{}, failure(err)
	}
	return payments.Page{ID: s.ID, URL: s.URL, ExpiresAt: time.Unix(s.ExpiresAt, 0)}, nil
}

// failure says what Stripe answered, without what it repeats of the request.
func failure(err error) error {
	var e *stripe.Error
	if errors.As(err, &e) {
		return fmt.Errorf("stripe: %d %s %s %s, request %q", e.HTTPStatusCode, e.Type, e.Code, e.Param, e.RequestID)
	}
	return fmt.Errorf("stripe: %w", err)
}
