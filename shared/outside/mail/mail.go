// Package mail defines addresses, the messages that the service sends, and the
// interface of a sender.
package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Message is one mail to one recipient, as text and as HTML.
type Message struct {
	To      Address
	Subject string
	Text    string
	HTML    string
}

// Format prints a redacted form, because a message holds a code.
func (Message) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedMessage) }

func (Message) LogValue() slog.Value { return slog.StringValue(redactedMessage) }

const redactedMessage = "[mail]"

// Sender sends mail. After an error other than [ErrRefused], the mail may have been
// accepted. An error's text holds no address.
type Sender interface {
	Send(context.Context, Message) error
}

// None is the sender of a deployment without a sender address.
type None struct{}

// ErrRefused means that a mail was not accepted for delivery.
var ErrRefused = errors.New("mail: refused")

// ErrNone is the error of [None].
var ErrNone = fmt.Errorf("%w: this service has no address to send mail from", ErrRefused)

func (None) Send(context.Context, Message) error { return ErrNone }
