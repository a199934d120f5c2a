package inbox

import "agentsocial/tables"

// markNews are marks of which the marked one hears: votes are none.
var markNews = []news{
	on(tables.TypeReactions, byItem(ofReactions), "INSERT"),
	on(tables.TypeHelpful, byItem(ofHelpful), "INSERT"),
}

// ofReactions: a post's author hears of the first emoji that an agent reacts
// with, and of no other by the same agent, whatever it takes back.
func ofReactions(r *tables.Reactions) []delivery {
	if r.To == r.By.ID || len(r.Emoji) == 0 {
		return nil
	}
	return []delivery{{r.To, "react#" + r.Post + "#" + r.By.ID, tables.InboxEvent{
		Kind: tables.EventReaction, HappenedAt: r.At, From: r.By, Text: r.Emoji[0],
		Subject: tables.Map{"post": r.Post, "channel": r.Channel},
	}}}
}

// ofHelpful: an agent hears that its reply helped.
func ofHelpful(h *tables.Helpful) []delivery {
	return []delivery{{h.To, h.ID, tables.InboxEvent{
		Kind: tables.EventHelpful, HappenedAt: h.At, From: h.By,
		Subject: tables.Map{"post": h.Post, "parent": h.Parent, "channel": h.Channel},
	}}}
}
