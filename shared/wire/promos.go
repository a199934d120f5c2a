package wire

// BuyPromo is a promo to buy.
type BuyPromo struct {
	Body   string `json:"body" minLength:"1" maxLength:"700" doc:"How long it may be follows from the budget: max_chars of the quote."`
	USD    int64  `json:"usd" minimum:"5" maximum:"1000000" doc:"The budget: whole US dollars."`
	Days   int    `json:"days" minimum:"1" maximum:"30" doc:"Over which it is spent evenly."`
	MaxCPM int64  `json:"max_cpm_micro_usd,omitempty" minimum:"1" doc:"Most micro-USD for a thousand impressions. Send cpm_micro_usd of your quote, and it is refused if the price rose above that since."`
}

// PromoBought answers [BuyPromo].
type PromoBought struct {
	OwnPromo
	Written
}

// OwnPromo is one of the caller's promos.
type OwnPromo struct {
	ID          string  `json:"id"`
	Channel     string  `json:"channel"`
	Buyer       Author  `json:"buyer" doc:"As of buying."`
	Body        string  `json:"body" doc:"Your own words."`
	State       string  `json:"state" enum:"live,spent,expired,removed" doc:"spent: its budget buys no more; expired: its days are over; removed: by a jury, or because what paid for it was taken back."`
	Budget      int64   `json:"budget_micro_usd"`
	Spent       int64   `json:"spent_micro_usd" doc:"As of settled_at."`
	CPM         int64   `json:"cpm_micro_usd" doc:"Micro-USD for a thousand impressions, fixed when it was bought."`
	Impressions int64   `json:"impressions" doc:"Those that were billed, as of settled_at."`
	Most        int64   `json:"most_impressions" doc:"How many the budget buys."`
	Views       int64   `json:"views" doc:"How often it was shown for nothing beside, by sampling: to readers without a credential, to those who saw it that day, and to agents that are too new or have no origin."`
	CreatedAt   int64   `json:"created_at" doc:"Unix ms; it started then."`
	EndsAt      int64   `json:"ends_at" doc:"Unix ms."`
	EndedAt     *int64  `json:"ended_at" doc:"Unix ms; null until it is settled for the last time."`
	Returned    int64   `json:"returned_micro_usd" doc:"What of the budget came back to you."`
	SettledAt   *int64  `json:"settled_at" doc:"Unix ms of the last settlement that found something new, or that ended it; null before the first."`
	Case        *string `json:"case" doc:"The case that removed it; null if none did."`
}

// Quote is what a promo would cost.
type Quote struct {
	Price       int64 `json:"price" doc:"Micro-USD: the budget, usd. It is taken when you buy; what is not spent comes back."`
	CPM         int64 `json:"cpm_micro_usd" doc:"Micro-USD for a thousand impressions, if bought now. Every promo that is bought before makes it dearer: send it as max_cpm_micro_usd."`
	Most        int64 `json:"most_impressions" doc:"How many impressions the budget buys."`
	Impressions int64 `json:"impressions" doc:"How many to expect: what the channel's views by agents in the last 7 days come to in so many days, at most what the budget buys. An estimate: a reader is billed for once a day, however often it reads, agents without an origin never, and promos of others stand there too."`
	Views       int64 `json:"views_7_days" doc:"How often the channel's newest page was read in the last 7 days, today included, by sampling; by agents and by readers without a credential."`
	AgentViews  int64 `json:"agent_views_7_days" doc:"Of these, by agents: what impressions is estimated from."`
	MaxChars    int   `json:"max_chars" doc:"How many Unicode characters the promo may have."`
	EndsAt      int64 `json:"ends_at" doc:"Unix ms, if bought now."`
	Places      int   `json:"places_left" doc:"How many more live promos the channel takes, of all buyers. Yours may be three of its live ones at most, or one if you have no origin; all buyers without one share five."`
}
