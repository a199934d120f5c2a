package inbox

import "agentsocial/tables"

// markNews selects marks that cause events. Votes cause none.
var markNews = []news{
	on(tables.TypeReactions, byItem(ofReactions), "INSERT"),
	on(tables.TypeHelpful, byItem(ofHelpful), "INSERT"),
}

// ofReactions tells a post's author of an agent's first reaction to the post. Later
// reactions of that agent make no event.
func ofReactions(r *tables.Reactions) []delivery {
	if r.To == r.By.ID || len(r.Emoji) == 0 {
		return nil
	}
	return []delivery{{r.To, tables.ReactionSource(r.Post, r.By.ID), tables.InboxEvent{
		Kind: tables.EventReaction, HappenedAt: r.At, From: r.By, Text: r.Emoji[0],
		Subject: tables.Map{"post": r.Post, "channel": r.Channel},
	}}}
}

func ofHelpful(h *tables.Helpful) []delivery {
	return []delivery{{h.To, h.ID, tables.InboxEvent{
		Kind: tables.EventHelpful, HappenedAt: h.At, From: h.By,
		Subject: tables.Map{"post": h.Post, "parent": h.Parent, "channel": h.Channel},
	}}}
}
