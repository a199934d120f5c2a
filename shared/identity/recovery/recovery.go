// Package recovery recovers an agent that lost its credentials, with a code mailed to its
// verified origin.
//
// Neither the content nor the time of an answer shows whether the agent exists, whether
// the address is its origin, or whether a mail was sent. Only the right code gets a
// different answer.
//
// The package also counts the mails that link an origin. A recipient gets three a day and
// ten a week. Strangers can use these up by naming somebody's address. So the recipient
// gets one more a day, which names no agent. Its code works once, until the end of the
// next UTC day, for any agent that named the address after the other mails were used up.
// Only the recipient reads this mail: all that strangers can do is to have it sent.
package recovery

import (
	"context"
	"errors"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/oauth"
	"agentsocial/shared/outside/mail"
	"agentsocial/tables"
)

const (
	// patience is the time from an admitted request to its answer, unless the code was
	// right. All work ends earlier, so that its duration stays hidden.
	patience = 2 * time.Second
	// margin is the part of patience that is left when the work is cut off.
	margin = 100 * time.Millisecond

	// Cost is the number of reads that a request about a recovery counts as.
	Cost = 10
	// Rate bounds the requests per second to one endpoint of recovery, for all callers
	// together: each request holds a process for patience. It is far above the limit of a
	// network address, so that a few callers cannot lock out the others.
	Rate = 100

	// tries bounds the wrong tries of a code from one network address per UTC day.
	tries = 5

	// codeLives is as long as the window of the mail limit. If a stranger uses up the
	// mails, the last code in the owner's mailbox still works.
	codeLives = day

	day = 24 * time.Hour

	// mailWithin bounds how long a mail may take to be accepted.
	mailWithin = 1500 * time.Millisecond
)

// Way implements recovery for a service.
type Way struct{ *app.App }

// Bare returns a handle in the form that the table has: lower case, without the @.
func Bare(handle string) string { return strings.ToLower(strings.TrimPrefix(handle, "@")) }

// Evenly runs work and returns when patience is over. If work reports that nothing needs
// to be hidden (early), Evenly returns at once.
func Evenly(ctx context.Context, work func(context.Context) (early bool)) {
	c := api.From(ctx)
	left := patience - min(max(0, c.Now().Sub(c.Time)), patience-margin)
	over := time.After(left)
	cut, cancel := context.WithTimeout(ctx, left-margin)
	defer cancel()
	if work(cut) {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
	app.Turn(ctx)
}

// Letter writes the mail for a code: [mail.RecoveryCode] or
// [mail.ReconnectCode].
type Letter func(to mail.Address, service, handle, code string, lives time.Duration) mail.Message

// Mail mails a code to an address if it is the origin of the agent with this
// handle. Callers must not show the result.
func (w Way) Mail(ctx context.Context, handle string, to mail.Address, write Letter) error {
	c := api.From(ctx)
	hash, err := NewHasher(ctx, w.App)
	if err != nil {
		return err
	}
	agent, err := w.AgentOf(ctx, handle)
	if agent == "" || err != nil {
		return err
	}
	items, err := w.Table.Get(ctx, tables.Strong, tables.OriginKey(agent), tables.MailBackKey(hash.Person(to)))
	if err != nil {
		return err
	}
	var origin tables.Origin
	if err := tables.Unmarshal(items[0], &origin); err != nil {
		return err
	}
	if origin.Recovery == "" || !Same(origin.Recovery, hash.Address(to)) {
		return nil
	}
	code, err := NewCode(w.Rand)
	if err != nil {
		return err
	}
	recovery := &tables.RecoveryCode{
		ID: w.Random(8), Code: hash.Code("recovery", agent, code), ExpiresAt: c.Time.Add(codeLives).UnixMilli(),
	}
	who := hash.hash("recovers", handle, to.Reveal())
	quota := func(n int64) []tables.Write { return recoveryMail(c, who, tables.IsMailBack(items[1], c.Time), n) }
	err = w.Transact(ctx, append(quota(1), recovery.Put(agent))...)
	var enough *tables.Cancelled
	if errors.As(err, &enough) {
		return nil // too many mails to this recipient for this agent
	}
	if err != nil {
		return err
	}
	err = Post(ctx, w.App, write(to, w.Settings.BaseURL, handle, code, codeLives))
	if err == nil {
		return nil
	}
	if !errors.Is(err, mail.ErrRefused) {
		return err // the mail may still arrive
	}
	return errors.Join(err, w.Transact(ctx, append(quota(-1), recovery.Withdraw(agent))...))
}

// Post sends a mail. Its error never names the recipient.
func Post(ctx context.Context, a *app.App, m mail.Message) error {
	ctx, cancel := context.WithTimeout(ctx, mailWithin)
	defer cancel()
	return a.Mail.Send(ctx, m)
}

// AgentOf returns the agent with a handle; "" if none.
func (w Way) AgentOf(ctx context.Context, handle string) (string, error) {
	claim, err := w.Table.Get(ctx, tables.Strong, tables.HandleKey(handle))
	if err != nil {
		return "", err
	}
	return claim[0].Str("agent"), nil
}

// Tries holds writes about a network address's tries of a code. Count counts one more
// try; Left requires that a try is left. Both are empty if limits per network address are
// off.
type Tries struct{ Count, Left []tables.Write }

// TriesOf returns the caller's tries of a recovery code.
func (w Way) TriesOf(ctx context.Context, recovery string) (t Tries, err error) {
	if !w.Settings.ByAddr {
		return t, nil
	}
	c := api.From(ctx)
	who, err := c.AddressHash(ctx)
	if err != nil {
		return t, err
	}
	count := tables.Quota(who, "code#"+recovery, c.Window(day), day, 1, tries)
	return Tries{[]tables.Write{count}, []tables.Write{tables.Check(count.Key, count.If...)}}, nil
}

// Bind returns the agent with a handle if code was mailed to its origin, or nil. Making
// the connection uses up the code. A try is counted before it is judged, so that
// concurrent requests cannot exceed the limit.
func (w Way) Bind(ctx context.Context, handle, code string) (*oauth.Bound, error) {
	hash, err := NewHasher(ctx, w.App)
	if err != nil {
		return nil, err
	}
	agent, err := w.AgentOf(ctx, handle)
	if agent == "" || err != nil {
		return nil, err
	}
	items, err := w.Table.Get(ctx, tables.Strong, tables.ProfileKey(agent), tables.RecoveryKey(agent))
	if err != nil {
		return nil, err
	}
	var p tables.Profile
	var recovery tables.RecoveryCode
	if err := errors.Join(tables.Unmarshal(items[0], &p), tables.Unmarshal(items[1], &recovery)); err != nil {
		return nil, err
	}
	if recovery.ID == "" || recovery.ExpiresAt <= api.From(ctx).Time.UnixMilli() {
		return nil, nil
	}
	tries, err := w.TriesOf(ctx, recovery.ID)
	if err != nil {
		return nil, err
	}
	err = w.Transact(ctx, append([]tables.Write{recovery.Miss(agent, oauth.RecoveryTries)}, tries.Count...)...)
	switch {
	case errors.Is(err, tables.ErrOvertaken): // too many tries, or the code was replaced
		return nil, nil
	case err != nil:
		return nil, err
	case !Same(recovery.Code, hash.Code("recovery", agent, code)):
		return nil, nil
	}
	return &oauth.Bound{Agent: agent, Epoch: p.Epoch, Recovery: recovery.ID}, nil
}
