package payments

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"
)

// Limits of a session (https://docs.stripe.com/api/checkout/sessions/create,
// https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts).
const (
	leastLife  = 30 * time.Minute
	mostLife   = 24 * time.Hour
	leastCents = 50
	mostCents  = 99_999_999
)

var (
	referenceForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)
	submitTypes   = []string{"auto", "book", "donate", "pay", "subscribe"}
)

// createSession opens a checkout. It accepts only the parameters that the service sends, and
// expires_at.
func (s *StandIn) createSession(_ *http.Request, params url.Values) (any, *problem) {
	const item = "line_items[0]"
	p := only(params, "mode", "submit_type", "client_reference_id", "metadata[*]", "success_url", "cancel_url", "expires_at",
		"adaptive_pricing[enabled]", "payment_intent_data[metadata][*]", "payment_intent_data[description]",
		"line_items[#][quantity]", "line_items[#][price_data][currency]", "line_items[#][price_data][unit_amount]",
		"line_items[#][price_data][product_data][name]")
	if p == nil {
		p = required(params, "mode", "success_url", item+"[quantity]", item+"[price_data][currency]",
			item+"[price_data][unit_amount]", item+"[price_data][product_data][name]")
	}
	if p != nil {
		return nil, p
	}
	now := s.now()
	c := &checkout{Name: params.Get(item + "[price_data][product_data][name]")}
	id := "cs_test_" + s.random()
	page := s.c.URL + "/c/" + id
	c.Session = session{
		ID: id, Object: "checkout.session", Created: now, ExpiresAt: now + int64(mostLife/time.Second), Currency: params.Get(item + "[price_data][currency]"),
		Mode: params.Get("mode"), PaymentMethods: []string{"card", "us_bank_account"}, PaymentStatus: "unpaid", Status: "open",
		SuccessURL: params.Get("success_url"), UIMode: "hosted_page", URL: &page,
		AdaptivePricing: map[string]bool{"enabled": params.Get("adaptive_pricing[enabled]") == "true"},
	}
	c.Intent = intent{ID: "pi_" + s.random(), Object: "payment_intent", Created: now, Currency: c.Session.Currency, Status: "requires_payment_method"}
	for _, fill := range []func(*checkout, url.Values) *problem{fillTerms, fillAmount, fillTexts, s.fillExpiry} {
		if p := fill(c, params); p != nil {
			return nil, p
		}
	}
	s.kept.Checkouts[id] = c
	return c.Session, nil
}

func fillTerms(c *checkout, params url.Values) *problem {
	if c.Session.Mode != "payment" {
		return badRequest("", "mode", "Invalid mode: only payment is accepted here.")
	}
	if c.Session.Currency != "usd" {
		return badRequest("", "line_items[0][price_data][currency]", "Invalid currency: %s. Only usd is accepted here.", c.Session.Currency)
	}
	for _, name := range []string{"success_url", "cancel_url"} {
		if v := params.Get(name); v != "" {
			if u, err := url.Parse(v); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(v) > 5000 {
				return badRequest("url_invalid", name, "Not a valid URL")
			}
		}
	}
	if v := params.Get("cancel_url"); v != "" {
		c.Session.CancelURL = &v
	}
	if v := params.Get("submit_type"); v != "" {
		if !slices.Contains(submitTypes, v) {
			return badRequest("", "submit_type", "Invalid submit_type: %s", v)
		}
		c.Session.SubmitType = &v
	}
	if v := params.Get("adaptive_pricing[enabled]"); v != "" && v != "true" && v != "false" {
		return badRequest("parameter_invalid_boolean", "adaptive_pricing[enabled]", "Invalid boolean: %s", v)
	}
	return nil
}

func fillAmount(c *checkout, params url.Values) *problem {
	for name := range params {
		if fits(name, "line_items[#][quantity]") && name != "line_items[0][quantity]" {
			return badRequest("", name, "Only one line item is accepted here.")
		}
	}
	quantity, p := number(params, "line_items[0][quantity]")
	if p != nil {
		return p
	}
	unit, p := number(params, "line_items[0][price_data][unit_amount]")
	if p != nil {
		return p
	}
	amount := quantity * unit
	switch {
	case quantity < 1 || unit < 0:
		return badRequest("parameter_invalid_integer", "line_items[0][quantity]", "This value must be greater than or equal to 1.")
	case amount < leastCents:
		return badRequest("amount_too_small", "", "The Checkout Session's total amount must convert to at least 50 cents.")
	case quantity > 999_999 || amount > mostCents:
		return badRequest("amount_too_large", "", "The Checkout Session's total amount due must be no more than $999,999.99.")
	}
	c.Session.AmountSubtotal, c.Session.AmountTotal, c.Intent.Amount = amount, amount, amount
	return nil
}

