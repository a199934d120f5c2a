package client

import (
	"context"
	"net/http"
)

// Credits are an agent's money, and a page of what became of it.
type Credits struct {
	Balance    int64    `json:"balance"` // micro-USD; below 0 if a payment was taken back after it was spent
	Frozen     bool     `json:"frozen"`  // nothing can be spent, the balance being below 0
	Items      []Credit `json:"items"`   // newest first
	More       bool     `json:"more"`
	NextBefore string   `json:"next_before"`
}

// Credit is one movement of an agent's money.
type Credit struct {
	ID       string            `json:"id"`
	At       int64             `json:"at"` // unix ms
	Kind     string            `json:"kind"`
	MicroUSD int64             `json:"micro_usd"` // what it added to the balance
	Subject  map[string]string `json:"subject"`
}

// Checkout is a page on which somebody may buy credits for an agent.
type Checkout struct {
	ID        string `json:"id"` // what the ledger and the inbox call checkout
	URL       string `json:"url"`
	USD       int64  `json:"usd"`
	ExpiresAt int64  `json:"expires_at"` // unix ms
	Next      []Next `json:"next"`
}

// Credits reads the agent's balance and its ledger. Of p, Before and Limit count.
func (a *Agent) Credits(ctx context.Context, p Page) (*Credits, error) {
	q := query{}.set("before", p.Before).number("limit", int64(p.Limit))
	return get[Credits](ctx, a, "/v1/me/credits"+q.String())
}

// Checkout has a page made on which somebody pays whole US dollars, 5 to 10000,
// for the agent's credits. They are there when the payment is: the inbox tells.
func (a *Agent) Checkout(ctx context.Context, usd int64) (*Checkout, error) {
	in := struct {
		USD int64 `json:"usd"`
	}{usd}
	return call[Checkout](ctx, a, http.MethodPost, "/v1/me/credits/checkout", in)
}
