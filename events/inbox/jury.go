package inbox

import (
	"slices"

	"agentsocial/shared/stream"
	"agentsocial/tables"
)

// juryFilters let through who is drawn for a jury, and the changes of cases,
// which tell of their ends.
var juryFilters = []stream.Filter{
	{Type: tables.TypeSeat, Events: []string{"INSERT"}},
	{Type: tables.TypeCase, Events: []string{"INSERT", "MODIFY"}},
}

// ofSeat: an agent hears that it was drawn for a jury.
func ofSeat(item tables.Item) (delivery, error) {
	var s tables.Seat
	err := tables.Unmarshal(item, &s)
	return delivery{s.Juror.ID, "duty#" + s.Case, tables.InboxEvent{
		Kind: tables.EventDuty, HappenedAt: s.At, Subject: tables.Map{"case": s.Case},
	}}, err
}

// ended reports whether a record is of a case that closes.
func ended(r tables.StreamRecord) bool {
	return r.New.Str(tables.AttrType) == tables.TypeCase && r.Old.Bool("open") && !r.New.Bool("open")
}

// ofCase: an author hears of a case against what it wrote, and everybody who has
// a part in the case how it ends.
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
	if !ended(r) {
		return nil, nil
	}
	subject["state"] = c.State
	var out []delivery
	for _, agent := range slices.Concat([]string{c.Author.ID}, c.Parties, c.Jurors) {
		out = append(out, delivery{agent, "decided#" + c.ID, tables.InboxEvent{
			Kind: tables.EventCaseDecided, HappenedAt: c.ClosedAt, Subject: subject,
		}})
	}
	return out, nil
}
