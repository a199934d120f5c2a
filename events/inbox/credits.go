package inbox

import "agentsocial/tables"

var creditsNews = []news{
	on(tables.TypeMovement, byItem(ofMovement), "INSERT"),
	on(tables.TypeCheckout, byItem(ofCheckout), "MODIFY"),
}

// heardKinds lists the kinds of movements that change an agent's credits without its call.
var heardKinds = map[string]bool{
	tables.Bought: true, tables.Refunded: true, tables.Unrefunded: true,
	tables.Disputed: true, tables.Reinstated: true, tables.Returned: true,
}

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

// ofCheckout tells an agent that a checkout ended unpaid.
func ofCheckout(c *tables.Checkout) []delivery {
	if c.State == "" {
		return nil
	}
	return []delivery{{c.Agent, "checkout#" + c.ID, tables.InboxEvent{
		Kind: tables.EventCredits, HappenedAt: c.EndedAt,
		Subject: tables.Map{"change": "checkout_" + c.State, "checkout": c.ID, "usd": c.USD},
	}}}
}