func fillTexts(c *checkout, params url.Values) (p *problem) {
	if c.Session.Metadata, p = metadata(params, "metadata"); p != nil {
		return p
	}
	if c.Intent.Metadata, p = metadata(params, "payment_intent_data[metadata]"); p != nil {
		return p
	}
	if v := params.Get("client_reference_id"); v != "" {
		if !referenceForm.MatchString(v) {
			return badRequest("", "client_reference_id", "Invalid client_reference_id: up to 200 letters, digits, dashes and underscores.")
		}
		c.Session.ClientReferenceID = &v
	}
	if v := params.Get("payment_intent_data[description]"); v != "" {
		if len([]rune(v)) > 1000 {
			return badRequest("", "payment_intent_data[description]", "Invalid string: at most 1000 characters.")
		}
		c.Intent.Description = &v
	}
	return nil
}

func (s *StandIn) fillExpiry(c *checkout, params url.Values) *problem {
	if params.Get("expires_at") == "" {
		return nil
	}
	at, p := number(params, "expires_at")
	if p != nil {
		return p
	}
	if life := time.Duration(at-c.Session.Created) * time.Second; life < leastLife || life > mostLife {
		return badRequest("", "expires_at", "The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.")
	}
	c.Session.ExpiresAt = at
	return nil
}

func missing(what, id string) *problem {
	return &problem{http.StatusNotFound, "invalid_request_error", "resource_missing", "id", fmt.Sprintf("No such %s: '%s'", what, id)}
}

func (s *StandIn) expireSession(r *http.Request, params url.Values) (any, *problem) {
	if p := only(params); p != nil {
		return nil, p
	}
	c := s.kept.Checkouts[r.PathValue("id")]
	switch {
	case c == nil:
		return nil, missing("checkout.session", r.PathValue("id"))
	case c.Session.Status != "open":
		return nil, badRequest("", "", "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status of `%s`.", c.Session.Status)
	}
	s.close(c)
	return c.Session, nil
}

// listSessions returns a list with the session of a payment.
func (s *StandIn) listSessions(_ *http.Request, params url.Values) (any, *problem) {
	p := only(params, "payment_intent")
	if p == nil {
		p = required(params, "payment_intent") // Stripe does not require it
	}
	if p != nil {
		return nil, p
	}
	c := s.intentOf(params.Get("payment_intent"))
	if c == nil {
		return nil, badRequest("resource_missing", "payment_intent", "No such payment_intent: '%s'", params.Get("payment_intent"))
	}
	return map[string]any{"object": "list", "url": "/v1/checkout/sessions", "has_more": false, "data": []session{c.Session}}, nil
}

// listRefunds lists refunds newest first, page by page.
func (s *StandIn) listRefunds(_ *http.Request, params url.Values) (any, *problem) {
	if p := only(params, "payment_intent", "charge", "limit", "starting_after"); p != nil {
		return nil, p
	}
	limit := int64(10)
	if params.Get("limit") != "" {
		var p *problem
		if limit, p = number(params, "limit"); p != nil {
			return nil, p
		}
		if limit < 1 || limit > 100 {
			return nil, badRequest("parameter_invalid_integer", "limit", "limit must be between 1 and 100.")
		}
	}
	all := []*refund{}
	for _, c := range s.kept.Checkouts {
		for _, r := range c.Refunds {
			if v := params.Get("payment_intent"); v != "" && v != r.PaymentIntent {
				continue
			}
			if v := params.Get("charge"); v != "" && v != r.Charge {
				continue
			}
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *refund) int {
		if a.Created != b.Created {
			return int(b.Created - a.Created)
		}
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	if after := params.Get("starting_after"); after != "" {
		i := slices.IndexFunc(all, func(r *refund) bool { return r.ID == after })
		if i < 0 {
			return nil, missing("refund", after)
		}
		all = all[i+1:]
	}
	more := int64(len(all)) > limit
	return map[string]any{"object": "list", "url": "/v1/refunds", "has_more": more, "data": all[:min(int64(len(all)), limit)]}, nil
}
