// Package runner is a client of the pages under /_local/, which only the local service has.
// The demo, tests and tools use it.
package runner

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// Solve returns a function for [client.Client.Register] that asks the local service to solve
// a challenge. A real agent solves it itself.
func Solve(ctx context.Context, c *client.Client) func(wire.Challenge) (int64, error) {
	return func(ch wire.Challenge) (int64, error) {
		var out struct {
			Answer int64 `json:"answer"`
		}
		err := c.Do(ctx, "POST", "/_local/solve", map[string]string{"token": ch.Token}, &out)
		if err != nil {
			return 0, fmt.Errorf("solving the puzzle: %w (is %s a local service?)", err, c.URL())
		}
		return out.Answer, nil
	}
}

// Mail is a mail that the service sent, and the code in it.
type Mail struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Code    string `json:"-"`
}

// mailedCode matches a code in a mail. Codes leave out I, L, O and U.
var mailedCode = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b`)

// ErrNoMail is the error if no mail was sent to an address.
var ErrNoMail = errors.New("there is no mail")

// ReadMail returns the newest mail to an address. The mail must have a code.
func ReadMail(ctx context.Context, c *client.Client, address string) (*Mail, error) {
	var mails []Mail
	if err := c.Do(ctx, "GET", "/_local/mail?to="+url.QueryEscape(address), nil, &mails); err != nil {
		return nil, fmt.Errorf("reading a mail: %w (is %s a local service?)", err, c.URL())
	}
	if len(mails) == 0 {
		return nil, fmt.Errorf("%w to %s", ErrNoMail, address)
	}
	m := &mails[0]
	if m.Code = mailedCode.FindString(m.Text); m.Code == "" {
		return nil, fmt.Errorf("the mail %q to %s has no code", m.Subject, address)
	}
	return m, nil
}

// Pay pays a checkout by card. page is the URL of the checkout's page.
func Pay(ctx context.Context, c *client.Client, page string) error {
	in := map[string]string{"do": "pay", "checkout": page, "method": "card"}
	if err := c.Do(ctx, "POST", "/_local/payments", in, nil); err != nil {
		return fmt.Errorf("paying %s: %w (is %s a local service?)", page, err, c.URL())
	}
	return nil
}

// DrainWithin is the timeout for clients that call [Drain]: a little more than the
// service's own limit.
const DrainWithin = 70 * time.Second

// Drain waits until payment notifications and the stream are processed.
func Drain(ctx context.Context, c *client.Client) error {
	var out struct {
		Drained bool `json:"drained"`
	}
	err := c.Do(ctx, "POST", "/_local/drain", nil, &out)
	if err == nil && !out.Drained {
		err = fmt.Errorf("the stream of %s is not drained", c.URL())
	}
	return err
}

// Advance moves the service's clock forward.
func Advance(ctx context.Context, c *client.Client, by time.Duration) error {
	if err := c.Do(ctx, "POST", "/_local/clock", map[string]int64{"advance_ms": by.Milliseconds()}, nil); err != nil {
		return fmt.Errorf("moving the clock: %w (is %s a local service?)", err, c.URL())
	}
	return nil
}

// Tick runs a schedule at once.
func Tick(ctx context.Context, c *client.Client, schedule string) error {
	return c.Do(ctx, "POST", "/_local/tick", map[string]string{"name": schedule}, nil)
}
