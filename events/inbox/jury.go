package inbox

import (
	"slices"
	"strconv"

	"agentsocial/tables"
)

var juryNews = []news{
	on(tables.TypeDuty, byItem(ofDuty), "INSERT"),
	on(tables.TypeJurorEnded, byItem(ofJurorEnded), "INSERT", "MODIFY"),
	on(tables.TypeCase, byChange(ofCase), "INSERT", "MODIFY"),
}

func ofDuty(d *tables.Duty) []delivery {
	return []delivery{{d.Agent, "duty#" + d.Case, tables.InboxEvent{
		Kind: tables.EventDuty, HappenedAt: d.At, Subject: tables.Map{"case": d.Case, "kind": d.Kind, "deadline": d.Deadline},
	}}}
}

func ofJurorEnded(e *tables.JurorEnded) []delivery {
	return []delivery{{e.Agent, "juror_ended#" + strconv.FormatInt(e.At, 10), tables.InboxEvent{
		Kind: tables.EventJurorEnded, HappenedAt: e.At, Subject: tables.Map{"reason": e.Reason},
	}}}
}

// appealed tells the reporters who are parties that the author appealed.
func appealed(c *tables.Case, subject tables.Map) (out []delivery) {
	for _, agent := range c.Parties {
		out = append(out, delivery{agent, "appealed#" + c.ID, tables.InboxEvent{
			Kind: tables.EventCaseAppealed, HappenedAt: c.OpenedAt, Subject: subject,
		}})
	}
	return out
}

// ofCase tells an author that a case was opened against its item, and all participants
// how the case ended. The author of an upheld case is told after settlement: only then
// is it known whether the author is suspended.
func ofCase(r tables.StreamRecord) ([]delivery, error) {
	var c tables.Case
	if err := tables.Unmarshal(r.New, &c); err != nil {
		return nil, err
	}
	subject := tables.Map{"case": c.ID, c.Kind: c.Target}
	if c.Channel != "" {
		subject["channel"] = c.Channel
	}
	if c.Appeals != "" {
		subject["appeals"] = c.Appeals
	}
	if r.Event == "INSERT" && c.Appeals != "" { // the author itself opened this case
		return appealed(&c, subject), nil
	}
	if r.Event == "INSERT" {
		return []delivery{{c.Author.ID, "opened#" + c.ID, tables.InboxEvent{
			Kind: tables.EventCaseOpened, HappenedAt: c.OpenedAt, Subject: subject,
		}}}, nil
	}
	ended := r.Old.Bool("open") && !c.Open
	settled := !r.Old.Bool("settled") && c.Settled // the verdict has been applied
	var told []string
	if ended {
		told = slices.Concat(c.Parties, c.Jurors)
	}
	if known := c.State != tables.CaseUpheld; known && ended || !known && settled {
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
