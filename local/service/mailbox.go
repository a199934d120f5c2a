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

// mailbox is where all mail of this service ends: it takes every message, for
// whatever address, and shows it on /_local/mail.
type mailbox struct {
	now func() time.Time
	out io.Writer // also prints each mail; nil: nowhere

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

// printed is a mail as a terminal shows it.
func (m Mail) printed() string {
	var b strings.Builder
	for line := range strings.Lines("to      " + m.To + "\nsubject " + m.Subject + "\n\n" + m.Text) {
		b.WriteString(strings.TrimRight("  | "+line, " \n") + "\n")
	}
	return "\n" + b.String() + "\n"
}

// mailsMost is how many mails are kept.
const mailsMost = 200

var errMailbox = fmt.Errorf("%w: the mailbox was told to", mail.ErrRefused)

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
		_, _ = io.WriteString(b.out, sent.printed()) // a courtesy
	}
	return nil
}

// sentTo are the mails to an address, or all for the zero one.
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

// read shows the mails that were sent, newest first, or those to one address.
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

// set makes sending fail from now on, as SES may, or work again.
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
