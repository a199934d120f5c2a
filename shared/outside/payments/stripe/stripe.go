// Package stripe takes payments through Stripe: it makes hosted Checkout pages
// and reads the webhooks about them (https://docs.stripe.com/webhooks).
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

// Keys are an operator's keys from Stripe, as stored in the secret.
type Keys struct {
	SecretKey      string   `json:"secret_key"`      // sk_… or, better, rk_…
	WebhookSecrets []string `json:"webhook_secrets"` // whsec_…; two during a rotation
}

func (k Keys) equal(l Keys) bool {
	return k.SecretKey == l.SecretKey && slices.Equal(k.WebhookSecrets, l.WebhookSecrets)
}

// ParseKeys reads a secret's text. It fails with payments.ErrNone if the text has no API
// key or no webhook secret.
func ParseKeys(text string) (Keys, error) {
	var k Keys
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return k, errors.New("stripe: the secret is not JSON of secret_key and webhook_secrets") // does not repeat the secret
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

// Config configures a processor.
type Config struct {
	Keys    func(context.Context) (Keys, error) // called when keys are needed
	Doubt   func()                              // makes Keys fetch again; may be nil
	BaseURL string                              // of the service; pages return to it
	Stage   string                              // marks this service's payments in the account; never changes, unlike the base URL
	URL     string                              // of Stripe's API; "" for Stripe's own
	Way     http.RoundTripper                   // how to reach Stripe; nil for the network
}

// Processor implements [payments.Processor].
type Processor struct{ *Seller }

// New makes a processor. It panics without a stage, by which the service recognises its
// own payments.
func New(c Config) *Processor { return &Processor{NewSeller(c)} }

// Seller implements [payments.Processor] for functions that make pages but read no
// notifications. Without the types of Stripe's events, their zip is a third of a megabyte
// smaller.
type Seller struct {
	c       Config
	backend *stripe.Backends
}

// NewSeller makes a seller. Like [New], it panics without a stage.
func NewSeller(c Config) *Seller {
	if c.Stage == "" {
		panic("stripe: no stage")
	}
	b := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: within, Transport: c.Way},
		MaxNetworkRetries: stripe.Int64(retries),
		EnableTelemetry:   stripe.Bool(false),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // the request's log line reports failures
	}
	if c.URL != "" {
		b.URL = &c.URL
	}
	return &Seller{c, stripe.NewBackendsWithConfig(b)}
}

// asking bounds a method of [Processor], including fetching the keys. The request that
// calls it must end within 10 s, and each of its two transactions may take 2 s. Stripe's
// client waits half a second before a retry.
const (
	asking  = 5 * time.Second
	within  = 2 * time.Second // bounds each attempt of a call
	retries = 1
)

// ask calls f with the keys. If Stripe rejects the key, or no secret fits the signature,
// and the keys have changed since, ask calls f once more.
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

// Metadata of this service's pages and payments. The prefix keeps them apart from metadata
// of other shops in the account. The code reads only those of pages; those of payments are
// for operators.
const (
	metaAgent = "agentsocial_agent"
	metaStage = "agentsocial_stage"
)

// Checkout implements [payments.Processor]. Everything that could change the sum is off,
// such as taxes and promotion codes. A page expires after a day, which is Stripe's
// default. If the code set the expiry, a repeated request for the same page would differ.
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

// sessionMade holds the fields read from a new Checkout Session.
type sessionMade struct {
	stripe.APIResource
	ID        string `json:"id"`
	URL       string `json:"url"`
	ExpiresAt int64  `json:"expires_at"` // unix s
}

// Expire implements [payments.Processor]. Stripe refuses to expire a session that is
// unknown or not open (https://docs.stripe.com/api/checkout/sessions/expire). Nobody can
// pay such a session, so the refusal is not an error.
func (p *Seller) Expire(ctx context.Context, checkout string) error {
	path := stripe.FormatURLPath("/v1/checkout/sessions/%s/expire", checkout)
	return p.ask(ctx, func(ctx context.Context, keys Keys) error {
		err := p.backend.API.Call(http.MethodPost, path, keys.SecretKey, &stripe.CheckoutSessionExpireParams{Params: stripe.Params{Context: ctx}}, &stripe.APIResource{})
		var e *stripe.Error
		if errors.As(err, &e) && e.Type == stripe.ErrorTypeInvalidRequest && (e.HTTPStatusCode == http.StatusBadRequest || e.HTTPStatusCode == http.StatusNotFound) {
			return nil
		}
		if err != nil {
			return failure(err)
		}
		return nil
	})
}

// Notice implements [payments.Processor]. A seller reads no notifications.
func (p *Seller) Notice(context.Context, []byte, string) (payments.Notice, error) {
	return payments.Notice{}, errors.New("stripe: this function does not read notifications")
}

// errKey is the error of a call whose key Stripe rejected.
var errKey = errors.New("the key was rejected")

// failure describes Stripe's answer without the parts that repeat the request.
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
