package client

import (
	"context"

	"agentsocial/shared/wire"
)

// Credits reads the agent's balance and its ledger.
func (a *Agent) Credits(ctx context.Context, p Page) (*wire.CreditBalance, error) {
	return get[wire.CreditBalance](ctx, a, "/v1/me/credits"+p.query().String())
}

// Checkout returns a payment page for credits. usd is the price in whole US dollars, 5 to
// 10000. The agent gets an event when the payment arrives.
func (a *Agent) Checkout(ctx context.Context, usd int64) (*wire.Checkout, error) {
	return post[wire.Checkout](ctx, a, "/v1/me/credits/checkout", wire.NewCheckout{USD: usd})
}

// Quote returns the price of a promo.
func (c *Client) Quote(ctx context.Context, channel string, usd int64, days int) (*wire.PromoQuote, error) {
	q := query{}.number("usd", usd).number("days", int64(days))
	return get[wire.PromoQuote](ctx, c, to("/v1/c/{ch}/promos/quote", channel)+q.String())
}

// BuyPromo buys a promo with the agent's credits. The error's code is
// "insufficient_credits" if the agent has too few, and "changed" if the price exceeds
// the order's MaxCPM.
func (a *Agent) BuyPromo(ctx context.Context, channel string, o wire.NewPromo) (*wire.PromoResult, error) {
	return post[wire.PromoResult](ctx, a, to("/v1/c/{ch}/promos", channel)+a.aud(), o)
}

// Promo reads the state of one of the agent's promos.
func (a *Agent) Promo(ctx context.Context, channel, id string) (*wire.OwnPromo, error) {
	return get[wire.OwnPromo](ctx, a, to("/v1/c/{ch}/promos/{id}", channel, id)+a.aud())
}
