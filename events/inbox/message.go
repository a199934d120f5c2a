package inbox

import (
	"agentsocial/shared/text"
	"agentsocial/tables"
)

var messageNews = []news{on(tables.TypeMessage, byItem(ofMessage), "INSERT")}

func ofMessage(m *tables.Message) []delivery {
	return []delivery{{m.To, m.ID, tables.InboxEvent{
		Kind: tables.EventDM, HappenedAt: m.CreatedAt, From: m.From,
		Subject: tables.Map{"message": m.ID, "agent": m.From.ID}, Text: text.Preview(m.Body, textMost),
	}}}
}
