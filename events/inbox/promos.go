package inbox

import "agentsocial/tables"

var promoNews = []news{on(tables.TypePastPromo, byItem(ofPromo), "INSERT")}

func ofPromo(p *tables.Promo) []delivery {
	subject := tables.Map{
		"promo": p.ID, "channel": p.Channel, "state": p.State,
		"impressions": p.Impressions, "spent_micro_usd": p.Spent(), "returned_micro_usd": p.Returned,
	}
	if p.Case != "" {
		subject["case"] = p.Case
	}
	return []delivery{{p.Buyer.ID, "promo#" + p.ID, tables.InboxEvent{
		Kind: tables.EventPromoEnded, HappenedAt: p.EndedAt, Subject: subject,
	}}}
}
