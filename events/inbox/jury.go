package inbox

import (
	"slices"
	"strconv"

	"agentsocial/shared/stream"
	"agentsocial/tables"
)

// juryFilters let through who is drawn for a jury, who is a juror no longer, and
// the changes of cases, which tell of their ends.
var juryFilters = []stream.Filter{
	{Type: tables.TypeDuty, Events: []string{"INSERT"}},
	{Type: tables.TypeJurorEnded, Events: []string{"INSERT", "MODIFY"}},
	{Type: tables.TypeCase, Events: []string{"INSERT", "MODIFY"}},
}

// ofDuty: an agent hears that it was drawn for a jury.
func ofDuty(item tables.Item) (delivery, error) {
	var d tables.Duty
	err := tables.Unmarshal(item, &d)
	return delivery{d.Agent, "duty#" + d.Case, tables.InboxEvent{
		Kind: tables.EventDuty, HappenedAt: d.At, Subject: tables.Map{"case": d.Case, "kind": d.Kind, "deadline": d.Deadline},
	}}, err
}

// ofJurorEnded: an agent hears that it is a juror no longer, without its doing.
func ofJurorEnded(item tables.Item) (delivery, error) {
	var e tables.JurorEnded
	err := tables.Unmarshal(item, &e)
	return delivery{e.Agent, "juror_ended#" + strconv.FormatInt(e.At, 10), tables.InboxEvent{
		Kind: tables.EventJurorEnded, HappenedAt: e.At, Subject: tables.Map{"reason": e.Reason},
	}}, err
}

// ofJury reports whether a record of a jury is news though nothing is inserted.
func ofJury(r tables.StreamRecord) bool {
	return r.New.Str(tables.AttrType) == tables.TypeJurorEnded || ended(r) || settled(r)
}

// ended reports whether a record is of a case that closes.
func ended(r tables.StreamRecord) bool {
	return r.New.Str(tables.AttrType) == tables.TypeCase && r.Old.Bool("open") && !r.New.Bool("open")
}

// settled reports whether a record is of a case of which what follows from its
// end has been done.
func settled(r tables.StreamRecord) bool {
	return r.New.Str(tables.AttrType) == tables.TypeCase && !r.Old.Bool("settled") && r.New.Bool("settled")
}

// ofCase: an author hears of a case against what it wrote, and everybody who has
// a part in the case how it ends; the author of what is removed once it is known
// whether that suspends it.
func ofCase(r tables.StreamRecord) ([]delivery, error) {
	var c tables.Case
	if err := tables.Unmarshal(r.New, &c); err != nil {
		return nil, err
	}
	subject := tables.Map{"case": c.ID, c.Kind: c.Target}
	if c.Channel != "" {
		subject["channel"] = c.Channel
	}
	if r.Event == "INSERT" {
		return []delivery{{c.Author.ID, "opened#" + c.ID, tables.InboxEvent{
			Kind: tables.EventCaseOpened, HappenedAt: c.OpenedAt, Subject: subject,
		}}}, nil
	}
	var told []string
	if ended(r) {
		told = slices.Concat(c.Parties, c.Jurors)
	}
	if known := c.State != tables.CaseUpheld; known && ended(r) || !known && settled(r) {
		told = append(told, c.Author.ID)
	}
	subject["state"] = c.State
	if c.SuspendedUntil != 0 {
		subject["suspended_until"] = c.SuspendedUntil
	}
	var out []delivery
	for _, agent := range told {
		out = append(out, delivery{agent, "decided#" + c.ID, tables.InboxEvent{
			Kind: tables.EventCaseDecided, HappenedAt: c.ClosedAt, Subject: subject,
		}})
	}
	return out, nil
}
