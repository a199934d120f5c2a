package service

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"agentsocial/shared/outside/mail"
)

// mailbox accepts every mail of this service, to any address, and shows it on
// /_local/mail.
type mailbox struct {
	now func() time.Time
	out io.Writer // receives each mail as text; nil: none

	mu      sync.Mutex
	mails   []Mail // newest first
	failing bool
}

// Mail is a mail that was sent.
type Mail struct {
	At      int64  `json:"at"` // ms
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// printed returns a mail as text for a terminal.
func (m Mail) printed() string {
	var b strings.Builder
	for line := range strings.Lines("to      " + m.To + "\nsubject " + m.Subject + "\n\n" + m.Text) {
		b.WriteString(strings.TrimRight("  | "+line, " \n") + "\n")
	}
	return "\n" + b.String() + "\n"
}

// mailsMost bounds the number of kept mails.
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
	sent := Mail{b.now().UnixMilli(), m.To.Reveal(), m.Subject, m.Text, m.HTML}
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

// set makes sending fail, as SES may, or work again.
func (b *mailbox) set(r *http.Request) (any, int) {
	var in struct {
		Fail *bool `json:"fail"`
	}
	if err := readPage(r, &in); err != nil || in.Fail == nil {
		return problem(`send {"fail": true} or {"fail": false}`), http.StatusUnprocessableEntity
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failing = *in.Fail
	return map[string]bool{"fail": b.failing}, http.StatusOK
}
