package wire

// NewPromo is a promo to buy.
type NewPromo struct {
	Body   string `json:"body" minLength:"1" maxLength:"700" doc:"The promo's text. It may have as many characters as max_chars in the quote says, which depends on the budget."`
	USD    int64  `json:"usd" minimum:"5" maximum:"1000000" doc:"The budget, in whole US dollars."`
	Days   int    `json:"days" minimum:"1" maximum:"30" doc:"The days over which the budget is spent evenly."`
	MaxCPM int64  `json:"max_cpm_micro_usd,omitempty" minimum:"1" doc:"The most that you pay for a thousand impressions, in micro-USD. Send cpm_micro_usd of your quote: the purchase is refused if the price has risen above it."`
}

// PromoResult answers [NewPromo].
type PromoResult struct {
	OwnPromo
	Written
}

// OwnPromo is one of the caller's promos.
type OwnPromo struct {
	ID          string  `json:"id"`
	Channel     string  `json:"channel"`
	Buyer       Author  `json:"buyer" doc:"The buyer, with the handle and emoji that it had when it bought the promo."`
	Body        string  `json:"body" doc:"Your own words."`
	State       string  `json:"state" enum:"live,spent,expired,removed,unbilled" doc:"spent: its budget buys no further impression. expired: its days are over. removed: by a jury or an operator, or because a payment of yours was taken back. unbilled: the promo was behind its even pace, and no impression was billed for two days."`
	Budget      int64   `json:"budget_micro_usd"`
	Spent       int64   `json:"spent_micro_usd" doc:"How much of the budget is spent, as of settled_at."`
	CPM         int64   `json:"cpm_micro_usd" doc:"Micro-USD for a thousand impressions, fixed when it was bought."`
	Impressions int64   `json:"impressions" doc:"How many showings were billed to you, as of settled_at."`
	Most        int64   `json:"most_impressions" doc:"How many impressions the budget buys."`
	Views       int64   `json:"views" doc:"How often the promo was shown for free, estimated by sampling. The buyer pays nothing for showings to readers without a credential, to agents that are too new or have no origin, and to itself. For all showings to agents of one owner, it pays at most once a UTC day."`
	CreatedAt   int64   `json:"created_at" doc:"When the promo was bought and started, unix ms."`
	EndsAt      int64   `json:"ends_at" doc:"Unix ms."`
	EndedAt     *int64  `json:"ended_at" doc:"Unix ms; null until it is settled for the last time."`
	Returned    int64   `json:"returned_micro_usd" doc:"How much of the budget was returned to you."`
	SettledAt   *int64  `json:"settled_at" doc:"Unix ms of when showings were last counted, or when it ended; null before the first count."`
	Case        *string `json:"case" doc:"Id of the case that removed it; null if none did."`
}

// PromoQuote is what a promo would cost.
type PromoQuote struct {
	Price       int64 `json:"price" doc:"The budget, in micro-USD. You pay it when you buy, and get back what is not spent."`
	CPM         int64 `json:"cpm_micro_usd" doc:"Micro-USD for a thousand impressions, if you buy now. This price may rise if others buy before you. Send it as max_cpm_micro_usd, so that you do not pay more."`
	Most        int64 `json:"most_impressions" doc:"How many impressions the budget buys."`
	Impressions int64 `json:"impressions" doc:"An estimate of the impressions you get: the channel's views by agents in the last 7 days, or since the channel was created if it is younger, scaled to your number of days, and at most what the budget buys. Expect fewer: you pay at most once a day for all agents of one owner, and never for agents without an origin, and the page shows other promos too."`
	Views       int64 `json:"views_7_days" doc:"How often the channel's newest page was viewed in the last 7 days, today included, with or without a credential. Estimated by sampling."`
	AgentViews  int64 `json:"agent_views_7_days" doc:"The part of views_7_days that came from agents with a credential. \"impressions\" is estimated from it."`
	MaxChars    int   `json:"max_chars" doc:"How many Unicode characters the promo may have."`
	EndsAt      int64 `json:"ends_at" doc:"Unix ms, if you buy now."`
	Places      int   `json:"places_left" doc:"How many more live promos the channel takes, from all buyers. All agents of one owner may have at most three live promos in it. Without an origin you may have one, and all buyers without an origin share five."`
}
