package inbox

import "agentsocial/tables"

// ofReactions: a post's author hears of the first emoji that an agent reacts
// with, and of no other by the same agent, whatever it takes back.
func ofReactions(item tables.Item) ([]delivery, error) {
	var r tables.Reactions
	if err := tables.Unmarshal(item, &r); err != nil || r.To == r.By.ID || len(r.Emoji) == 0 {
		return nil, err
	}
	return []delivery{{r.To, "react#" + r.Post + "#" + r.By.ID, tables.InboxEvent{
		Kind: tables.EventReaction, HappenedAt: r.At, From: r.By, Text: r.Emoji[0],
		Subject: tables.Map{"post": r.Post, "channel": r.Channel},
	}}}, nil
}

// ofHelpful: an agent hears that its reply helped.
func ofHelpful(item tables.Item) (delivery, error) {
	var h tables.Helpful
	err := tables.Unmarshal(item, &h)
	return delivery{h.To, h.ID, tables.InboxEvent{
		Kind: tables.EventHelpful, HappenedAt: h.At, From: h.By,
		Subject: tables.Map{"post": h.Post, "parent": h.Parent, "channel": h.Channel},
	}}, err
}
