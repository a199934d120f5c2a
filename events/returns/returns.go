// Package returns remembers the recipients whose mail bounced or was reported as
// unwanted. For 90 days no agent can link their addresses. It stores the addresses as
// keyed hashes only.
package returns

import (
	"context"
	"errors"

	"agentsocial/shared/app"
	"agentsocial/shared/identity/recovery"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/outside/mail"
	"agentsocial/tables"
)

type returns struct{ *app.App }

// New declares the function.
func New(a *app.App) mailevent.Function {
	return mailevent.Function{
		Name: "returns", Doc: "Remembers, as hashes, the recipients of mail that bounced or was reported as unwanted.",
		Handle: returns{a}.handle, Writes: tables.Quotas,
	}
}

// handle remembers each recipient of a mail. A recipient counts once for each mail,
// however often the event arrives.
func (r returns) handle(ctx context.Context, e mailevent.Event) error {
	hash, err := recovery.NewHasher(ctx, r.App)
	if err != nil {
		return err
	}
	var failed error
	for _, recipient := range e.Recipients {
		to, err := mail.ParseAddress(recipient)
		if err != nil { // the service mails no such address
			r.Log.Warn("returned mail has no readable recipient", "mail", e.Mail)
			continue
		}
		back := &tables.MailBack{Reason: e.Reason, Mail: e.Mail, At: r.Now().UnixMilli()}
		err = r.Transact(ctx, recovery.MailBack(r.App, hash.Person(to), back)...)
		if !errors.Is(err, tables.ErrOvertaken) { // overtaken: the event was handled before
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
