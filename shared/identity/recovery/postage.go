package recovery

import (
	"context"
	"errors"
	"math"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

const week = 7 * day

// ErrRecipientFull means that a recipient gets no more mails that link an origin today or
// this week.
var ErrRecipientFull = errors.New("recovery: the recipient's mails are used up")

var errUsedUp = errors.New("recovery: the day's recovery mails of all callers are used up")

// LinkMail returns writes that count n mails that link an origin: by network address, by
// recipient, and for all callers. person is the recipient's hash. n is -1 to take back a
// mail that was not sent. If the recipient's mails are used up, the error of the writes
// is [ErrRecipientFull]. shared is set for the mail that names no agent:
// see the package comment.
func LinkMail(ctx context.Context, person string, shared bool, n int64) ([]tables.Write, error) {
	c := api.From(ctx)
	l := c.Settings.Limits
	writes, err := byAddress(ctx, tables.MailLink, n, l.LinksHour, l.LinksDay, "mails")
	if err != nil {
		return nil, err
	}
	if n > 0 {
		writes = append(writes, tables.NoMailBack(person, c.Time).
			Else(tables.Means(api.BadField("email", "is an address whose mail bounced or was reported as unwanted; use another one"))))
	}
	writes = append(writes,
		tables.MailedToAll(tables.MailLink, c.Window(day), n, l.AllLinksDay).Else(func(tables.Item) error {
			c.Log.Warn("link mails used up")
			return c.OverRate(day, "All agents together have used up the day's mails that link origins.")
		}),
	)
	full := tables.Means(ErrRecipientFull)
	if shared {
		return append(writes, tables.Quota("mail#"+person, "shared", c.Window(day), day, n, 1).Else(full)), nil
	}
	return append(writes,
		tables.Quota("mail#"+person, "week", c.Window(week), week, n, l.MailsWeek).Else(full),
		tables.Quota("mail#"+person, "day", c.Window(day), day, n, l.MailsDay).Else(full),
	), nil
}

// Requests returns writes that count a recovery request against the caller's network
// address. Commit them before other work: each request holds a process for seconds, and
// one caller must not use up the limits that all callers share.
func Requests(ctx context.Context) ([]tables.Write, error) {
	l := api.From(ctx).Settings.Limits
	return byAddress(ctx, tables.MailRecovery, 1, l.RecoveriesHour, l.RecoveriesDay, "recovery requests")
}

// Admit counts a recovery request, or refuses it at once.
func (w Way) Admit(ctx context.Context) error {
	writes, err := Requests(ctx)
	if err != nil || writes == nil {
		return err
	}
	return w.Transact(ctx, writes...)
}

// recoveryMail returns writes that count n recovery mails. who is the hash of the agent's
// handle and the recipient. If mail to the recipient came back, one mail a day is still
// allowed, so that the agent can be recovered.
func recoveryMail(c *api.Call, who string, back bool, n int64) []tables.Write {
	l := c.Settings.Limits
	most := l.MailsDay
	if back {
		most = 1
	}
	return []tables.Write{
		tables.MailedToAll(tables.MailRecovery, c.Window(day), n, l.AllRecoveriesDay).Else(tables.Means(errUsedUp)),
		tables.Quota("mail#"+who, "day", c.Window(day), day, n, most),
	}
}

// MailBack returns writes that remember that mail to a person came back.
// Limits.BouncesDay bounces use up the day's mails that link origins: more bounces could
// cost the AWS account its right to send mail.
func MailBack(a *app.App, person string, b *tables.MailBack) []tables.Write {
	writes := []tables.Write{b.Put(person)}
	if b.Reason == tables.BackBounce {
		l := a.Settings.Limits
		weight := (l.AllLinksDay + l.BouncesDay - 1) / l.BouncesDay
		writes = append(writes, tables.MailedToAll(tables.MailLink, time.UnixMilli(b.At).Truncate(day), weight, math.MaxInt64/2)) // a limit that is never reached
	}
	return writes
}

// byAddress returns writes that count n mails or requests against the caller's network
// address. what names them in the error.
func byAddress(ctx context.Context, kind string, n, hour, daily int64, what string) ([]tables.Write, error) {
	c := api.From(ctx)
	if !c.Settings.ByAddr {
		return nil, nil
	}
	who, err := c.AddressHash(ctx)
	if err != nil {
		return nil, err
	}
	return []tables.Write{
		tables.Quota(who, kind+" hour", c.Window(time.Hour), time.Hour, n, hour).
			Else(c.OverQuota(time.Hour, "%d %s an hour from one network address are the limit.", hour, what)),
		tables.Quota(who, kind+" day", c.Window(day), day, n, daily).
			Else(c.OverQuota(day, "%d %s a day from one network address are the limit.", daily, what)),
	}, nil
}
