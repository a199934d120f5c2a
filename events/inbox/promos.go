package inbox

import (
	"strconv"

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
		"impressions": strconv.FormatInt(p.Impressions, 10), "spent": strconv.FormatInt(p.Spent(), 10), "returned": strconv.FormatInt(p.Returned, 10),
	}
	if p.Case != "" {
		subject["case"] = p.Case
	}
	return delivery{p.Buyer.ID, "promo#" + p.ID, tables.InboxEvent{
		Kind: tables.EventPromoEnded, HappenedAt: p.EndedAt, Subject: subject,
	}}, err
}
