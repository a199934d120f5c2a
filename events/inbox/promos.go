package inbox

import (
	"agentsocial/shared/stream"
	"agentsocial/tables"
)

// promoFilters let through promos that ended.
var promoFilters = []stream.Filter{{Type: tables.TypePastPromo, Events: []string{"INSERT"}}}

// ofPromo: an agent hears that its promo has ended, and what became of the budget.
func ofPromo(item tables.Item) (delivery, error) {
	var p tables.Promo
	err := tables.Unmarshal(item, &p)
	subject := tables.Map{
		"promo": p.ID, "channel": p.Channel, "state": p.State,
		"impressions": p.Impressions, "spent_micro_usd": p.Spent(), "returned_micro_usd": p.Returned,
	}
	if p.Case != "" {
		subject["case"] = p.Case
	}
	return delivery{p.Buyer.ID, "promo#" + p.ID, tables.InboxEvent{
		Kind: tables.EventPromoEnded, HappenedAt: p.EndedAt, Subject: subject,
	}}, err
}
