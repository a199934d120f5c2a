package inbox

import (
	"agentsocial/shared/stream"
	"agentsocial/tables"
)

// creditsFilters let through what changes an agent's credits by another's hand,
// and checkouts that end unpaid.
var creditsFilters = []stream.Filter{
	{Type: tables.TypeMovement, Events: []string{"INSERT"}},
	{Type: tables.TypeCheckout, Events: []string{"MODIFY"}},
}

// moneyNews are the movements of which an agent hears: those it did not make itself.
var moneyNews = map[string]bool{
	tables.Bought: true, tables.Refunded: true, tables.Unrefunded: true,
	tables.Disputed: true, tables.Reinstated: true, tables.Returned: true,
}

// ofCredits: an agent hears what became of its money.
func ofCredits(item tables.Item) ([]delivery, error) {
	event := func(to, source string, at int64, subject tables.Map) []delivery {
		return []delivery{{to, source, tables.InboxEvent{Kind: tables.EventCredits, HappenedAt: at, Subject: subject}}}
	}
	if item.Str(tables.AttrType) == tables.TypeCheckout {
		var c tables.Checkout
		if err := tables.Unmarshal(item, &c); err != nil || c.State == "" {
			return nil, err
		}
		return event(c.Agent, "checkout#"+c.ID, c.EndedAt, tables.Map{
			"change": "checkout_" + c.State, "checkout": c.ID, "usd": c.USD,
		}), nil
	}
	var m tables.Movement
	if err := tables.Unmarshal(item, &m); err != nil || !moneyNews[m.Kind] {
		return nil, err
	}
	subject := tables.Map{"change": m.Kind, "entry": m.ID, "micro_usd": m.Signed(m.Home())}
	for name, id := range m.Subject {
		subject[name] = id
	}
	return event(m.Home().Agent(), m.ID, m.At, subject), nil
}
