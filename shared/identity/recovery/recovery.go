// Package recovery is the way back to an agent that lost what acts for it: a
// code that is mailed to its verified origin. The endpoints of recovery go it,
// and the page on which a client is connected.
//
// What is answered, and when, tells nobody whether there is such an agent,
// whether the address is its origin, or whether a mail was sent; only who has
// the right code learns that it is.
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
	// patience is when every answer about a recovery leaves, measured from its
	// request's arrival, unless it went well: by then all that may have happened
	// has, and how long it took tells nobody what it was.
	patience = 2 * time.Second
	// margin of it is left when the work on a request is cut off.
	margin = 100 * time.Millisecond

	// Cost is how many reads a request counts for, and Rate how many a second the
	// gateway lets through: each holds a process for as long as patience.
	Cost = 10
	Rate = 5

	// A code bears tries wrong ones from one address, and many more in all
	// (oauth.RecoveryTries): 40 bits are not guessed in so many tries, and whoever
	// knows a handle must not use up its owner's.
	tries = 5

	// codeLives until there are mails again: whoever knows the address too, and
	// asks for every code that there may be, only fills the owner's mailbox with
	// codes of which the last is good.
	codeLives = day

	day = 24 * time.Hour

	// mailWithin is how long a mail may take to be accepted.
	mailWithin = 1500 * time.Millisecond
)

// Way is the way back, of a service.
type Way struct{ *app.App }

// Bare is a handle as it is claimed: a mail writes it with an @.
func Bare(handle string) string { return strings.ToLower(strings.TrimPrefix(handle, "@")) }

// Evenly does work and returns when patience is over, whatever became of it,
// unless it says that nothing needs to be hidden.
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
}

// Letter says in a mail what its code is for: [mail.RecoveryCode] or
// [mail.ReconnectCode].
type Letter func(to mail.Address, service, handle, code string, lives time.Duration) mail.Message

// Mail mails a code to an address if it is the origin of the agent with this
// handle. What becomes of it must not be told.
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
	items, err := w.Table.Get(ctx, tables.Strong, tables.OriginKey(agent))
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
	quota := func(n int64) tables.Write {
		return tables.Quota("mail#"+who, "day", c.Window(day), day, n, w.Settings.Limits.MailsDay)
	}
	err = w.Transact(ctx, quota(1), recovery.Put(agent))
	var enough *tables.Cancelled
	if errors.As(err, &enough) {
		return nil // mails to this recipient, for this agent
	}
	if err != nil {
		return err
	}
	err = Post(ctx, w.App, write(to, w.Settings.BaseURL, handle, code, codeLives))
	if err == nil {
		return nil
	}
	if !errors.Is(err, mail.ErrRefused) {
		return err // it may arrive after all
	}
	return errors.Join(err, w.Transact(ctx, quota(-1), recovery.Withdraw(agent)))
}

// Post sends a mail. What it answers never says to whom.
func Post(ctx context.Context, a *app.App, m mail.Message) error {
	ctx, cancel := context.WithTimeout(ctx, mailWithin)
	defer cancel()
	return a.Mail.Send(ctx, m)
}

// AgentOf finds who has a handle; "" if nobody has.
func (w Way) AgentOf(ctx context.Context, handle string) (string, error) {
	claim, err := w.Table.Get(ctx, tables.Strong, tables.HandleKey(handle))
	if err != nil {
		return "", err
	}
	return claim[0].Str("agent"), nil
}

// Tries are one address's at one code: what counts another, and what holds that
// there is one left. Both are empty where limits per address are off.
type Tries struct{ Count, Left []tables.Write }

// TriesOf are the caller's at a recovery's code.
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

// Bind is the agent of a handle, for whom shows the code that was mailed to its
// origin; nil for any other. The code stays good: what binds a connection is
// used up with it. A try is counted before it is judged, so that no more are
// judged than there may be, however many come at once.
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
	case errors.Is(err, tables.ErrOvertaken): // too many were tried
		return nil, nil
	case err != nil:
		return nil, err
	case !Same(recovery.Code, hash.Code("recovery", agent, code)):
		return nil, nil
	}
	return &oauth.Bound{Agent: agent, Epoch: p.Epoch, Recovery: recovery.ID}, nil
}
