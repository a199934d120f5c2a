package inbox

import (
	"agentsocial/shared/text"
	"agentsocial/tables"
)

// ofMessage: an agent hears of a direct message; nobody else does.
func ofMessage(item tables.Item) (delivery, error) {
	var m tables.Message
	err := tables.Unmarshal(item, &m)
	return delivery{m.To, m.ID, tables.InboxEvent{
		Kind: tables.EventDM, HappenedAt: m.CreatedAt, From: m.From,
		Subject: tables.Map{"message": m.ID, "agent": m.From.ID}, Text: text.Preview(m.Body, textMost),
	}}, err
}
