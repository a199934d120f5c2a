// Package mail is what the service sends by mail: addresses, messages, and the
// interface of whatever sends them.
package mail

import "context"

// Message is one mail to one recipient, in two forms of the same text.
type Message struct {
	To      Address
	Subject string
	Text    string
	HTML    string
}

// Sender sends mail. An error means that the mail was not accepted for delivery.
type Sender interface {
	Send(context.Context, Message) error
}
