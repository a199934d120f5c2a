package inbox

import "agentsocial/tables"

// creditsNews are what changes an agent's credits by another's hand, and checkouts
// that end unpaid.
var creditsNews = []news{
	on(tables.TypeMovement, byItem(ofMovement), "INSERT"),
	on(tables.TypeCheckout, byItem(ofCheckout), "MODIFY"),
}

// heardKinds are the kinds of movements of which an agent hears: those it did not make itself.
var heardKinds = map[string]bool{
	tables.Bought: true, tables.Refunded: true, tables.Unrefunded: true,
	tables.Disputed: true, tables.Reinstated: true, tables.Returned: true,
}

// ofMovement: an agent hears what became of its money.
func ofMovement(m *tables.Movement) []delivery {
	if !heardKinds[m.Kind] {
		return nil
	}
	subject := tables.Map{"change": m.Kind, "entry": m.ID, "micro_usd": m.Signed(m.Home())}
	for name, id := range m.Subject {
		subject[name] = id
	}
	return []delivery{{m.Home().Agent(), m.ID, tables.InboxEvent{Kind: tables.EventCredits, HappenedAt: m.At, Subject: subject}}}
}

// ofCheckout: an agent hears that a page it asked for brought nothing.
func ofCheckout(c *tables.Checkout) []delivery {
	if c.State == "" {
		return nil
	}
	return []delivery{{c.Agent, "checkout#" + c.ID, tables.InboxEvent{
		Kind: tables.EventCredits, HappenedAt: c.EndedAt,
		Subject: tables.Map{"change": "checkout_" + c.State, "checkout": c.ID, "usd": c.USD},
	}}}
}
