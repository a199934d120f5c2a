// Package stripe has Stripe take the money: Checkout pages that it hosts, and
// the notifications of what became of them (https://docs.stripe.com/webhooks).
package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	stripe "github.com/stripe/stripe-go/v85"

	"agentsocial/shared/outside/payments"
)

// Keys are what an operator has from Stripe, as the secret holds them.
type Keys struct {
	SecretKey      string   `json:"secret_key"`      // sk_… or, better, rk_…
	WebhookSecrets []string `json:"webhook_secrets"` // whsec_…; two while one is being changed
}

func (k Keys) equal(l Keys) bool {
	return k.SecretKey == l.SecretKey && slices.Equal(k.WebhookSecrets, l.WebhookSecrets)
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
	Doubt   func()                              // has Keys look again, for keys that were of no use; may be nil
	BaseURL string                              // of the service: pages return to it
	Stage   string                              // tells this service's payments from others of the account; never changes, as its URL may
	URL     string                              // of Stripe's API, if it is not Stripe's own
	Way     http.RoundTripper                   // how Stripe is reached; over the network if nil
}

// Processor implements [payments.Processor].
type Processor struct{ *Seller }

// New makes a processor. Nothing is asked of Stripe yet. It panics without a
// stage: what is sold would be nobody's.
func New(c Config) *Processor { return &Processor{NewSeller(c)} }

// Seller implements [payments.Processor] for functions that make pages and hear of
// nothing. All that Stripe could tell of a payment is left out of their binaries: the
// types of its API are a third of a megabyte of a zip.
type Seller struct {
	c       Config
	backend *stripe.Backends
}

// NewSeller makes a seller, as New a processor.
func NewSeller(c Config) *Seller {
	if c.Stage == "" {
		panic("stripe: no stage")
	}
	b := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: within, Transport: c.Way},
		MaxNetworkRetries: stripe.Int64(retries),
		EnableTelemetry:   stripe.Bool(false),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // what fails, the request's line says
	}
	if c.URL != "" {
		b.URL = &c.URL
	}
	return &Seller{c, stripe.NewBackendsWithConfig(b)}
}

// A request has 10 s for all it does, of which it may spend 2 s on each of two
// transactions: asking is for all that Stripe is asked for one request, the keys
// included. Stripe's client waits half a second before it tries again, with the
// same Idempotency-Key.
const (
	asking  = 5 * time.Second
	within  = 2 * time.Second // one try
	retries = 1
)

// ask calls f with the keys, and once more with others if they were of no use
// and have been changed.
func (p *Seller) ask(ctx context.Context, f func(context.Context, Keys) error) error {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	keys, err := p.c.Keys(ctx)
	if err != nil {
		return err
	}
	err = f(ctx, keys)
	if p.c.Doubt == nil || !errors.Is(err, payments.ErrForged) && !errors.Is(err, errKey) {
		return err
	}
	p.c.Doubt()
	others, fault := p.c.Keys(ctx)
	if fault != nil || keys.equal(others) {
		return err
	}
	return f(ctx, others)
}

// Metadata of what this service sells, under names that nobody else of the
// account uses. It is read on the page; on the payment it stands for operators,
// who look there.
const (
	metaAgent = "agentsocial_agent"
	metaStage = "agentsocial_stage"
)

// Checkout implements [payments.Processor]. Everything by which the sum could
// become another one (taxes, codes, the payer's own currency) is off. A page
// lives as long as Stripe has it live, a day: an end of this service's choosing
// would be another one when it asks for the same page again.
func (p *Seller) Checkout(ctx context.Context, o payments.Order) (payments.Page, error) {
	meta := map[string]string{metaAgent: o.Agent, metaStage: p.c.Stage}
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
		SuccessURL:      stripe.String(p.c.BaseURL + "/paid"),
		CancelURL:       stripe.String(p.c.BaseURL + "/paid"),
	}
	params.SetIdempotencyKey(o.Key)
	var page payments.Page
	err := p.ask(ctx, func(ctx context.Context, keys Keys) error {
		params.Context = ctx
		var s sessionMade
		if err := p.backend.API.Call(http.MethodPost, "/v1/checkout/sessions", keys.SecretKey, params, &s); err != nil {
			return failure(err)
		}
		page = payments.Page{ID: s.ID, URL: s.URL, ExpiresAt: time.Unix(s.ExpiresAt, 0)}
		return nil
	})
	return page, err
}

// sessionMade is what is read of a Checkout Session that was made.
type sessionMade struct {
	stripe.APIResource
	ID        string `json:"id"`
	URL       string `json:"url"`
	ExpiresAt int64  `json:"expires_at"` // unix s
}

// Notice implements [payments.Processor]: there is none for a seller.
func (p *Seller) Notice(context.Context, []byte, string) (payments.Notice, error) {
	return payments.Notice{}, errors.New("stripe: this function sells, and hears of nothing")
}

// errKey is of a call whose key Stripe does not know, or no longer.
var errKey = errors.New("the key is not taken")

// failure says what Stripe answered, without what it repeats of the request.
func failure(err error) error {
	var e *stripe.Error
	if errors.As(err, &e) && e.HTTPStatusCode == http.StatusUnauthorized {
		return fmt.Errorf("stripe: %w, request %q", errKey, e.RequestID)
	}
	if e != nil {
		return fmt.Errorf("stripe: %d %s %s %s, request %q", e.HTTPStatusCode, e.Type, e.Code, e.Param, e.RequestID)
	}
	return fmt.Errorf("stripe: %w", err)
}
