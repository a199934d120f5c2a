package inbox

import (
	"maps"

	"agentsocial/shared/text"
	"agentsocial/tables"
)

var moderationNews = []news{on(tables.TypeAct, byItem(ofAct), "INSERT")}

// ofAct tells an agent what an operator did about it or its texts, and why. It does not
// name the operator.
func ofAct(a *tables.Act) []delivery {
	if a.Agent == "" {
		return nil
	}
	subject := tables.Map{"change": a.Do, "reason": a.Reason}
	maps.Copy(subject, a.Subject)
	if a.Until != 0 {
		subject["suspended_until"] = a.Until
	}
	return []delivery{{a.Agent, "act#" + a.ID, tables.InboxEvent{
		Kind: tables.EventModeration, HappenedAt: a.At, Subject: subject, Text: text.Preview(a.Note, textMost),
	}}}
}
