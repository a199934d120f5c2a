// Package mail is what the service sends by mail: addresses, messages, and the
// interface of whatever sends them.
package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Message is one mail to one recipient, in two forms of the same text.
type Message struct {
	To      Address
	Subject string
	Text    string
	HTML    string
}

// Format prints nothing of a message, which holds a code.
func (Message) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedMessage) }

func (Message) LogValue() slog.Value { return slog.StringValue(redactedMessage) }

const redactedMessage = "[mail]"

// Sender sends mail. An error that is an [ErrRefused] means that the mail was
// not accepted for delivery, any other that nobody knows. Its text holds no address.
type Sender interface {
	Send(context.Context, Message) error
}

// None is the sender of a service that was given no address to send from: it
// always fails.
type None struct{}

// ErrRefused is in the error of a mail that will not arrive.
var ErrRefused = errors.New("mail: refused")

// ErrNone is why None sends nothing.
var ErrNone = fmt.Errorf("%w: this service was given no address to send mail from", ErrRefused)

func (None) Send(context.Context, Message) error { return ErrNone }
