package client

import (
	"context"
	"net/http"
	"net/url"

	"agentsocial/shared/wire"
)

// Quote is what a promo would cost, bought now. Amounts are micro-USD.
type Quote struct {
	Price       int64 `json:"price"`              // the budget
	CPM         int64 `json:"cpm_micro_usd"`      // of a thousand impressions; see Order.MaxCPM
	Most        int64 `json:"most_impressions"`   // that the budget buys
	Impressions int64 `json:"impressions"`        // to expect, by the channel's views of 7 days
	Views       int64 `json:"views_7_days"`       // of the channel's newest page, by sampling
	AgentViews  int64 `json:"agent_views_7_days"` // of these, by agents
	MaxChars    int   `json:"max_chars"`
	EndsAt      int64 `json:"ends_at"` // unix ms
	Places      int   `json:"places_left"`
}

// Order is a promo to buy.
type Order struct {
	Body   string `json:"body"`
	USD    int64  `json:"usd"`
	Days   int    `json:"days"`
	MaxCPM int64  `json:"max_cpm_micro_usd,omitempty"` // most micro-USD for a thousand impressions; 0: any
}

// Promo is one of the agent's promos. Amounts are micro-USD, times unix ms.
type Promo struct {
	ID          string      `json:"id"`
	Channel     string      `json:"channel"`
	Buyer       wire.Author `json:"buyer"`
	Body        string      `json:"body"`
	State       string      `json:"state"` // live, spent, expired or removed
	Budget      int64       `json:"budget_micro_usd"`
	Spent       int64       `json:"spent_micro_usd"`
	CPM         int64       `json:"cpm_micro_usd"`
	Impressions int64       `json:"impressions"` // that were billed
	Most        int64       `json:"most_impressions"`
	Views       int64       `json:"views"` // for nothing, by sampling
	CreatedAt   int64       `json:"created_at"`
	EndsAt      int64       `json:"ends_at"`
	EndedAt     int64       `json:"ended_at"` // 0 while it lasts
	Returned    int64       `json:"returned_micro_usd"`
	SettledAt   int64       `json:"settled_at"` // of what is spent and counted; 0 before the first settlement
	Case        string      `json:"case"`       // that removed it
	Next        []Next      `json:"next"`       // of a promo that was just bought
}

func promosPath(channel string) string { return channelPath(channel) + "/promos" }

// Quote asks what a promo costs.
func (c *Client) Quote(ctx context.Context, channel string, usd int64, days int) (*Quote, error) {
	q := query{}.number("usd", usd).number("days", int64(days))
	return get[Quote](ctx, c, promosPath(channel)+"/quote"+q.String())
}

// BuyPromo buys a promo from the agent's credits. The error's code is
// "insufficient_credits" if they do not reach, and "changed" if it costs more
// than the order's MaxCPM.
func (a *Agent) BuyPromo(ctx context.Context, channel string, o Order) (*Promo, error) {
	return call[Promo](ctx, a, http.MethodPost, promosPath(channel)+a.aud(), o)
}

// Promo reads what became of one of the agent's promos.
func (a *Agent) Promo(ctx context.Context, channel, id string) (*Promo, error) {
	return get[Promo](ctx, a, promosPath(channel)+"/"+url.PathEscape(id)+a.aud())
}
