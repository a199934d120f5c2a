package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/outside/mail"
)

// mailbox accepts the mails of this service, to any address, and shows the newest on
// /_local/mail.
type mailbox struct {
	now func() time.Time
	out io.Writer // receives each mail as text, unless nil

	mu      sync.Mutex
	mails   []Mail // newest first
	failing bool
	sent    int // mails accepted so far

	returns []host.MailHandler // told of bounces and complaints
}

// Mail is a sent mail.
type Mail struct {
	At      int64  `json:"at"` // ms
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`

	id string // stands in for the ID that SES gives each mail
}

// printed returns a mail as text for a terminal.
func (m Mail) printed() string {
	var b strings.Builder
	for line := range strings.Lines("to      " + m.To + "\nsubject " + m.Subject + "\n\n" + m.Text) {
		b.WriteString(strings.TrimRight("  | "+line, " \n") + "\n")
	}
	return "\n" + b.String() + "\n"
}

// mailsMost bounds the number of stored mails.
const mailsMost = 200

var errMailbox = fmt.Errorf("%w: the mailbox was set to refuse", mail.ErrRefused)

// Send implements [mail.Sender].
func (b *mailbox) Send(ctx context.Context, m mail.Message) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failing {
		return errMailbox
	}
	b.sent++
	sent := Mail{b.now().UnixMilli(), m.To.Reveal(), m.Subject, m.Text, m.HTML, fmt.Sprintf("%d-%d", b.now().UnixMilli(), b.sent)}
	b.mails = slices.Insert(b.mails, 0, sent)
	b.mails = b.mails[:min(len(b.mails), mailsMost)]
	if b.out != nil {
		_, _ = io.WriteString(b.out, sent.printed()) // a failed print does not matter
	}
	return nil
}

// sentTo returns the mails to an address, or all for the zero address.
func (b *mailbox) sentTo(a mail.Address) []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	mails := []Mail{}
	for _, m := range b.mails {
		if a == (mail.Address{}) || m.To == a.Reveal() {
			mails = append(mails, m)
		}
	}
	return mails
}

// read shows all mails, or those to one address, newest first.
func (b *mailbox) read(r *http.Request) (any, int) {
	var to mail.Address
	if q := r.URL.Query(); q.Has("to") {
		var err error
		if to, err = mail.ParseAddress(q.Get("to")); err != nil {
			return problem(`"to" ` + err.Error()), http.StatusUnprocessableEntity
		}
	}
	return b.sentTo(to), http.StatusOK
}

// set makes sending fail, or work again, or makes the newest mail to an address bounce or
// draw a complaint.
func (b *mailbox) set(r *http.Request) (any, int) {
	var in struct {
		Fail     *bool  `json:"fail"`
		Bounce   string `json:"bounce"`
		Complain string `json:"complain"`
	}
	err := readPage(r, &in)
	switch {
	case err == nil && in.Bounce != "":
		return b.back(r.Context(), in.Bounce, "Bounce", "bounce", "bouncedRecipients")
	case err == nil && in.Complain != "":
		return b.back(r.Context(), in.Complain, "Complaint", "complaint", "complainedRecipients")
	case err != nil || in.Fail == nil:
		return problem(`send {"fail": true}, {"fail": false}, {"bounce": ADDRESS} or {"complain": ADDRESS}`), http.StatusUnprocessableEntity
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failing = *in.Fail
	return map[string]bool{"fail": b.failing}, http.StatusOK
}

// back calls the handlers with the event that SES sends through EventBridge when a mail
// bounces or draws a complaint. The mail is the newest to the address.
func (b *mailbox) back(ctx context.Context, address, kind, member, recipients string) (any, int) {
	to, err := mail.ParseAddress(address)
	if err != nil {
		return problem("the address " + err.Error()), http.StatusUnprocessableEntity
	}
	sent := b.sentTo(to)
	if len(sent) == 0 {
		return problem("no mail went to this address"), http.StatusUnprocessableEntity
	}
	detail, err := json.Marshal(map[string]any{
		"eventType": kind,
		"mail":      map[string]any{"messageId": sent[0].id, "destination": []string{sent[0].To}},
		member: map[string]any{
			"bounceType": "Permanent", recipients: []any{map[string]string{"emailAddress": sent[0].To}},
		},
	})
	if err != nil {
		return problem(err.Error()), http.StatusInternalServerError
	}
	for _, tell := range b.returns {
		e := events.EventBridgeEvent{Version: "0", ID: sent[0].id, Source: "aws.ses", Time: b.now().UTC(), Detail: detail}
		err := tell(ctx, e)
		for n := 0; err != nil && n < mailevent.Retries; n++ {
			err = tell(ctx, e)
		}
		if err != nil {
			return problem(err.Error()), http.StatusInternalServerError
		}
	}
	return map[string]bool{"returned": true}, http.StatusOK
}
