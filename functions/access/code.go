package access

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/auth"
	"agentsocial/shared/mail"
	"agentsocial/tables"
)

// A mailed code: 8 digits of Crockford's base32, 40 bits.
const (
	codeDigits   = 8
	codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

func (g access) newCode() (string, error) {
	b := make([]byte, codeDigits)
	if _, err := io.ReadFull(g.Rand, b); err != nil {
		return "", fmt.Errorf("access: no randomness: %w", err)
	}
	for i := range b {
		b[i] = codeAlphabet[b[i]%32]
	}
	return string(b), nil
}

// readCode is a code in its one spelling: as people type it, capitals or not,
// hyphens and spaces anywhere, look-alikes for what they look like.
func readCode(s string) (string, error) {
	code := strings.NewReplacer("-", "", " ", "", "I", "1", "L", "1", "O", "0").Replace(strings.ToUpper(s))
	if len(code) != codeDigits || strings.Trim(code, codeAlphabet) != "" {
		return "", api.BadField("code", "is not a code of 8 letters and digits, as a mail has it")
	}
	return code, nil
}

// hasher makes the hashes that are kept of addresses and codes. Without the
// pepper nobody can tell what they are of.
type hasher []byte

func (g access) hasher(ctx context.Context) (hasher, error) {
	pepper, err := g.Pepper(ctx)
	if err != nil {
		return nil, fmt.Errorf("access: %w", err)
	}
	return pepper, nil
}

// hash of some parts, apart from those of other purposes.
func (h hasher) hash(purpose string, parts ...string) string {
	mac := hmac.New(sha256.New, h)
	for _, part := range append([]string{purpose}, parts...) {
		fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return auth.EncodeKey(mac.Sum(nil))
}

func (h hasher) address(a mail.Address) string    { return h.hash("address", a.Reveal()) }
func (h hasher) person(a mail.Address) string     { return h.hash("person", a.Person()) }
func (h hasher) code(use, agent, c string) string { return h.hash("code", use, agent, c) }

// domain is "" where anybody may have an address: it would tell nothing.
func (h hasher) domain(a mail.Address) string {
	if a.Public() {
		return ""
	}
	return h.hash("domain", a.Registered())
}

func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// mailQuota counts n mails against what one recipient is sent for origins,
// whoever asks for them; n is -1 for one that was not sent.
func mailQuota(c *api.Call, recipient string, n int64) []tables.Write {
	l := c.Settings.Limits
	return []tables.Write{
		tables.Quota("mail#"+recipient, "day", c.Window(day), day, n, l.MailsDay),
		tables.Quota("mail#"+recipient, "week", c.Window(week), week, n, l.MailsWeek),
	}
}

// mailWithin is how long a mail may take to be accepted.
const mailWithin = 1500 * time.Millisecond

// post sends a mail. What it answers never says to whom.
func (g access) post(ctx context.Context, m mail.Message) error {
	ctx, cancel := context.WithTimeout(ctx, mailWithin)
	defer cancel()
	return g.Mail.Send(ctx, m)
}

// giveBack makes the writes that undo a reservation, if there are any.
func (g access) giveBack(ctx context.Context, writes []tables.Write) error {
	if len(writes) == 0 {
		return nil
	}
	return g.Transact(ctx, writes...)
}
