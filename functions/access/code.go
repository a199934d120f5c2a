package access

import (
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/recovery"
	"agentsocial/tables"
)

// readCode is a mailed code in its one spelling.
func readCode(s string) (string, error) {
	code, ok := recovery.ReadCode(s)
	if !ok {
		return "", api.BadField("code", "is not a code of 8 letters and digits, as in the mail")
	}
	return code, nil
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// mailQuota counts n mails against what one recipient is sent for origins,
// whoever asks for them; n is -1 for one that was not sent.
func mailQuota(c *api.Call, recipient string, n int64) []tables.Write {
	l := c.Settings.Limits
	return []tables.Write{
		tables.Quota("mail#"+recipient, "week", c.Window(week), week, n, l.MailsWeek).
			Else(c.OverQuota(week, "%d mails a week to one address are the limit.", l.MailsWeek)),
		tables.Quota("mail#"+recipient, "day", c.Window(day), day, n, l.MailsDay).
			Else(c.OverQuota(day, "%d mails a day to one address are the limit.", l.MailsDay)),
	}
}

// giveBack makes the writes that undo a reservation, if there are any.
func (g access) giveBack(ctx context.Context, writes []tables.Write) error {
	if len(writes) == 0 {
		return nil
	}
	return g.Transact(ctx, writes...)
}
