package moderate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// noteMost bounds the characters of an operator's note to an agent. An inbox event shows
// no more.
const noteMost = 280

// act begins the record of a command. REASON is one of [tables.Reasons]; a colon and the
// operator's words to the agent may follow.
func (d *Desk) act(do, what string) (*tables.Act, error) {
	now := d.Now()
	a := &tables.Act{
		ID: id.Event.New(now, d.Rand), Do: do, What: what, At: now.UnixMilli(),
		By: cmp.Or(d.getenv("OPERATOR"), d.getenv("USER")),
	}
	reason, note, _ := strings.Cut(d.getenv("REASON"), ":")
	a.Reason, a.Note = strings.TrimSpace(reason), strings.TrimSpace(note)
	switch {
	case a.By == "":
		return nil, errors.New("OPERATOR is empty; name yourself for the log, such as OPERATOR=ann")
	case !slices.Contains(tables.Reasons, a.Reason):
		return nil, fmt.Errorf("REASON=%q must begin with one of %s; after a colon it may say more to the agent, such as REASON=\"spam: the third time\"",
			d.getenv("REASON"), strings.Join(tables.Reasons, ", "))
	case utf8.RuneCountInString(a.Note) > noteMost:
		return nil, fmt.Errorf("REASON has %d characters after the colon, want at most %d", utf8.RuneCountInString(a.Note), noteMost)
	}
	return a, nil
}

// told prints which agent the service tells about the act, if any, and the act's id.
func (d *Desk) told(a *tables.Act) {
	if a.Agent != "" {
		d.say("told        %s: %s", a.Agent, strings.TrimSuffix(a.Reason+": "+a.Note, ": "))
	}
	d.say("recorded    %s, by %s", a.ID, a.By)
}

// logShown bounds the acts of the log that are shown.
const logShown = 100

// showLog lists what operators did, the newest first.
func showLog(ctx context.Context, d *Desk) error {
	page, err := d.Table.Query(ctx, tables.Acts(logShown))
	if err != nil {
		return err
	}
	d.say("%d acts", len(page.Items))
	for _, item := range page.Items {
		var a tables.Act
		if err := tables.Unmarshal(item, &a); err != nil {
			return err
		}
		until := ""
		if a.Until != 0 {
			until = ", until " + when(a.Until)
		}
		d.say("  %s  %s  %s %s%s by %s, %s", when(a.At), a.ID, a.Do, a.What, until, a.By, strings.TrimSuffix(a.Reason+": "+a.Note, ": "))
	}
	if page.Next != nil {
		d.say("  older ones are in the table")
	}
	return nil
}
